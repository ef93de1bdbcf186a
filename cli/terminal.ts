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

/** Exit statuses of the command. */
export const EXIT = { done: 0, problem: 1, wrongUse: 2 } as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
