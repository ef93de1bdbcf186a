import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from 'skill-registry/kernel';
import type { Team } from '../team/team.ts';
import type { HubFeed } from '../wire.ts';

export interface Poll {
  readonly after: number;
  readonly epoch: string | undefined;
  readonly waitSeconds: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly isLetIn: () => Promise<boolean>;
}

/** Waits until something is newer, or the time is over. @throws HUB_NO_PRINCIPAL once `isLetIn` says no. */
export async function waitForFeed({ store, space }: Team, poll: Poll): Promise<HubFeed> {
  const { after, epoch, waitSeconds, signal, isLetIn } = poll;
  const ends = Date.now() + waitSeconds * 1000;
  for (;;) {
    // Before the look, so that no change falls between the two.
    const changed = new AbortController();
    const unsubscribe = store.onChange((one) => {
      if (one === space) changed.abort();
    });
    try {
      const state = await store.state(space);
      const isOther = (epoch !== undefined && epoch !== state.epoch) || after > state.head;
      const left = ends - Date.now();
      if (isOther || left <= 0 || signal.aborted || state.head > after) {
        const found = isOther ? [] : await store.changes(space, after, MOST_CHANGES);
        // One that came since the head was read is in it, too.
        const head = Math.max(state.head, found.at(-1)?.seq ?? 0);
        return { epoch: state.epoch, head, more: found.length === MOST_CHANGES, changes: found };
      }
      const woken = AbortSignal.any([signal, changed.signal]);
      await sleep(Math.min(LOOK_MS, left), undefined, { signal: woken }).catch(() => undefined);
    } finally {
      unsubscribe();
    }
    if (!(await isLetIn())) throw new CodedError('HUB_NO_PRINCIPAL', 'You are not let in any more.');
  }
}

// --- internal ---

const MOST_CHANGES = 500;
/** How often a wait looks whether its token is over; of a revocation it is told, as of every change. */
const LOOK_MS = 5000;
