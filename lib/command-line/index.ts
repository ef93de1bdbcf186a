import { userInfo } from 'node:os';
import { hearHowFar } from '../breaks/index.ts';
import { invalidArgument } from '../errors/index.ts';
import { formatNumber, formatTable, printable } from '../text/index.ts';

export { EXIT, EXIT_OF_CODE, type ExitStatus, exitOf } from './exit-status.ts';
export { invalidArgument };

/** Commands use this instead of globals of the process. */
export interface Streams {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal: text is cut to its width, control characters are escaped. */
  readonly terminal: boolean;
  readonly columns: number | undefined;
  /** Standard error is a terminal: it says there how far long work is. */
  readonly progress: boolean;
  /** Undefined when standard input ends. Absent without a terminal. */
  ask?(question: string): Promise<string | undefined>;
  input(): Promise<Uint8Array>;
  /** For data. */
  out(data: string | Uint8Array): void;
  /** For text that people read. */
  err(text: string): void;
}

export interface Terminal extends Streams {
  /** Width to which text is cut; undefined when it is not cut. */
  readonly width: number | undefined;
  /** Prints the value with `--json`, else the text unless it is empty. */
  print(value: unknown, text?: () => string): void;
  /** As wide as the terminal; empty without rows. */
  table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string;
  /** Writes an author's text. A terminal gets its control characters escaped. */
  write(text: string): void;
  /** Writes one or more lines for people, control characters escaped. */
  say(line: string): void;
  sayProblem(problem: { severity: string; file: string; line?: number | undefined; message: string }): void;
  /**
   * Says how far work is that takes more than a second: one line, written over, gone at its end. Only if standard error
   * is a terminal, and never with `--json`. @param meanwhile - What is of use already.
   */
  during<T>(what: string, work: Promise<T>, meanwhile?: string): Promise<T>;
  /** Replaces that line, while there is one. */
  howFar(line: string): void;
  /** @throws INVALID_ARGUMENT without a terminal and without `--yes`, because nobody would see what is done */
  assertCanAsk(): void;
  /** True with `--yes`. Call `assertCanAsk` first. Says so when nothing was changed. */
  agrees(question: string): Promise<boolean>;
  /**
   * Shows something and asks about it.
   * @param see - Names the command that prints the digest for `--digest` of the command `decide`.
   * @param confirm - How it asks. Default: `isConfirmed`.
   * @throws INVALID_ARGUMENT without a terminal
   */
  agreesTo(shown: string, question: string, see: string, decide: string, confirm?: Confirm): Promise<boolean>;
  /** Registers what runs after the command, also after a failure. */
  atEnd(close: () => Promise<void>): void;
}

export interface Options {
  readonly root?: string;
  readonly skills?: readonly string[];
  readonly json?: boolean;
  /** Trusts the root for this command only; records nothing. */
  readonly trust?: boolean;
  /** Recorded with the decision. */
  readonly reason?: string;
  readonly by?: string;
  readonly yes?: boolean;
}

/** @param ending - Receives the functions to call when the command has ended. */
export function terminalOf(streams: Streams, { json, yes }: Options, ending: (() => Promise<void>)[]): Terminal {
  const { ask } = streams;
  const width = streams.terminal ? streams.columns : undefined;
  // A line that is folded cannot be written over.
  const room = (streams.columns ?? 80) - 1;
  let isShown = false;
  let line = (): string => '';
  const clear = (): void => {
    if (isShown) streams.err(CLEAR_LINE);
    isShown = false;
  };
  const err = (text: string): void => {
    clear();
    streams.err(text);
  };
  const say = (text: string): void => err(`${printable(text)}\n`);
  const assertCanAsk = (): void => {
    if (!yes && !ask) throw invalidArgument('There is no terminal to ask at. Give --yes to do it without being asked.');
  };
  return {
    ...streams,
    err,
    width,
    print(value, text) {
      if (json) return streams.out(`${JSON.stringify(value, null, 2)}\n`);
      const shown = text?.() ?? '';
      if (shown !== '') streams.out(`${shown}\n`);
    },
    table: (header, rows) => (rows.length === 0 ? '' : formatTable(header, rows, width)),
    write: (text) => streams.out(streams.terminal ? printable(text) : text),
    say,
    sayProblem: ({ severity, file, line, message }) => say(`${severity}: ${file}${line ? `:${line}` : ''}: ${message}`),
    howFar: (now) => {
      line = () => now;
    },
    async during(what, work, meanwhile) {
      if (!streams.progress || json) return work;
      const more = meanwhile === undefined ? '' : ` (${meanwhile})`;
      line = () => `${what} ...${more}`;
      let next = performance.now() + EVERY_MS;
      const show = (): void => {
        clear();
        streams.err(printable(line()).slice(0, room));
        isShown = true;
        next = performance.now() + EVERY_MS;
      };
      hearHowFar((done, total, part = what) => {
        line = () => `${part}: ${formatNumber(done)} of ${formatNumber(total)}${more}`;
        // Work without breaks stops the timer.
        if (performance.now() > next) show();
      });
      const timer = setInterval(show, EVERY_MS);
      try {
        return await work;
      } finally {
        clearInterval(timer);
        hearHowFar();
        clear();
      }
    },
    assertCanAsk,
    async agrees(question) {
      assertCanAsk();
      if (yes || (ask && (await isConfirmed({ ask }, question)))) return true;
      say('Nothing was changed');
      return false;
    },
    async agreesTo(shown, question, see, decide, confirm = isConfirmed) {
      if (!ask)
        throw invalidArgument(
          `There is no terminal to ask at. See ${see}, then give the digest that it prints: skill-registry ${decide} --digest <digest>`,
        );
      err(`${shown}\n`);
      return confirm({ ask }, question);
    },
    atEnd: (close) => void ending.push(close),
  };
}

type Confirm = typeof isConfirmed;

export async function isConfirmed({ ask }: Pick<Required<Terminal>, 'ask'>, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `))?.trim() ?? '');
}

/**
 * `--by`, else the user who is logged in.
 * @throws INVALID_ARGUMENT for a name that is not a person, such as `agent:x`
 */
export function actorOf({ by, reason }: Options, { environment }: Terminal): { by: string; reason?: string } {
  const name = by ?? environment.USER ?? environment.LOGNAME ?? userInfo().username;
  const actor = /^\w+:/.test(name) ? name : `person:${name}`;
  if (!actor.startsWith('person:'))
    throw invalidArgument(
      `Only a person decides, and ${JSON.stringify(name)} is none. Give the name of a person, such as ada.`,
    );
  return { by: actor, ...(reason === undefined ? {} : { reason }) };
}

/** Adds the number of lines left out. @param how - Says how to see all. */
export function firstLines(lines: readonly string[], most: number, how = '; --json has all'): readonly string[] {
  return lines.length > most ? [...lines.slice(0, most), `  and ${lines.length - most} more${how}`] : lines;
}

export function nearestText(nearest: readonly string[]): string {
  return nearest.length > 0 ? ` Nearest: ${nearest.join(', ')}.` : '';
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function isPath(given: string): boolean {
  return /^[./~\\]/.test(given) || (/[/\\]/.test(given) && !given.includes(':'));
}

export function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

// --- internal ---

const EVERY_MS = 1_000;
const CLEAR_LINE = '\r\x1b[K';
