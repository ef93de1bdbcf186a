import { backOff } from '../../lib/waiting/index.ts';
import type { AgentDescriptor, AgentProvider, Extension, ServiceProvider } from '../contract.ts';
import { describeError } from '../errors.ts';
import { DeadlineError, pause, untilAborted, withDeadline } from '../turns/deadline.ts';
import type { Turns } from '../turns/turns.ts';
import type { FoundExtension } from './discover.ts';
import type { ExtensionContexts } from './extension-context.ts';
import { dependencyReason, type ExtensionRecord, NO_INSTRUCTIONS, problemOf, provides } from './extension-record.ts';
import type { Messages } from './messages.ts';
import type { StartOrder } from './start-order.ts';

export interface LifecycleParts {
  /** In milliseconds. */
  readonly budgets: Readonly<Record<'start' | 'stop' | 'serviceRestart', number>>;
  /** Aborts when the kernel has to stop: nothing more starts, and running steps are not awaited. */
  readonly interrupted: AbortSignal;
  readonly contexts: ExtensionContexts;
  readonly messages: Messages;
  readonly turns: Turns;
  readonly enable: readonly string[];
  load(found: FoundExtension): Promise<Extension>;
}

/** Initializes all in order, starts all, runs services. A failure skips those that depend on it. Never rejects. */
export async function startExtensions(
  { order, refused }: StartOrder,
  records: Map<string, ExtensionRecord>,
  parts: LifecycleParts,
): Promise<void> {
  for (const found of order) {
    const record: ExtensionRecord = { found, state: 'STOPPED' };
    records.set(found.manifest.id, record);
    if (parts.interrupted.aborted) continue;
    const reason = refused.get(found.manifest.id);
    if (reason) setState(record, 'ERROR', reason);
    else if (!found.manifest.enabled && !parts.enable.includes(found.manifest.id))
      setState(record, 'DISABLED', 'enabled: false in its manifest');
    else if (!skipWhenDependencyFailed(record, records, parts)) await initialize(record, parts);
  }
  const initialized = [...records.values()].filter((record) => record.state === 'RUNNING');
  for (const record of initialized) {
    if (parts.interrupted.aborted) return;
    if (!skipWhenDependencyFailed(record, records, parts)) await start(record, parts);
    else await stopFailed(record, parts);
  }
  if (parts.interrupted.aborted) return;
  for (const record of records.values()) if (record.state === 'RUNNING') runService(record, parts);
}

/**
 * Services first, then extensions in reverse order. Each gets an equal share of the time left of `budgets.stop`; one
 * that takes longer is reported and no longer awaited. Never rejects.
 */
export async function stopExtensions(
  records: ReadonlyMap<string, ExtensionRecord>,
  { budgets, contexts, messages }: LifecycleParts,
): Promise<void> {
  const until = performance.now() + budgets.stop;
  const running = [...records.values()].filter((record) => record.state === 'RUNNING').reverse();
  // All services get the signal before anything is awaited: no channel may read another line.
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
      messages.report(problemOf(record.found, timeout ? 'EXTENSION_STOP_TIMEOUT' : 'EXTENSION_STOP_FAILED', what));
    }
    record.state = 'STOPPED';
    contexts.release(record.found.manifest.id);
  }
}

/**
 * Restarts a failed service after 1 s, 2 s, 4 s and so on up to 60 s. Resolves when it ends or `signal` aborts.
 * @param onFailure - `waitMs`: the delay before the next start.
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
/** After it has run this long, a failure counts as the first one. */
const HEALTHY_AFTER_MS = 60_000;

async function tearDown(instance: Extension | undefined): Promise<void> {
  try {
    await instance?.stop();
  } finally {
    await instance?.destroy();
  }
}

const SLOW_MS = 5_000;

/** Waits at most for the budget, and not when the kernel has to stop. */
async function step<T>(found: FoundExtension, what: string, work: T | Promise<T>, parts: LifecycleParts): Promise<T> {
  const message = `takes long to start: waiting for its ${what}`;
  const onSlow = (): void => parts.messages.log({ level: 'warn', extensionId: found.manifest.id, message });
  const slow = setTimeout(onSlow, SLOW_MS);
  try {
    return await withDeadline(untilAborted(work, parts.interrupted), parts.budgets.start);
  } finally {
    clearTimeout(slow);
  }
}

/** A failure is reported, and the extension stops. @returns whether `work` succeeded. */
async function attempt(
  record: ExtensionRecord,
  [code, what]: readonly [code: string, what: string],
  work: () => unknown,
  parts: LifecycleParts,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (parts.interrupted.aborted) setState(record, 'STOPPED', 'the kernel is stopping');
    else {
      const reason = `${what}: ${describeError(error)}`;
      setState(record, 'ERROR', reason);
      parts.messages.report(problemOf(record.found, code, reason));
    }
    await stopFailed(record, parts);
    return false;
  }
}

async function initialize(record: ExtensionRecord, parts: LifecycleParts): Promise<void> {
  const { found } = record;
  const load = async (): Promise<void> => {
    record.instance = await step(found, 'its import', parts.load(found), parts);
  };
  const prepare = () => step(found, 'initialize', record.instance?.initialize(parts.contexts.contextOf(found)), parts);
  const isReady =
    found.manifest.entrypoint === undefined ||
    ((await attempt(record, ['EXTENSION_IMPORT_FAILED', 'could not be loaded'], load, parts)) &&
      (await attempt(record, ['EXTENSION_INITIALIZE_FAILED', 'failed to initialize'], prepare, parts)));
  if (isReady) record.state = 'RUNNING';
}

async function start(record: ExtensionRecord, parts: LifecycleParts): Promise<void> {
  const { instance, found } = record;
  const describe = (): void => {
    if (provides<AgentProvider>(instance, 'invoke', 'getAgentDescriptor')) record.agent = instance;
    else if (found.manifest.agent) record.agent = parts.turns.declarativeAgent(found);
    if (record.agent) record.descriptor = descriptorOf(record.agent, found);
  };
  const check = () => found.manifest.agent && step(found, 'its instructions', parts.turns.check(record), parts);
  const begin = () => instance && step(found, 'start', instance.start(), parts);
  if (!(await attempt(record, ['AGENT_NOT_READY', 'cannot be an agent'], describe, parts))) return;
  if (!(await attempt(record, ['AGENT_NOT_READY', NO_INSTRUCTIONS], check, parts))) return;
  await attempt(record, ['EXTENSION_START_FAILED', 'failed to start'], begin, parts);
}

function descriptorOf(agent: AgentProvider, { manifest }: FoundExtension): AgentDescriptor {
  const descriptor = agent.getAgentDescriptor();
  if (descriptor?.id === manifest.id) return descriptor;
  if ((descriptor as unknown) instanceof Promise) {
    // Nobody waits for it: its rejection would end the process.
    (descriptor as unknown as Promise<unknown>).catch(() => undefined);
    throw new Error('its getAgentDescriptor is async; it has to answer at once');
  }
  throw new Error(`its descriptor has the id "${descriptor?.id}", expected the extension's "${manifest.id}"`);
}

function runService(record: ExtensionRecord, parts: LifecycleParts): void {
  const { instance, found } = record;
  if (!provides<ServiceProvider>(instance, 'runBackground')) return;
  const abort = new AbortController();
  const onFailure = (error: unknown, waitMs: number): void => {
    const what = `has a background service that failed (${describeError(error)}); it starts again in ${waitMs / 1000} s. Correct its runBackground`;
    parts.messages.report(problemOf(found, 'SERVICE_DIED', what));
  };
  record.service = { abort, ended: superviseService(instance, abort.signal, onFailure, parts.budgets.serviceRestart) };
}

function skipWhenDependencyFailed(
  record: ExtensionRecord,
  records: ReadonlyMap<string, ExtensionRecord>,
  parts: LifecycleParts,
): boolean {
  const { manifest } = record.found;
  const failed = manifest.depends_on.find((id) => records.get(id)?.state !== 'RUNNING');
  if (failed === undefined) return false;
  const reason = dependencyReason(failed, records.get(failed)?.state ?? 'ERROR');
  setState(record, 'SKIPPED', reason);
  parts.messages.report(
    problemOf(record.found, 'EXTENSION_SKIPPED', `was skipped: ${reason}. Correct that extension first`, 'warning'),
  );
  return true;
}

function setState(record: ExtensionRecord, state: ExtensionRecord['state'], reason: string): void {
  record.state = state;
  record.reason = reason;
}

/** An extension that failed to start has to release its resources. */
async function stopFailed(record: ExtensionRecord, parts: LifecycleParts): Promise<void> {
  const { instance } = record;
  if (!instance) return;
  delete record.agent;
  delete record.descriptor;
  try {
    await withDeadline(tearDown(instance), Math.min(1000, parts.budgets.start));
  } catch (error) {
    parts.messages.report(
      problemOf(record.found, 'EXTENSION_STOP_FAILED', `failed while stopping: ${describeError(error)}`, 'warning'),
    );
  }
  parts.contexts.release(record.found.manifest.id);
}
