import { CodedError } from 'skill-registry/kernel';
import type { HubStore } from '../store/hub-store.ts';
import type { HubFeed } from '../wire.ts';

export interface Poll {
  readonly space: string;
  readonly after: number;
  readonly epoch: string | undefined;
  readonly waitSeconds: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly isLetIn: () => Promise<boolean>;
}

/** Waits until something is newer, or the time is over. @throws HUB_NO_PRINCIPAL once `isLetIn` says no. */
export async function waitForFeed(store: HubStore, poll: Poll): Promise<HubFeed> {
  const { space, after, epoch, waitSeconds, signal, isLetIn } = poll;
  const ends = Date.now() + waitSeconds * 1000;
  for (;;) {
    // Before the look, so that no change falls between the two.
    const changed = nextChange(store, space, Math.min(LOOK_MS, ends - Date.now()), signal);
    const state = await store.state(space);
    const isOther = (epoch !== undefined && epoch !== state.epoch) || after > state.head;
    const isOver = Date.now() >= ends || signal.aborted;
    if (isOther || isOver || state.head > after) {
      changed.stop();
      const found = isOther ? [] : await store.changes(space, after, MOST_CHANGES);
      // One that came since the head was read is in it, too.
      const head = Math.max(state.head, found.at(-1)?.seq ?? 0);
      return { epoch: state.epoch, head, more: found.length === MOST_CHANGES, changes: found };
    }
    await changed.promise;
    if (!(await isLetIn())) throw new CodedError('HUB_NO_PRINCIPAL', 'You are not let in any more.');
  }
}

// --- internal ---

const MOST_CHANGES = 500;
/** How often a wait looks whether its token is over; of a revocation it is told, as of every change. */
const LOOK_MS = 5000;

function nextChange(store: HubStore, space: string, ms: number, signal: AbortSignal) {
  let stop: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    const timer = setTimeout(() => stop(), Math.max(0, ms));
    const unsubscribe = store.onChange((changed) => {
      if (changed === space) stop();
    });
    const onAbort = (): void => stop();
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
  });
  return { promise, stop };
}
