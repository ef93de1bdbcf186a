import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync, realpathSync } from 'node:fs';
import { type BootOptions, BUDGETS } from './boot-options.ts';
import { canConfirm, isChannelProvider, readsUntrustedConfig } from './capabilities.ts';
import { baseCommands, type CommandTable, commandTable, runCommandLine } from './commands.ts';
import type { KernelApi, Problem } from './contract.ts';
import { findExtensions } from './declared-agents.ts';
import type { FoundExtension } from './discover.ts';
import { agentUnavailable, describeError, kernelStopped, rootNotFound } from './errors.ts';
import { createEventBus } from './event-bus.ts';
import { createExtensionContext, type LogEntry } from './extension-context.ts';
import { approveHeldExtensions } from './held/approve.ts';
import { heldExtensions } from './held/held-extensions.ts';
import { createHookCaller, guardedTurn } from './hooks.ts';
import { type ExtensionRecord, problemOf, startExtensions, stopExtensions } from './lifecycle.ts';
import { createOffers } from './offers.ts';
import { createSecrets, mergeConfig, type OwnerConfig, readOwnerConfig } from './settings.ts';
import { startOrder } from './start-order.ts';
import { brokenStatus, statusOf } from './status.ts';
import { countTokens } from './tokens.ts';
import { createTurns } from './turns.ts';
import { extensionHeld, heldOfRoot, isDataInRoot, rootNotApproved } from './untrusted-root.ts';

export interface Kernel extends KernelApi {
  /** Stops every extension, reads all manifests anew and starts again. Waits for nobody: running turns are cut off. */
  reload(): Promise<void>;
  /** Stops every extension in reverse order. Always completes. */
  shutdown(): Promise<void>;
  /** Resolves when `shutdown` or an extension's request has ended the kernel. */
  readonly stopped: Promise<void>;
  /** Messages for the user that no channel could take. */
  undelivered(): readonly string[];
}

/**
 * Kernels whose `initialize` or `start` is running here, told by their records: what waits there for a reload would wait for
 * itself. One store for all of them, as in turns.ts: each costs every promise of the process a little, and is never freed.
 */
const comingUp = new AsyncLocalStorage<readonly unknown[]>();

/**
 * Finds and starts the extensions of the package and of `root`.
 *
 * @returns once everything that can run runs; what cannot is in `extensions()` and `problems()`.
 * @throws ROOT_NOT_FOUND.
 */
export async function boot(options: BootOptions): Promise<Kernel> {
  if (!existsSync(options.root)) throw rootNotFound(options.root);
  const rootDir = realpathSync(options.root);
  const budgets = { ...BUDGETS, ...options.budgets };
  let trusted = options.trust ?? true;
  let secrets = createSecrets(rootDir, options.environment ?? {}, trusted);
  const getSecret = (name: string): string | undefined => secrets(name);
  const records = new Map<string, ExtensionRecord>();
  const problems = new Map<string, Problem>();
  const broken: { name: string; dir: string; reason: string }[] = [];
  let outbox: string[] = [];
  let phase: 'starting' | 'running' | 'stopped' = 'starting';
  let reloading: Promise<void> | undefined;
  let restartRequested = false;
  let activeTurns = 0;
  /** Digests of held extensions that a person was asked about. */
  const asked = new Set<string>();
  let turnsEnd = new AbortController();
  /** Ends waiting for extensions that start: the kernel is to stop. */
  const interrupted = new AbortController();
  let onStopped: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    onStopped = resolve;
  });

  const running = (): readonly ExtensionRecord[] =>
    [...records.values()].filter((record) => record.state === 'RUNNING');
  const report = (problem: Problem): void => {
    const key = `${problem.code} ${problem.file} ${problem.line} ${problem.message}`;
    const known = problems.has(key);
    problems.set(key, problem);
    // While starting, the list of all problems is still to be shown; a repeated one was told before.
    if (phase !== 'starting' && !known) notifyUser(told(problem));
  };
  const deliver = async (record: ExtensionRecord, text: string): Promise<void> => {
    if (!isChannelProvider(record.instance)) return;
    await record.instance.sendMessage(text);
  };
  function notifyUser(text: string): void {
    const channels = running().filter((record) => isChannelProvider(record.instance));
    if (channels.length === 0 || phase !== 'running') outbox.push(text);
    else
      for (const record of channels) deliver(record, text).catch((error) => log('error', record, describeError(error)));
  }
  const callHook = createHookCaller(rootDir, report);
  const onLog = (entry: LogEntry): void => void callHook('onLog', () => options.onLog?.(entry));
  const log = (level: LogEntry['level'], { found }: ExtensionRecord, message: string): void =>
    onLog({ level, extensionId: found.manifest.id, message });

  const bus = createEventBus((owner, event, error) => {
    const record = records.get(owner);
    const what = `failed to handle the event "${event}": ${describeError(error)}`;
    if (record) report(problemOf(record.found, 'EVENT_HANDLER_FAILED', what));
  });
  const offers = createOffers(running, report);
  const turns = createTurns({ rootDir, contextBudgetMs: budgets.context, records, offers, getSecret, report });
  const api: KernelApi = {
    extensions: () => [...[...records.values()].map(statusOf), ...broken.map(brokenStatus)],
    problems: () => [...problems.values()],
    tools: () => offers.tools(),
    agents: () => running().flatMap(({ descriptor }) => descriptor ?? []),
    commands: () => commands().commands.map(({ command }) => command),
    runCommand: (line, turn) => runCommandLine(line, commands(), turn),
    async invokeAgent(agentId, task, context) {
      if (comingUp.getStore()?.includes(records) && phase === 'starting')
        throw agentUnavailable(agentId, 'extensions are still starting');
      await reloading;
      if (phase === 'stopped') throw kernelStopped();
      activeTurns++;
      try {
        const signal = AbortSignal.any([turnsEnd.signal, context?.signal].filter((one) => one !== undefined));
        return await turns.invoke(agentId, task, { ...guardedTurn(context, callHook), signal });
      } finally {
        activeTurns--;
        // Before the caller goes on: a line that was typed meanwhile is no answer.
        await askBeforeRestart();
        restartWhenIdle();
      }
    },
    async describeTurn(agentId, prompt, turn) {
      const parts = await turns.systemParts(agentId, prompt, turn);
      return Promise.all(parts.map(async (part) => ({ ...part, tokens: await countTokens(part.text) })));
    },
    requestShutdown: () => void shutdown(),
  };

  const commands = (): CommandTable => {
    const table = commandTable(baseCommands(api, handoffAgent), offers.commands());
    for (const { extensionId, name, winner } of table.shadowed) {
      const record = records.get(extensionId);
      const what = `offers /${name}, a command that ${winner} already has; only that one can be reached`;
      if (record) report(problemOf(record.found, 'COMMAND_SHADOWED', what, 'warning'));
    }
    return table;
  };
  const handoffAgent = (): string | undefined =>
    running().find(({ descriptor }) => descriptor?.integrationMode === 'handoff')?.found.manifest.id;

  const lives = new Map<string, AbortController>();
  const lifeOf = (id: string): AbortSignal => {
    const life = new AbortController();
    lives.set(id, life);
    return life.signal;
  };
  const release = (id: string): void => {
    bus.unsubscribeAll(id);
    lives.get(id)?.abort();
  };

  /** What they said last, by extension. */
  const owners = new Map<string, OwnerConfig['values']>();
  function contextOf({ manifest, dir }: FoundExtension) {
    const owner = readOwnerConfig(rootDir, manifest.id, owners.get(manifest.id));
    if (owner.problems.length === 0) owners.set(manifest.id, owner.values);
    owner.problems.forEach(report);
    const values = trusted ? owner.values : untrustedValues(manifest.id, owner.values);
    const config = mergeConfig(manifest.config, values, options.config?.[manifest.id] ?? {});
    return createExtensionContext(manifest, dir, config, {
      rootDir,
      trusted,
      bus,
      kernel: api,
      log: onLog,
      notifyUser,
      getSecret,
      lifeOf,
      requestRestart,
      instance: (id) => running().find((record) => record.found.manifest.id === id)?.instance,
    });
  }

  /** What an extension takes of a config.yaml that nobody approved. */
  function untrustedValues(id: string, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const instance: unknown = records.get(id)?.instance;
    return readsUntrustedConfig(instance) ? instance.configOfUntrustedRoot(values, rootDir).values : {};
  }

  async function startAll(): Promise<void> {
    phase = 'starting';
    records.clear();
    // A person may have added a key since.
    secrets = createSecrets(rootDir, options.environment ?? {}, trusted);
    const discovery = findExtensions(rootDir, trusted);
    const heldRoot = trusted ? undefined : rootNotApproved(rootDir, heldOfRoot(rootDir));
    if (heldRoot) report(heldRoot);
    const written = trusted || isDataInRoot(rootDir) ? heldExtensions(rootDir) : [];
    for (const held of written) report(extensionHeld(rootDir, held));
    const order = startOrder(discovery.extensions);
    for (const problem of [...discovery.problems, ...order.problems]) report(problem);
    broken.splice(0, broken.length, ...discovery.broken);
    const startUp = startExtensions.bind(null, order, records);
    await comingUp.run([...(comingUp.getStore() ?? []), records], () =>
      startUp({
        interrupted: interrupted.signal,
        startBudgetMs: budgets.start,
        onSlow: (found, what) =>
          onLog({ level: 'warn', extensionId: found.manifest.id, message: `still waiting for ${what}` }),
        serviceRestartMs: budgets.serviceRestart,
        context: contextOf,
        declarativeAgent: turns.declarativeAgent,
        isEnabled: ({ manifest }) => manifest.enabled || (options.enable ?? []).includes(manifest.id),
        checkAgent: turns.check,
        report,
        release,
      }),
    );
    commands();
    offers.tools();
    phase = 'running';
    const waiting = outbox;
    outbox = [];
    waiting.forEach(notifyUser);
  }

  async function stopAll(): Promise<void> {
    turnsEnd.abort();
    turnsEnd = new AbortController();
    await stopExtensions(records, budgets.stop, { report, release });
  }

  async function reload(): Promise<void> {
    restartRequested = false;
    phase = 'starting';
    problems.clear();
    await stopAll();
    await startAll();
    const found = [...problems.values()].map((problem) => `\n${told(problem)}`);
    notifyUser(`Extensions reloaded: ${running().length} running.${found.join('')}`);
  }

  function reloadOnce(): Promise<void> {
    if (phase === 'stopped') return Promise.resolve();
    reloading ??= reload().finally(() => {
      reloading = undefined;
    });
    return reloading;
  }

  /** What an agent wrote is loaded only after a yes; who has said no is not asked about the same bytes again. */
  async function askBeforeRestart(): Promise<void> {
    if (!restartRequested || activeTurns > 0 || phase !== 'running') return;
    const channel = running()
      .map(({ instance }) => instance as unknown)
      .find(canConfirm);
    const ask = channel && ((question: string) => channel.confirm(question, interrupted.signal));
    if (await approveHeldExtensions({ rootDir, trusted, asked, ask, notifyUser })) trusted = true;
  }

  function requestRestart(): void {
    restartRequested = true;
    // Not at once: the caller still has to hear that it worked.
    setImmediate(() => void askBeforeRestart().then(restartWhenIdle));
  }

  function restartWhenIdle(): void {
    if (restartRequested && activeTurns === 0 && phase === 'running') void reloadOnce();
  }

  // One signal may end any number of kernels, and each listens.
  const ended = options.signal && AbortSignal.any([options.signal]);
  let starting: Promise<void> | undefined;
  let ending: Promise<void> | undefined;
  function shutdown(): Promise<void> {
    interrupted.abort();
    ending ??= (async () => {
      // An extension may ask for the end while it starts: what is about to come up has to be stopped too.
      await starting;
      await reloading;
      phase = 'stopped';
      await stopAll();
      ended?.removeEventListener('abort', shutdown);
      onStopped();
    })();
    return ending;
  }

  starting = startAll();
  ended?.addEventListener('abort', shutdown);
  if (ended?.aborted) void shutdown();
  await starting;
  return { ...api, reload: reloadOnce, shutdown, stopped, undelivered: () => [...outbox] };
}

// --- internal ---

/** One line for the person. */
function told({ severity, file, line, message }: Problem): string {
  return `${severity}: ${file}${line ? `:${line}` : ''}: ${message}`;
}
