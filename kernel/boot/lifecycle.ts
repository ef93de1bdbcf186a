import { setTimeout as pause } from 'node:timers/promises';
import { backOff } from '../../lib/waiting/index.ts';
import type { AgentDescriptor, AgentProvider, Extension, ServiceProvider } from '../contract.ts';
import { describeError } from '../errors.ts';
import { DeadlineError, untilAborted, withDeadline } from '../turns/deadline.ts';
import { checkAgent, declarativeAgent } from '../turns/turns.ts';
import type { FoundExtension } from './discover.ts';
import { dependencyReason, type ExtensionRecord, NO_INSTRUCTIONS, problemOf, provides } from './extension-record.ts';
import type { KernelState } from './kernel-state.ts';
import { loadApproved } from './loader.ts';
import type { StartOrder } from './start-order.ts';

/** Initializes all in order, starts all, runs services. A failure skips those that depend on it. Never rejects. */
export async function startExtensions({ order, refused }: StartOrder, kernel: KernelState): Promise<void> {
  const { records, interrupted, options } = kernel;
  for (const found of order) {
    const record: ExtensionRecord = { found, state: 'STOPPED' };
    records.set(found.manifest.id, record);
    if (interrupted.aborted) continue;
    const reason = refused.get(found.manifest.id);
    if (reason) setState(record, 'ERROR', reason);
    else if (!found.manifest.enabled && !options.enable?.includes(found.manifest.id))
      setState(record, 'DISABLED', 'enabled: false in its manifest');
    else if (!skipWhenDependencyFailed(record, kernel)) await initialize(record, kernel);
  }
  for (const record of kernel.running()) {
    if (interrupted.aborted) return;
    if (!skipWhenDependencyFailed(record, kernel)) await start(record, kernel);
    else await stopFailed(record, kernel);
  }
  if (interrupted.aborted) return;
  for (const record of kernel.running()) runService(record, kernel);
}

/**
 * Services first, then extensions in reverse order. Each gets an equal share of the time left of `budgets.stop`; one
 * that takes longer is reported and no longer awaited. Never rejects.
 */
export async function stopExtensions({ running: runningNow, budgets, contexts, messages }: KernelState): Promise<void> {
  const until = performance.now() + budgets.stop;
  const running = runningNow().toReversed();
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
 * Restarts a failed service; the delay doubles up to 60 s. Resolves when it ends or `signal` aborts.
 * @param onFailure - `waitMs`: the delay before the next start.
 */
export async function superviseService(
  service: ServiceProvider,
  signal: AbortSignal,
  onFailure: (error: unknown, waitMs: number) => void,
  firstWaitMs: number,
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
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

// --- internal ---

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
async function step<T>(found: FoundExtension, what: string, work: T | Promise<T>, kernel: KernelState): Promise<T> {
  const message = `takes long to start: waiting for its ${what}`;
  const onSlow = (): void => kernel.messages.log({ level: 'warn', extensionId: found.manifest.id, message });
  const slow = setTimeout(onSlow, SLOW_MS);
  try {
    return await withDeadline(untilAborted(work, kernel.interrupted), kernel.budgets.start);
  } finally {
    clearTimeout(slow);
  }
}

type Step = readonly [code: string, failure: string, work: () => unknown];

/** A failure is reported, and the extension stops. @returns whether all steps succeeded. */
async function takeSteps(record: ExtensionRecord, kernel: KernelState, steps: readonly Step[]): Promise<boolean> {
  for (const [code, failure, work] of steps) {
    try {
      await work();
    } catch (error) {
      if (kernel.interrupted.aborted) setState(record, 'STOPPED', 'the kernel is stopping');
      else {
        const reason = `${failure}: ${describeError(error)}`;
        setState(record, 'ERROR', reason);
        kernel.messages.report(problemOf(record.found, code, reason));
      }
      await stopFailed(record, kernel);
      return false;
    }
  }
  return true;
}

async function initialize(record: ExtensionRecord, kernel: KernelState): Promise<void> {
  const { found } = record;
  const load = async (): Promise<void> => {
    const loaded = loadApproved(found, kernel.root.dir, kernel.approvals, kernel.budgets.start);
    record.instance = await step(found, 'its import', loaded, kernel);
  };
  const prepare = () =>
    step(found, 'initialize', record.instance?.initialize(kernel.contexts.contextOf(found)), kernel);
  const steps: readonly Step[] = [
    ['EXTENSION_IMPORT_FAILED', 'could not be loaded', load],
    ['EXTENSION_INITIALIZE_FAILED', 'failed to initialize', prepare],
  ];
  const hasCode = found.manifest.entrypoint !== undefined;
  if (await takeSteps(record, kernel, hasCode ? steps : [])) record.state = 'RUNNING';
}

async function start(record: ExtensionRecord, kernel: KernelState): Promise<void> {
  const { instance, found } = record;
  const describe = (): void => {
    if (provides<AgentProvider>(instance, 'invoke', 'getAgentDescriptor')) record.agent = instance;
    else if (found.manifest.agent) record.agent = declarativeAgent(kernel, found);
    if (record.agent) record.descriptor = descriptorOf(record.agent, found);
  };
  const check = () => found.manifest.agent && step(found, 'its instructions', checkAgent(kernel, record), kernel);
  const begin = () => instance && step(found, 'start', instance.start(), kernel);
  await takeSteps(record, kernel, [
    ['AGENT_NOT_READY', 'cannot be an agent', describe],
    ['AGENT_NOT_READY', NO_INSTRUCTIONS, check],
    ['EXTENSION_START_FAILED', 'failed to start', begin],
  ]);
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

function runService(record: ExtensionRecord, kernel: KernelState): void {
  const { instance, found } = record;
  if (!provides<ServiceProvider>(instance, 'runBackground')) return;
  const abort = new AbortController();
  const onFailure = (error: unknown, waitMs: number): void => {
    const what = `has a background service that failed (${describeError(error)}); it starts again in ${waitMs / 1000} s. Correct its runBackground`;
    kernel.messages.report(problemOf(found, 'SERVICE_DIED', what));
  };
  record.service = { abort, ended: superviseService(instance, abort.signal, onFailure, kernel.budgets.serviceRestart) };
}

function skipWhenDependencyFailed(record: ExtensionRecord, { records, messages }: KernelState): boolean {
  const { manifest } = record.found;
  const failed = manifest.depends_on.find((id) => records.get(id)?.state !== 'RUNNING');
  if (failed === undefined) return false;
  const reason = dependencyReason(failed, records.get(failed)?.state ?? 'ERROR');
  setState(record, 'SKIPPED', reason);
  const what = `was skipped: ${reason}. Correct that extension first`;
  messages.report(problemOf(record.found, 'EXTENSION_SKIPPED', what, 'warning'));
  return true;
}

function setState(record: ExtensionRecord, state: ExtensionRecord['state'], reason: string): void {
  record.state = state;
  record.reason = reason;
}

/** An extension that failed to start has to release its resources. */
async function stopFailed(record: ExtensionRecord, kernel: KernelState): Promise<void> {
  const { instance } = record;
  if (!instance) return;
  delete record.agent;
  delete record.descriptor;
  try {
    await withDeadline(tearDown(instance), Math.min(1000, kernel.budgets.start));
  } catch (error) {
    const what = `failed while stopping: ${describeError(error)}`;
    kernel.messages.report(problemOf(record.found, 'EXTENSION_STOP_FAILED', what, 'warning'));
  }
  kernel.contexts.release(record.found.manifest.id);
}
