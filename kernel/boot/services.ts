import type { ServiceProvider } from '../contract.ts';
import { pause } from '../turns/deadline.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** A service that ran this long has recovered: its next failure waits the first wait again. */
const HEALTHY_AFTER_MS = 60_000;

/**
 * Keeps a background service running until `signal` aborts. A rejection is reported and the service started again after
 * 1 s, then 2 s, 4 s and so on up to 60 s; one that resolves has finished and is left alone.
 *
 * @param onDeath - Told of every failure and of the wait before the next start.
 * @returns resolves when the service has ended for good. Never rejects.
 */
export async function superviseService(
  service: ServiceProvider,
  signal: AbortSignal,
  onDeath: (error: unknown, waitMs: number) => void,
  firstWaitMs: number = FIRST_WAIT_MS,
): Promise<void> {
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      await service.runBackground(signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (performance.now() - startedAt > HEALTHY_AFTER_MS) waitMs = firstWaitMs;
      onDeath(error, waitMs);
      await pause(waitMs, signal);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }
}
