import { userInfo } from 'node:os';
import { CodedError, type Problem } from 'skill-registry/kernel';
import type { Actor } from '../extensions/skill_registry/host.ts';
import { formatTable, printable } from '../lib/text/index.ts';

/** What runs a command gives it: commands use this and no globals of the process. */
export interface Streams {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal: text is cut to its width, and control characters are escaped. */
  readonly terminal: boolean;
  readonly columns: number | undefined;
  /** Standard error is a terminal: long work is announced there. */
  readonly progress: boolean;
  /** Asks the person at the terminal; undefined when standard input ends. Absent: there is no terminal. */
  ask?(question: string): Promise<string | undefined>;
  /** All of standard input. */
  input(): Promise<Uint8Array>;
  /** Data. */
  out(data: string | Uint8Array): void;
  /** Words for people. */
  err(text: string): void;
}

/** The streams of one command, and how it writes to them. */
export interface Terminal extends Streams {
  /** The width to which text is cut; undefined when it goes to a file or another program. */
  readonly width: number | undefined;
  /** Data: the value with `--json`, else the text. Without a text, or with an empty one, there is nothing but the JSON. */
  print(value: unknown, text?: () => string): void;
  /** A table as wide as the terminal; empty without rows. */
  table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string;
  /** The text of an author: at a terminal with its control characters escaped, else exactly. */
  write(text: string): void;
  /** A line for people, or several. Control characters are escaped. */
  say(line: string): void;
  /** Called when the command has ended, however it ends. */
  atEnd(close: () => Promise<void>): void;
}

/** Options that several commands have. */
export interface Options {
  readonly root?: string;
  readonly skills?: readonly string[];
  readonly json?: boolean;
  /** Trust the root for this command; nothing is recorded. */
  readonly trust?: boolean;
  /** Why, and who decides. */
  readonly reason?: string;
  readonly by?: string;
  /** Do not ask. */
  readonly yes?: boolean;
}

/** Exit statuses of the command. */
export const EXIT = { done: 0, problem: 1, wrongUse: 2 } as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Exit statuses by error code; every other code is `problem`. docs/command.md lists them. */
export const EXIT_OF_CODE: ReadonlyMap<string, ExitStatus> = new Map([
  ['INVALID_ARGUMENT', EXIT.wrongUse],
  ['ROOT_NOT_FOUND', EXIT.wrongUse],
]);

export function exitOf(code: string): ExitStatus {
  return EXIT_OF_CODE.get(code) ?? EXIT.problem;
}

export function invalidArgument(message: string): CodedError<'INVALID_ARGUMENT'> {
  return new CodedError('INVALID_ARGUMENT', message);
}

/** @param ending - Gets what is to be called when the command has ended. */
export function terminalOf(streams: Streams, json: boolean, ending: (() => Promise<void>)[]): Terminal {
  const width = streams.terminal ? streams.columns : undefined;
  return {
    ...streams,
    width,
    print(value, text) {
      if (json) return streams.out(`${JSON.stringify(value, null, 2)}\n`);
      const shown = text?.() ?? '';
      if (shown !== '') streams.out(`${shown}\n`);
    },
    table: (header, rows) => (rows.length === 0 ? '' : formatTable(header, rows, width)),
    write: (text) => streams.out(streams.terminal ? printable(text) : text),
    say: (line) => streams.err(`${printable(line)}\n`),
    atEnd: (close) => void ending.push(close),
  };
}

export function sayProblem({ say }: Terminal, { severity, file, line, message }: Problem): void {
  say(`${severity}: ${file}${line ? `:${line}` : ''}: ${message}`);
}

/**
 * Whether the person at the terminal answers yes.
 *
 * @param attacked - The id of a skill that would get an attack: it has to be typed.
 */
export async function isConfirmed(
  { ask }: Pick<Required<Terminal>, 'ask'>,
  question: string,
  attacked?: string,
): Promise<boolean> {
  if (attacked !== undefined) {
    const typed = await ask(`${question} To do it, type the id of the skill (${printable(attacked)}): `);
    return typed?.trim() === attacked.trim();
  }
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `))?.trim() ?? '');
}

/** For an attack where nobody can type the id. @param instead - Commands that ask. */
export function blockNotConfirmed(what: string, instead: string): CodedError {
  const message = `A person would call this an attack, so only somebody who types the id of the skill ${what}. Nothing was changed. Look at it and decide at a terminal (${instead}) or in a browser (skill-registry review).`;
  return new CodedError('BLOCK_NOT_CONFIRMED', message);
}

/** @throws INVALID_ARGUMENT without a terminal and without `--yes`, as nobody would see what is done. */
export function assertCanAsk({ yes }: Options, { ask }: Terminal): void {
  if (!yes && !ask) throw invalidArgument('There is no terminal to ask at. Give --yes to do it without being asked.');
}

/** Whether the person at the terminal, or `--yes`, agrees; says it when not. After `assertCanAsk`. */
export async function isConfirmedOrYes(question: string, { yes }: Options, { ask, say }: Terminal): Promise<boolean> {
  if (yes || (ask && (await isConfirmed({ ask }, question)))) return true;
  say('Nothing was changed');
  return false;
}

/**
 * Who decides: `--by`, else the user who is logged in.
 *
 * @throws INVALID_ARGUMENT for a name that is no person's, such as `agent:x`.
 */
export function actorOf({ by, reason }: Options, { environment }: Terminal): Actor {
  const name = by ?? environment.USER ?? environment.LOGNAME ?? userInfo().username;
  const actor = /^\w+:/.test(name) ? name : `person:${name}`;
  if (!actor.startsWith('person:'))
    throw invalidArgument(
      `Only a person decides, and ${JSON.stringify(name)} is none. Give the name of a person, such as ada.`,
    );
  return { by: actor, ...(reason === undefined ? {} : { reason }) };
}

/** Says what is being done when the work takes more than a second and standard error is a terminal. */
export async function withProgress<T>(
  what: string,
  { progress, err }: Pick<Terminal, 'progress' | 'err'>,
  work: Promise<T>,
): Promise<T> {
  const timer = progress ? setTimeout(() => err(`${what} ...\n`), SILENT_MS) : undefined;
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** `a, b and 3 more` */
export function listed(names: readonly string[], most = 10): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

/** The first lines, and how many there are beside them. @param how - To see all. */
export function firstLines(lines: readonly string[], most: number, how = '; --json has all'): readonly string[] {
  return lines.length > most ? [...lines.slice(0, most), `  and ${lines.length - most} more${how}`] : lines;
}

/** At the end of a message about a name that is not known. */
export function nearestText(nearest: readonly string[]): string {
  return nearest.length > 0 ? ` Nearest: ${nearest.join(', ')}.` : '';
}

// --- internal ---

const SILENT_MS = 1_000;
