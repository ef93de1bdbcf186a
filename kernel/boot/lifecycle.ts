import { backOff } from '../../lib/waiting/index.ts';
import type {
  AgentDescriptor,
  AgentProvider,
  Extension,
  ExtensionContext,
  Problem,
  ServiceProvider,
} from '../contract.ts';
import { describeError } from '../errors.ts';
import { DeadlineError, pause, withDeadline } from '../turns/deadline.ts';
import type { FoundExtension } from './discover.ts';
import {
  dependencyReason,
  type ExtensionRecord,
  isAgentProvider,
  isServiceProvider,
  noInstructionsReason,
  problemOf,
} from './extension-record.ts';
import type { StartOrder } from './start-order.ts';

/** What the start and stop of extensions needs from the kernel. */
export interface LifecycleHooks {
  /** How long `initialize` and `start` may take, in milliseconds each. */
  readonly startBudgetMs: number;
  readonly serviceRestartMs: number;
  /** Aborts when the kernel has to stop: nothing more is started, and running steps are not awaited. */
  readonly interrupted: AbortSignal;
  /** Called when a step takes longer than two seconds. */
  onSlow(found: FoundExtension, what: string): void;
  context(found: FoundExtension): ExtensionContext;
  /** Imports its code and makes its object. */
  load(found: FoundExtension): Promise<Extension>;
  /** The agent that the manifest of an extension describes. */
  declarativeAgent(found: FoundExtension): AgentProvider;
  /** Whether an extension is started. */
  isEnabled(found: FoundExtension): boolean;
  /** Rejects when the agent cannot be given its instructions. */
  checkAgent(record: ExtensionRecord): Promise<void>;
  report(problem: Problem): void;
  /** Ends the subscriptions of an extension that has stopped. */
  release(id: string): void;
}

/**
 * Imports and initializes in order, then starts in order, then runs the services. A failure puts that extension in state
 * ERROR and skips those that depend on it; the rest goes on. Never rejects.
 *
 * @param records - Filled while extensions start, so that hooks can look up those that are initialized.
 */
export async function startExtensions(
  { order, refused }: StartOrder,
  records: Map<string, ExtensionRecord>,
  hooks: LifecycleHooks,
): Promise<void> {
  for (const found of order) {
    const record: ExtensionRecord = { found, state: 'STOPPED' };
    records.set(found.manifest.id, record);
    if (hooks.interrupted.aborted) continue;
    const reason = refused.get(found.manifest.id);
    if (reason) setState(record, 'ERROR', reason);
    else if (!hooks.isEnabled(found)) setState(record, 'DISABLED', 'enabled: false in its manifest');
    else if (!skipWhenDependencyFailed(record, records, hooks)) await initialize(record, hooks);
  }
  const initialized = [...records.values()].filter((record) => record.state === 'RUNNING');
  for (const record of initialized) {
    if (hooks.interrupted.aborted) return;
    if (!skipWhenDependencyFailed(record, records, hooks)) await start(record, hooks);
    else await stopFailed(record, hooks);
  }
  if (hooks.interrupted.aborted) return;
  for (const record of records.values()) if (record.state === 'RUNNING') runService(record, hooks);
}

/**
 * Stops the services, then stops and destroys the extensions in reverse order. Always completes within about `budgetMs`: each
 * extension has an equal share of the remaining time. One that takes longer is reported and not awaited any more.
 */
export async function stopExtensions(
  records: ReadonlyMap<string, ExtensionRecord>,
  budgetMs: number,
  { report, release }: Pick<LifecycleHooks, 'report' | 'release'>,
): Promise<void> {
  const until = performance.now() + budgetMs;
  const running = [...records.values()].filter((record) => record.state === 'RUNNING').reverse();
  // All services get the signal to stop before anything is awaited, so that no channel reads another line.
  for (const record of running) record.service?.abort.abort();
  for (const [index, record] of running.entries()) {
    const share = Math.max(10, (until - performance.now()) / (running.length - index));
    const end = async (): Promise<void> => {
      try {
        // An extension is stopped even if its service ignores the signal.
        if (record.service) await withDeadline(record.service.ended, share / 2);
      } finally {
        await tearDown(record.instance);
      }
    };
    try {
      await withDeadline(end(), share);
    } catch (error) {
      const timeout = error instanceof DeadlineError;
      const what = timeout
        ? 'did not stop in time. Let stop and destroy end, and runBackground when its signal aborts'
        : `failed while stopping: ${describeError(error)}`;
      report(problemOf(record.found, timeout ? 'EXTENSION_STOP_TIMEOUT' : 'EXTENSION_STOP_FAILED', what));
    }
    record.state = 'STOPPED';
    release(record.found.manifest.id);
  }
}

/**
 * Runs a background service until `signal` aborts. When it rejects, it is started again after 1 s, then 2 s, 4 s and so on up to
 * 60 s. When it resolves, it has finished and is not started again.
 *
 * @param onFailure - Called with every failure and the delay before the next start, in milliseconds.
 * @returns Resolves when the service has finished or `signal` has aborted. Never rejects.
 */
export async function superviseService(
  service: ServiceProvider,
  signal: AbortSignal,
  onFailure: (error: unknown, waitMs: number) => void,
  firstWaitMs: number = FIRST_WAIT_MS,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      await service.runBackground(signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      failures = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
      const waitMs = backOff(failures, { firstMs: firstWaitMs, maxMs: MAX_WAIT_MS });
      onFailure(error, waitMs);
      await pause(waitMs, signal);
    }
  }
}

// --- internal ---

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
/** When a service fails after it has run this long, the next delay is the first one again. */
const HEALTHY_AFTER_MS = 60_000;

/** Calls `destroy` also when `stop` fails. */
async function tearDown(instance: Extension | undefined): Promise<void> {
  try {
    await instance?.stop();
  } finally {
    await instance?.destroy();
  }
}

const SLOW_MS = 5_000;

/** Waits for one step of one extension, at most for its budget, and not when the kernel has to stop. */
async function step<T>(found: FoundExtension, what: string, work: Promise<T>, hooks: LifecycleHooks): Promise<T> {
  const { interrupted, startBudgetMs } = hooks;
  const slow = setTimeout(() => hooks.onSlow(found, what), SLOW_MS);
  let onAbort: () => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(new Error('the kernel is stopping'));
    if (interrupted.aborted) onAbort();
    else interrupted.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await withDeadline(Promise.race([work, stopped]), startBudgetMs);
  } finally {
    clearTimeout(slow);
    interrupted.removeEventListener('abort', onAbort);
  }
}

async function initialize(record: ExtensionRecord, hooks: LifecycleHooks): Promise<void> {
  const { found } = record;
  if (found.manifest.entrypoint !== undefined) {
    try {
      record.instance = await step(found, 'its import', hooks.load(found), hooks);
    } catch (error) {
      return fail(record, 'EXTENSION_IMPORT_FAILED', `could not be loaded: ${describeError(error)}`, hooks);
    }
    try {
      await step(found, 'initialize', record.instance.initialize(hooks.context(found)), hooks);
    } catch (error) {
      fail(record, 'EXTENSION_INITIALIZE_FAILED', `failed to initialize: ${describeError(error)}`, hooks);
      return stopFailed(record, hooks);
    }
  }
  record.state = 'RUNNING';
}

/** The descriptor is read once, at the start, and checked. */
function descriptorOf(agent: AgentProvider, { manifest }: FoundExtension): AgentDescriptor {
  const descriptor = agent.getAgentDescriptor();
  if (descriptor?.id === manifest.id) return descriptor;
  if ((descriptor as unknown) instanceof Promise) {
    // Nobody waits for it, and its failure would end the process.
    (descriptor as unknown as Promise<unknown>).catch(() => undefined);
    throw new Error('its getAgentDescriptor is async; it has to answer at once');
  }
  throw new Error(`its descriptor has the id "${descriptor?.id}", expected the extension's "${manifest.id}"`);
}

async function start(record: ExtensionRecord, hooks: LifecycleHooks): Promise<void> {
  const { instance, found } = record;
  try {
    if (isAgentProvider(instance)) record.agent = instance;
    else if (found.manifest.agent) record.agent = hooks.declarativeAgent(found);
    if (record.agent) record.descriptor = descriptorOf(record.agent, found);
  } catch (error) {
    fail(record, 'AGENT_NOT_READY', `cannot be an agent: ${describeError(error)}`, hooks);
    return stopFailed(record, hooks);
  }
  try {
    if (found.manifest.agent) await step(found, 'its instructions', hooks.checkAgent(record), hooks);
  } catch (error) {
    fail(record, 'AGENT_NOT_READY', noInstructionsReason(error), hooks);
    return stopFailed(record, hooks);
  }
  try {
    if (instance) await step(found, 'start', instance.start(), hooks);
  } catch (error) {
    fail(record, 'EXTENSION_START_FAILED', `failed to start: ${describeError(error)}`, hooks);
    await stopFailed(record, hooks);
  }
}

function runService(record: ExtensionRecord, hooks: LifecycleHooks): void {
  const { instance, found } = record;
  if (!isServiceProvider(instance)) return;
  const abort = new AbortController();
  const onFailure = (error: unknown, waitMs: number): void => {
    const what = `has a background service that failed (${describeError(error)}); it starts again in ${waitMs / 1000} s. Correct its runBackground`;
    hooks.report(problemOf(found, 'SERVICE_DIED', what));
  };
  record.service = { abort, ended: superviseService(instance, abort.signal, onFailure, hooks.serviceRestartMs) };
}

function skipWhenDependencyFailed(
  record: ExtensionRecord,
  records: ReadonlyMap<string, ExtensionRecord>,
  hooks: LifecycleHooks,
): boolean {
  const { manifest } = record.found;
  const failed = manifest.depends_on.find((id) => records.get(id)?.state !== 'RUNNING');
  if (failed === undefined) return false;
  const reason = dependencyReason(failed, records.get(failed)?.state ?? 'ERROR');
  setState(record, 'SKIPPED', reason);
  hooks.report(
    problemOf(record.found, 'EXTENSION_SKIPPED', `was skipped: ${reason}. Correct that extension first`, 'warning'),
  );
  return true;
}

function fail(record: ExtensionRecord, code: string, what: string, hooks: LifecycleHooks): void {
  // A step that ends because the kernel stops is not a failure.
  if (hooks.interrupted.aborted) {
    setState(record, 'STOPPED', 'the kernel is stopping');
    return;
  }
  setState(record, 'ERROR', what);
  hooks.report(problemOf(record.found, code, what));
}

function setState(record: ExtensionRecord, state: ExtensionRecord['state'], reason: string): void {
  record.state = state;
  record.reason = reason;
}

/** Stops an extension whose start has failed, so that it releases its resources. */
async function stopFailed(record: ExtensionRecord, hooks: LifecycleHooks): Promise<void> {
  const { instance } = record;
  if (!instance) return;
  delete record.agent;
  delete record.descriptor;
  try {
    await withDeadline(tearDown(instance), Math.min(1000, hooks.startBudgetMs));
  } catch (error) {
    hooks.report(
      problemOf(record.found, 'EXTENSION_STOP_FAILED', `failed while stopping: ${describeError(error)}`, 'warning'),
    );
  }
  hooks.release(record.found.manifest.id);
}
