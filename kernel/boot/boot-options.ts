import type { LogEntry } from './extension-context.ts';

export interface BootOptions {
  /** The folder that holds `extensions/`, `skills/` and `data/`; they need not exist. */
  readonly root: string;
  /** Config by extension id, laid over the manifest and over `data/<id>/config.yaml`. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Ids of extensions to start though their manifest says `enabled: false`. Default: none. */
  readonly enable?: readonly string[];
  /**
   * Whether the root may act: run its extensions, read its `.env`, set what its config files say. Who boots a kernel on a root
   * has decided that; `false` leaves it data, until a person approves an extension in it. Default: true.
   */
  readonly trust?: boolean;
  /** Where secrets come from before `<root>/.env`. Default: nothing; the command passes the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Told every line an extension logs. What it throws is a problem (HOOK_FAILED). Default: dropped. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Shuts the kernel down, also while it starts. */
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly budgets?: Partial<Budgets>;
}

export interface Budgets {
  /** For one context provider in one turn. Default: 2,000. */
  readonly context: number;
  /** For `initialize` and for `start` of one extension. Default: 30,000. */
  readonly start: number;
  /** For stopping everything. Default: 4,500. */
  readonly stop: number;
  /** Before a dead service starts again the first time. Default: 1,000. */
  readonly serviceRestart: number;
}

export const BUDGETS: Budgets = { context: 2_000, start: 30_000, stop: 4_500, serviceRestart: 1_000 };
