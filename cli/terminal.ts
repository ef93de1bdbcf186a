import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { CodedError } from 'skill-registry/kernel';
import type { Actor } from '../extensions/skill_registry/host.ts';
import { printable } from '../lib/text/index.ts';

/** The environment of a command: commands use this and no globals of the process. */
export interface Terminal {
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

/** Options of every command. */
export interface GlobalOptions {
  readonly root?: string;
  readonly skills?: readonly string[];
  readonly json?: boolean;
  /** Trust the root for this command; nothing is recorded. */
  readonly trust?: boolean;
}

/** Options of a command that decides something. */
export interface DecisionOptions {
  readonly reason?: string;
  readonly by?: string;
}

/** Options of a command that shows what it will do, and asks where there is a terminal. */
export interface ConfirmedOptions extends DecisionOptions {
  /** Do not ask. */
  readonly yes?: boolean;
}

/** Makes a subcommand of `parent`, with an example and the global options. Default: of the program. */
export type MakeCommand = (name: string, description: string, example: string, parent?: Command) => Command;

/** Shells there is a completion script for. */
export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

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

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Whether the person at the terminal answers yes.
 *
 * @param attacked - The id of a skill that would get an attack: it has to be typed, so that nobody allows one with a single key.
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

/** The error where nobody is asked, who could type the id. @param instead - Commands that ask. */
export function blockNotConfirmed(what: string, instead: string): CodedError {
  const message = `A person would call this an attack, so only somebody who types the id of the skill ${what}. Nothing was changed. Look at it and decide at a terminal (${instead}) or in a browser (skill-registry review).`;
  return new CodedError('BLOCK_NOT_CONFIRMED', message);
}

/** @throws INVALID_ARGUMENT without a terminal and without `--yes`, as nobody would see what is done. */
export function assertCanAsk({ yes }: ConfirmedOptions, { ask }: Pick<Terminal, 'ask'>): void {
  if (yes || ask) return;
  throw new CodedError('INVALID_ARGUMENT', 'There is no terminal to ask at. Give --yes to do it without being asked.');
}

/** Whether the person at the terminal, or `--yes`, agrees; says it when not. After `assertCanAsk`. */
export async function isConfirmedOrYes(
  question: string,
  { yes }: ConfirmedOptions,
  { ask, err }: Terminal,
): Promise<boolean> {
  if (yes || (ask && (await isConfirmed({ ask }, question)))) return true;
  err('Nothing was changed\n');
  return false;
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** The user who is logged in, unless another name is given. @throws INVALID_ARGUMENT for a name that is no person's, such as `agent:x`. */
export function actorOf({ by, reason }: DecisionOptions, { environment }: Terminal): Actor {
  const name = by ?? environment.USER ?? environment.LOGNAME ?? userInfo().username;
  const actor = /^\w+:/.test(name) ? name : `person:${name}`;
  if (!actor.startsWith('person:')) {
    const message = `Only a person decides, and ${JSON.stringify(name)} is none. Give the name of a person, such as ada.`;
    throw new CodedError('INVALID_ARGUMENT', message);
  }
  return { by: actor, ...(reason === undefined ? {} : { reason }) };
}

/** The width to which text is cut; undefined when it goes to a file or another program. */
export function widthOf({ terminal, columns }: Terminal): number | undefined {
  return terminal ? columns : undefined;
}

/** Writes what is being done to standard error, when that is a terminal and the work takes more than a second. */
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

// --- internal ---

const SILENT_MS = 1_000;
