import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Actor } from 'skill-registry';

/** The process around a command, so that commands read nothing global. */
export interface Terminal {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal: text is cut to its width, control characters are shown, not obeyed. */
  readonly terminal: boolean;
  readonly columns: number | undefined;
  /** Somebody sees standard error at once: what takes long says so. */
  readonly progress: boolean;
  /** Asks the person at the terminal; undefined where there is none. */
  ask?(question: string): Promise<string | undefined>;
  /** All of standard input. */
  input(): Promise<Uint8Array>;
  /** Data. */
  out(data: string | Uint8Array): void;
  /** Words for people. */
  err(text: string): void;
}

/** What every command takes. */
export interface GlobalOptions {
  readonly root?: string;
  readonly skills?: readonly string[];
  readonly json?: boolean;
  /** Approve the root for this command; nothing is recorded. */
  readonly trust?: boolean;
}

/** What is taken by a command that decides something. */
export interface DecisionOptions {
  readonly reason?: string;
  readonly by?: string;
}

/** Makes a command below `parent` with its example and the options all have. */
export type MakeCommand = (name: string, description: string, example: string, parent?: Command) => Command;

/** Shells there is a completion script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Exit statuses of the command. */
export const EXIT = { done: 0, problem: 1, wrongUse: 2 } as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/** Of a failure by its code, where it is not `problem`. docs/command.md prints it. */
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

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Whoever is logged in, unless another name is given. */
export function actorOf({ by, reason }: DecisionOptions, { environment }: Terminal): Actor {
  const name = by ?? environment.USER ?? environment.LOGNAME ?? userInfo().username;
  return { by: /^\w+:/.test(name) ? name : `person:${name}`, ...(reason === undefined ? {} : { reason }) };
}

/** Where text is cut; undefined when it goes to a file or another program. */
export function widthOf({ terminal, columns }: Terminal): number | undefined {
  return terminal ? columns : undefined;
}

/** Says on standard error what is being done, when somebody is looking and it takes more than a second. */
export async function withProgress<T>(
  what: string,
  { progress, err }: Pick<Terminal, 'progress' | 'err'>,
  work: Promise<T>,
): Promise<T> {
  const timer = progress ? setTimeout(() => err(`${what} ...\n`), PATIENCE_MS) : undefined;
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

// --- internal ---

const PATIENCE_MS = 1_000;
