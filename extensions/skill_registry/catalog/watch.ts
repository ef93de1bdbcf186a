import { describeError } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../config.ts';
import type { Catalog } from './catalog.ts';
import { createFolderEvents, type FolderEvents } from './folder-events.ts';

export interface WatchOptions {
  readonly catalog: Catalog;
  readonly watch: SkillRegistryConfig['watch'];
  readonly scanDepth: number;
  /** How changes are seen from now on; `problem` says why it is not what was asked for. */
  onMode(mode: 'events' | 'poll', problem?: string): void;
  onError(error: unknown): void;
}

/** Events come in bursts (an editor writes, renames, touches), and some bursts do not end. */
const QUIET_MS = 100;
const BURST_MS = 400;

/**
 * Refreshes the catalog until `signal` aborts: on file events, and every interval as a net for what gives no events (network
 * file systems). An event only wakes the refresh, which finds out itself what changed. When the system has no more watches,
 * polling goes on alone.
 */
export async function watchCatalog(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { catalog, watch, onMode, onError } = options;
  if (watch.mode === 'off' || signal.aborted) return;
  let events: FolderEvents | undefined;
  const follow = (): void => events?.follow(catalog.sources().flatMap((source) => source.watchFolders()));
  const refresh = (): void => {
    if (!signal.aborted) catalog.refresh().then(follow).catch(onError);
  };
  const burst = createBurst(refresh);
  const endEvents = async (): Promise<void> => {
    // Taken away first: a refresh that is still under way must not start it again.
    const ending = events;
    events = undefined;
    await ending?.close();
  };
  if (watch.mode === 'events') {
    events = createFolderEvents({
      // References and scripts of a skill lie below the depth at which skills are looked for.
      depth: options.scanDepth + 4,
      wake: burst.wake,
      onError(error) {
        const code = (error as NodeJS.ErrnoException).code;
        if (code === 'ENOSPC' || code === 'EMFILE' || code === 'ENFILE') {
          onMode('poll', `the system has no more file watches (${code}), so changes are seen by polling`);
          endEvents().catch(onError);
        } else {
          // One folder that cannot be watched is still polled.
          onMode('events', `a folder cannot be watched: ${describeError(error)}`);
        }
      },
    });
  }
  onMode(watch.mode);
  follow();
  // A source that was added is watched from the moment its skills are there.
  const unsubscribe = catalog.onChange(follow);

  const poll = setInterval(refresh, watch.interval_seconds * 1000);
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  unsubscribe();
  clearInterval(poll);
  await endEvents();
  burst.cancel();
}

/** Calls `act` once when a burst of wakes has been quiet for 100 ms, or goes on for 400 ms. */
export function createBurst(act: () => void): { wake(): void; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let until = 0;
  return {
    wake() {
      const now = performance.now();
      if (!timer) until = now + BURST_MS;
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          act();
        },
        Math.max(0, Math.min(QUIET_MS, until - now)),
      );
    },
    cancel: () => clearTimeout(timer),
  };
}
