import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, realpathSync } from 'node:fs';
import { countTokens } from '../../lib/text/index.ts';
import type {
  AgentInvocationContext,
  AgentResponse,
  ChannelProvider,
  ContextPart,
  KernelApi,
  TurnContext,
} from '../contract.ts';
import { agentUnavailable, kernelStopped, rootNotFound } from '../errors.ts';
import { approveHeldExtensions } from '../held/ask-person.ts';
import { rootProblemsAtStart } from '../held/undo-approval.ts';
import { approvalsStamp } from '../held/writable-extension.ts';
import { guardedTurn } from '../hooks.ts';
import { baseCommands, type CommandTable, commandTable, runCommandLine } from '../offers/commands.ts';
import { createOffers, type Offers } from '../offers/offers.ts';
import { createTurns, type Turns } from '../turns/turns.ts';
import { type Discovery, findExtensions } from './discover.ts';
import { createExtensionContexts, runningInstance } from './extension-context.ts';
import { brokenStatus, type ExtensionRecord, problemOf, provides, statusOf } from './extension-record.ts';
import { type LifecycleParts, startExtensions, stopExtensions } from './lifecycle.ts';
import { loadApproved } from './loader.ts';
import { type LogEntry, Messages, problemLine } from './messages.ts';
import { createSecrets } from './settings.ts';
import { type StartOrder, startOrder, unknownIds } from './start-order.ts';
import type { Root } from './untrusted-root.ts';

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

export interface Kernel extends KernelApi {
  /** Stops every extension, reads all manifests again and starts. Running turns are cancelled. */
  reload(): Promise<void>;
  /** For hosts and tests. @throws EXTENSION_NOT_RUNNING. */
  getExtension<T>(id: string): T;
  /** Stops every extension in reverse order. Always completes. */
  shutdown(): Promise<void>;
  /** Resolves when the kernel has stopped, after `shutdown` or a request of an extension. */
  readonly stopped: Promise<void>;
  /** Messages for the user that no channel could take. */
  undelivered(): readonly string[];
}

/** Resolves when every extension runs or has failed; see `extensions()` and `problems()`. @throws ROOT_NOT_FOUND. */
export async function boot(options: BootOptions): Promise<Kernel> {
  if (!existsSync(options.root)) throw rootNotFound(options.root);
  const kernel = new RunningKernel(realpathSync(options.root), options);
  await kernel.start();
  return kernel.handle();
}

// --- internal ---

const BUDGETS: Budgets = { context: 2_000, start: 30_000, stop: 4_500, serviceRestart: 1_000 };

/** Kernels that this call starts: an agent called there would wait for itself. One store for all, as in turns.ts. */
const startingKernels = new AsyncLocalStorage<readonly unknown[]>();

class RunningKernel {
  readonly #root: Root;
  readonly #options: InternalBootOptions;
  readonly #records = new Map<string, ExtensionRecord>();
  readonly #messages: Messages;
  readonly #offers: Offers;
  readonly #turns: Turns;
  readonly #lifecycle: LifecycleParts;
  readonly #api: KernelApi;
  readonly #interrupted = new AbortController();
  /** Follows `options.signal`, to which many kernels may listen. */
  readonly #ended: AbortSignal | undefined;
  readonly #stopped: Promise<void>;
  #onStopped: () => void = () => {};
  #phase: 'starting' | 'running' | 'stopped' = 'starting';
  #secrets: (name: string) => string | undefined;
  #broken: Discovery['broken'] = [];
  /** `approvalsStamp` before the manifests were read. */
  #approvals = '';
  #turnsEnd = new AbortController();
  #starting: Promise<void> | undefined;
  #reloading: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #isReloadRequested = false;
  #activeTurns = 0;
  readonly #asked = new Set<string>();

  constructor(rootDir: string, options: InternalBootOptions) {
    this.#root = { dir: rootDir, trusted: options.trust ?? true };
    this.#options = options;
    this.#secrets = this.#readSecrets();
    this.#ended = options.signal && AbortSignal.any([options.signal]);
    this.#stopped = new Promise((resolve) => {
      this.#onStopped = resolve;
    });
    const budgets = { ...BUDGETS, ...options.budgets };
    const [root, records] = [this.#root, this.#records];
    const running = (): readonly ExtensionRecord[] => this.#running();
    const getSecret = (name: string): string | undefined => this.#secrets(name);
    const messages = new Messages({ rootDir, onLog: options.onLog, running, phase: () => this.#phase });
    const { report } = messages;
    this.#messages = messages;
    this.#offers = createOffers(running, report);
    const contextBudgetMs = budgets.context;
    this.#turns = createTurns({ rootDir, contextBudgetMs, records, offers: this.#offers, getSecret, report });
    this.#api = this.#createApi();
    const contexts = createExtensionContexts({
      root,
      records,
      getSecret,
      messages,
      kernel: this.#api,
      config: options.config ?? {},
      requestRestart: () => this.#requestRestart(),
    });
    this.#lifecycle = {
      budgets,
      interrupted: this.#interrupted.signal,
      contexts,
      messages,
      turns: this.#turns,
      enable: options.enable ?? [],
      load: (found) => loadApproved(found, rootDir, this.#approvals, budgets.start),
    };
  }

  async start(): Promise<void> {
    this.#starting = this.#startAll();
    this.#ended?.addEventListener('abort', this.#shutdown);
    if (this.#ended?.aborted) void this.#shutdown();
    await this.#starting;
  }

  handle(): Kernel {
    return {
      ...this.#api,
      getExtension: <T>(id: string) => runningInstance<T>(this.#records, id),
      reload: () => this.#reload(),
      shutdown: this.#shutdown,
      stopped: this.#stopped,
      undelivered: this.#messages.undelivered,
    };
  }

  #createApi(): KernelApi {
    return {
      extensions: () => [...[...this.#records.values()].map(statusOf), ...this.#broken.map(brokenStatus)],
      problems: this.#messages.problems,
      tools: () => this.#offers.tools(),
      agents: () => this.#running().flatMap(({ descriptor }) => descriptor ?? []),
      commands: () => this.#commands().commands.map(({ command }) => command),
      runCommand: (line, turn) => runCommandLine(line, this.#commands(), this.#turns.commandTurn(turn)),
      invokeAgent: (agentId, task, context) => this.#invokeAgent(agentId, task, context),
      describeTurn: (agentId, prompt, turn) => this.#describeTurn(agentId, prompt, turn),
      requestShutdown: () => void this.#shutdown(),
    };
  }

  #running(): readonly ExtensionRecord[] {
    return [...this.#records.values()].filter(({ state }) => state === 'RUNNING');
  }

  #readSecrets(): (name: string) => string | undefined {
    return createSecrets(this.#root.dir, this.#options.environment ?? {}, this.#root.trusted);
  }

  #commands(): CommandTable {
    const handoffAgent = (): string | undefined =>
      this.#running().find(({ descriptor }) => descriptor?.integrationMode === 'handoff')?.found.manifest.id;
    const table = commandTable(baseCommands(this.#api, handoffAgent), this.#offers.commands());
    for (const { extensionId, name, winner } of table.shadowed) {
      const record = this.#records.get(extensionId);
      const what = `offers /${name}, a command that ${winner} already has; only that one can be reached`;
      if (record) this.#messages.report(problemOf(record.found, 'COMMAND_SHADOWED', what, 'warning'));
    }
    return table;
  }

  async #describeTurn(agentId: string, prompt: string, turn: TurnContext): Promise<readonly ContextPart[]> {
    const parts = await this.#turns.systemParts(agentId, prompt, { ...turn, preview: true });
    return Promise.all(parts.map(async (part) => ({ ...part, tokens: await countTokens(part.text) })));
  }

  async #invokeAgent(agentId: string, task: string, context?: AgentInvocationContext): Promise<AgentResponse> {
    if (startingKernels.getStore()?.includes(this.#records) && this.#phase === 'starting')
      throw agentUnavailable(agentId, 'extensions are still starting');
    await this.#reloading;
    if (this.#phase === 'stopped') throw kernelStopped();
    this.#activeTurns++;
    try {
      const signal = AbortSignal.any([this.#turnsEnd.signal, context?.signal].filter((one) => one !== undefined));
      const guarded = guardedTurn(context, this.#messages.callHook);
      return await this.#turns.invoke(agentId, task, { ...guarded, signal });
    } finally {
      this.#activeTurns--;
      // Before the caller reads the next line: a line typed before the question must not answer it.
      await this.#askAndReload();
    }
  }

  #requestRestart(): void {
    this.#isReloadRequested = true;
    // The caller gets its result first.
    setImmediate(() => void this.#askAndReload());
  }

  /** Does nothing without a request or during a turn. Asks once about each held content. */
  async #askAndReload(): Promise<void> {
    const isDue = (): boolean => this.#isReloadRequested && this.#activeTurns === 0 && this.#phase === 'running';
    if (isDue()) {
      const channel = this.#running()
        .map(({ instance }) => instance as unknown)
        .find((one) => provides<Required<ChannelProvider>>(one, 'sendMessage', 'sendToUser', 'confirm'));
      const ask = channel && ((question: string) => channel.confirm(question, this.#interrupted.signal));
      const { dir: rootDir, trusted } = this.#root;
      const { notifyUser } = this.#messages;
      if (await approveHeldExtensions({ rootDir, trusted, asked: this.#asked, ask, notifyUser }))
        this.#root.trusted = true;
    }
    // A turn may have begun in the meantime.
    if (isDue()) void this.#reload();
  }

  async #startAll(): Promise<void> {
    this.#phase = 'starting';
    this.#records.clear();
    this.#secrets = this.#readSecrets();
    const order = this.#findAndSort();
    await startingKernels.run([...(startingKernels.getStore() ?? []), this.#records], () =>
      startExtensions(order, this.#records, this.#lifecycle),
    );
    // Reports the problems of commands and tools now, not at their first use.
    this.#commands();
    this.#offers.tools();
    this.#phase = 'running';
    this.#messages.deliver();
  }

  #findAndSort(): StartOrder {
    const [{ report }, { dir, trusted }] = [this.#messages, this.#root];
    for (const problem of rootProblemsAtStart(this.#root)) report(problem);
    this.#approvals = approvalsStamp(dir);
    const discovery = findExtensions(dir, trusted);
    const order = startOrder(discovery.extensions);
    const unknown = unknownIds(this.#lifecycle.enable, discovery.extensions, dir);
    for (const problem of [...discovery.problems, ...order.problems, ...unknown]) report(problem);
    this.#broken = discovery.broken;
    return order;
  }

  async #stopAll(): Promise<void> {
    this.#turnsEnd.abort();
    this.#turnsEnd = new AbortController();
    await stopExtensions(this.#records, this.#lifecycle);
  }

  /** A second call waits for the running reload. */
  #reload(): Promise<void> {
    if (this.#phase === 'stopped') return Promise.resolve();
    this.#reloading ??= this.#stopAndStart().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  async #stopAndStart(): Promise<void> {
    this.#isReloadRequested = false;
    this.#phase = 'starting';
    this.#messages.forgetProblems();
    await this.#stopAll();
    await this.#startAll();
    const found = this.#messages.problems().map((problem) => `\n${problemLine(problem)}`);
    this.#messages.notifyUser(`Extensions reloaded: ${this.#running().length} running.${found.join('')}`);
  }

  readonly #shutdown = (): Promise<void> => {
    this.#interrupted.abort();
    this.#ending ??= (async () => {
      // Extensions that still start have to be stopped, too.
      await this.#starting;
      await this.#reloading;
      this.#phase = 'stopped';
      await this.#stopAll();
      this.#ended?.removeEventListener('abort', this.#shutdown);
      this.#onStopped();
    })();
    return this.#ending;
  };
}
