import type { ExtensionContext, KernelApi } from '../contract.ts';
import type { FoundExtension } from './discover.ts';
import type { Root } from './extension-folders.ts';
import type { ExtensionRecord } from './extension-record.ts';
import type { LogEntry, Messages } from './messages.ts';

export interface BootOptions {
  /** The folder that holds `extensions/`, `skills/` and `data/`; they need not exist. */
  readonly root: string;
  /** By extension id. Overrides the manifest and `data/<id>/config.yaml`. Default: none. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Ids of extensions to start despite `enabled: false`; an unknown id is a problem. Default: none. */
  readonly enable?: readonly string[];
  /** False: nothing of the root (extensions, `.env`, config files) counts until a person approves it. Default: true. */
  readonly trust?: boolean;
  /** Secrets. A missing name is read from `<root>/.env`. Default: none; the command passes the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Called with each line of an extension's log. A throw gives the problem HOOK_FAILED. Default: lines are dropped. */
  readonly onLog?: (entry: LogEntry) => void;
  /** Shuts the kernel down, also during its start. */
  readonly signal?: AbortSignal;
}

/** For tests. */
export interface InternalBootOptions extends BootOptions {
  readonly budgets?: Partial<Budgets>;
}

/** In milliseconds. */
export interface Budgets {
  /** For one context provider in one turn. Default: 2,000. */
  readonly context: number;
  /** For each of `initialize` and `start`. Default: 30,000. */
  readonly start: number;
  /** For all extensions together. Default: 4,500. */
  readonly stop: number;
  /** Delay before a failed service starts again for the first time. Default: 1,000. */
  readonly serviceRestart: number;
}

/** What the parts of one kernel share. */
export interface KernelState {
  readonly root: Root;
  readonly options: BootOptions;
  readonly budgets: Budgets;
  readonly records: Map<string, ExtensionRecord>;
  readonly messages: Messages;
  readonly contexts: ExtensionContexts;
  readonly api: KernelApi;
  /** Aborts when the kernel has to stop: nothing more starts, and running steps are not awaited. */
  readonly interrupted: AbortSignal;
  /** `approvalsStamp` before the manifests were read. */
  readonly approvals: string;
  running(): readonly ExtensionRecord[];
  getSecret(name: string): string | undefined;
  requestRestart(): void;
}

export interface ExtensionContexts {
  contextOf(found: FoundExtension): ExtensionContext;
  /** Call it when an extension has stopped or failed: ends its subscriptions and aborts its signal. */
  release(id: string): void;
}
