import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, realpathSync } from 'node:fs';
import { checkArgument, elsewhere, type FieldsSchema, schema } from '../../lib/arguments/index.ts';
import { countTokens } from '../../lib/text/index.ts';
import type { AgentInvocationContext, AgentResponse, ChannelProvider, KernelApi } from '../contract.ts';
import { agentUnavailable, kernelStopped, rootNotFound } from '../errors.ts';
import { approveHeldExtensions } from '../held/ask-person.ts';
import { approvalsStamp } from '../held/half-approved.ts';
import { rootProblemsAtStart } from '../held/undo-approval.ts';
import { guardedTurn } from '../hooks.ts';
import { baseCommands, type CommandTable, commandTable, runCommandLine } from '../offers/commands.ts';
import { offeredCommands, offeredTools } from '../offers/offers.ts';
import { commandTurn, invokeAgent, systemParts } from '../turns/turns.ts';
import { type Discovery, findExtensions } from './discover.ts';
import { createExtensionContexts, runningInstance } from './extension-context.ts';
import type { Root } from './extension-folders.ts';
import { brokenStatus, type ExtensionRecord, problemOf, provides, statusOf } from './extension-record.ts';
import type { Budgets, ExtensionContexts, InternalBootOptions, KernelState } from './kernel-state.ts';
import { startExtensions, stopExtensions } from './lifecycle.ts';
import { Messages, problemLine } from './messages.ts';
import { createSecrets } from './settings.ts';
import { type StartOrder, startOrder, unknownIds } from './start-order.ts';

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
export async function boot(options: InternalBootOptions): Promise<Kernel> {
  checkArgument('boot: options', bootOptions, options);
  if (!existsSync(options.root)) throw rootNotFound(options.root);
  const kernel = new RunningKernel(realpathSync(options.root), options);
  await kernel.start();
  return kernel.handle();
}

// --- internal ---

const BUDGETS: Budgets = { context: 2_000, start: 30_000, stop: 4_500, serviceRestart: 1_000 };

const bootOptions: FieldsSchema<InternalBootOptions> = schema((z) =>
  z.strictObject(
    {
      root: z.string(),
      config: z.object({}).catchall(z.object({}).catchall(z.unknown())).optional(),
      enable: z.array(z.string()).optional(),
      trust: z.boolean().optional(),
      // process.env is not a plain object, which a record requires.
      environment: z.object({}).catchall(z.string().optional()).optional(),
      onLog: z.custom<InternalBootOptions['onLog']>((value) => typeof value === 'function', 'a function').optional(),
      signal: z.instanceof(AbortSignal, { error: 'an AbortSignal' }).optional(),
      budgets: z.custom<InternalBootOptions['budgets']>().optional(),
    },
    elsewhere({ rootDir: 'It is called root.' }, ['budgets']),
  ),
);

/** Kernels that this call starts: an agent called there would wait for itself. One store for all, as in turns.ts. */
const startingKernels = new AsyncLocalStorage<readonly unknown[]>();

class RunningKernel implements KernelState {
  readonly root: Root;
  readonly options: InternalBootOptions;
  readonly budgets: Budgets;
  readonly records: Map<string, ExtensionRecord> = new Map();
  readonly messages: Messages;
  readonly contexts: ExtensionContexts = createExtensionContexts(this);
  readonly api: KernelApi;
  readonly #interruption = new AbortController();
  readonly interrupted: AbortSignal = this.#interruption.signal;
  approvals = '';
  /** Follows `options.signal`, to which many kernels may listen. */
  readonly #ended: AbortSignal | undefined;
  #onStopped: () => void = () => {};
  readonly #stopped: Promise<void> = new Promise((resolve) => {
    this.#onStopped = resolve;
  });
  #phase: 'starting' | 'running' | 'stopped' = 'starting';
  #secrets: (name: string) => string | undefined = () => undefined;
  #broken: Discovery['broken'] = [];
  #turnsEnd = new AbortController();
  #starting: Promise<void> | undefined;
  #reloading: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #isReloadRequested = false;
  #activeTurns = 0;
  readonly #asked = new Set<string>();

  constructor(rootDir: string, options: InternalBootOptions) {
    this.root = { dir: rootDir, trusted: options.trust ?? true };
    this.options = options;
    this.budgets = { ...BUDGETS, ...options.budgets };
    this.#ended = options.signal && AbortSignal.any([options.signal]);
    const { running } = this;
    this.messages = new Messages({ rootDir, onLog: options.onLog, running, phase: () => this.#phase });
    this.api = this.#createApi();
  }

  async start(): Promise<void> {
    this.#starting = this.#startAll();
    this.#ended?.addEventListener('abort', this.#shutdown);
    if (this.#ended?.aborted) void this.#shutdown();
    await this.#starting;
  }

  handle(): Kernel {
    return {
      ...this.api,
      getExtension: <T>(id: string) => runningInstance<T>(this.records, id),
      reload: () => this.#reload(),
      shutdown: this.#shutdown,
      stopped: this.#stopped,
      undelivered: this.messages.undelivered,
    };
  }

  #createApi(): KernelApi {
    return {
      extensions: () => [...[...this.records.values()].map(statusOf), ...this.#broken.map(brokenStatus)],
      problems: this.messages.problems,
      tools: () => offeredTools(this),
      agents: () => this.running().flatMap(({ descriptor }) => descriptor ?? []),
      commands: () => this.#commands().commands.map(({ command }) => command),
      runCommand: (line, turn) => runCommandLine(line, this.#commands(), commandTurn(this, turn)),
      invokeAgent: (agentId, task, context) => this.#invokeAgent(agentId, task, context),
      describeTurn: async (agentId, prompt, turn) => {
        const parts = await systemParts(this, agentId, prompt, { ...turn, preview: true });
        return Promise.all(parts.map(async (part) => ({ ...part, tokens: await countTokens(part.text) })));
      },
      requestShutdown: () => void this.#shutdown(),
    };
  }

  readonly running = (): readonly ExtensionRecord[] =>
    [...this.records.values()].filter(({ state }) => state === 'RUNNING');

  readonly getSecret = (name: string): string | undefined => this.#secrets(name);

  #commands(): CommandTable {
    const handoffAgent = (): string | undefined =>
      this.running().find(({ descriptor }) => descriptor?.integrationMode === 'handoff')?.found.manifest.id;
    const table = commandTable(baseCommands(this.api, handoffAgent), offeredCommands(this));
    for (const { extensionId, name, winner } of table.shadowed) {
      const record = this.records.get(extensionId);
      const what = `offers /${name}, a command that ${winner} already has; only that one can be reached`;
      if (record) this.messages.report(problemOf(record.found, 'COMMAND_SHADOWED', what, 'warning'));
    }
    return table;
  }

  async #invokeAgent(agentId: string, task: string, context?: AgentInvocationContext): Promise<AgentResponse> {
    if (startingKernels.getStore()?.includes(this.records) && this.#phase === 'starting')
      throw agentUnavailable(agentId, 'extensions are still starting');
    await this.#reloading;
    if (this.#phase === 'stopped') throw kernelStopped();
    this.#activeTurns++;
    try {
      const signal = AbortSignal.any([this.#turnsEnd.signal, context?.signal].filter((one) => one !== undefined));
      const guarded = guardedTurn(context, this.messages.callHook);
      return await invokeAgent(this, agentId, task, { ...guarded, signal });
    } finally {
      this.#activeTurns--;
      // Before the caller reads the next line: a line typed before the question must not answer it.
      await this.#askAndReload();
    }
  }

  readonly requestRestart = (): void => {
    this.#isReloadRequested = true;
    // The caller gets its result first.
    setImmediate(() => void this.#askAndReload());
  };

  /** Does nothing without a request or during a turn. Asks once about each held content. */
  async #askAndReload(): Promise<void> {
    const isDue = (): boolean => this.#isReloadRequested && this.#activeTurns === 0 && this.#phase === 'running';
    if (isDue()) {
      const channel = this.running()
        .map(({ instance }) => instance as unknown)
        .find((one) => provides<Required<ChannelProvider>>(one, 'sendMessage', 'sendToUser', 'confirm'));
      const ask = channel && ((question: string) => channel.confirm(question, this.interrupted));
      const { dir: rootDir, trusted } = this.root;
      const { notifyUser } = this.messages;
      if (await approveHeldExtensions({ rootDir, trusted, asked: this.#asked, ask, notifyUser }))
        this.root.trusted = true;
    }
    // A turn may have begun in the meantime.
    if (isDue()) void this.#reload();
  }

  async #startAll(): Promise<void> {
    this.#phase = 'starting';
    this.records.clear();
    this.#secrets = createSecrets(this.root.dir, this.options.environment ?? {}, this.root.trusted);
    const order = this.#findAndSort();
    await startingKernels.run([...(startingKernels.getStore() ?? []), this.records], () =>
      startExtensions(order, this),
    );
    // Reports the problems of commands and tools now, not at their first use.
    this.#commands();
    offeredTools(this);
    this.#phase = 'running';
    this.messages.deliver();
  }

  #findAndSort(): StartOrder {
    const [{ report }, { dir, trusted }] = [this.messages, this.root];
    for (const problem of rootProblemsAtStart(this.root)) report(problem);
    this.approvals = approvalsStamp(dir);
    const discovery = findExtensions(dir, trusted);
    const order = startOrder(discovery.extensions);
    const unknown = unknownIds(this.options.enable ?? [], discovery.extensions, dir);
    for (const problem of [...discovery.problems, ...order.problems, ...unknown]) report(problem);
    this.#broken = discovery.broken;
    return order;
  }

  async #stopAll(): Promise<void> {
    this.#turnsEnd.abort();
    this.#turnsEnd = new AbortController();
    await stopExtensions(this);
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
    this.messages.forgetProblems();
    await this.#stopAll();
    await this.#startAll();
    const found = this.messages.problems().map((problem) => `\n${problemLine(problem)}`);
    this.messages.notifyUser(`Extensions reloaded: ${this.running().length} running.${found.join('')}`);
  }

  readonly #shutdown = (): Promise<void> => {
    this.#interruption.abort();
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
