import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import { heldExtensions } from '../../kernel/host.ts';
import type { Review, ReviewEnv } from './review.ts';

/** Tells open pages that something has changed, by server-sent events. */
export interface LiveUpdates {
  readonly changed: () => void;
  readonly count: () => number;
  /** `GET /events`: an event `count` at once, and one after each change. */
  readonly handler: Handler<ReviewEnv>;
  /** Ends all streams. */
  close(): void;
}

/** Changes within this time, in milliseconds, are one event. */
const PAUSE_MS = 100;
/** Interval of comments on a stream in milliseconds: writing fails when its reader is gone. */
const ALIVE_MS = 20_000;

/** Interval of looking for changes of other processes in milliseconds, while a page is open. */
const LOOK_MS = 1_000;

export function createLiveUpdates({
  registry,
  root,
  isHeldReadable,
}: Pick<Review, 'registry' | 'root' | 'isHeldReadable'>): LiveUpdates {
  const senders = new Set<() => void>();
  const ends = new Set<() => void>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    count += 1;
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const send of senders) send();
    }, PAUSE_MS).unref();
  };
  /** What waited at the last look: another process may have decided since. */
  let waited: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const proposals = (await registry.proposals.list()).map(({ id, state, version }) => [id, state, version]);
      const held = isHeldReadable() ? heldExtensions(root).map(({ name, digest }) => [name, digest]) : [];
      const waits = JSON.stringify([proposals, held]);
      if (waited !== undefined && waited !== waits) changed();
      waited = waits;
    } catch {
      // The pages show why it cannot be read.
    } finally {
      isLooking = false;
    }
  };
  void look();
  const looks = setInterval(() => void (senders.size > 0 && look()), LOOK_MS).unref();
  const stops = [registry.onChange(changed), registry.proposals.onArrival(changed), () => clearInterval(looks)];
  return {
    changed,
    count: () => count,
    handler: (context) =>
      streamSSE(
        context,
        async (stream) => {
          const send = (): void => void stream.writeSSE({ event: 'count', data: String(count) });
          const alive = setInterval(() => void stream.write(': alive\n\n'), ALIVE_MS).unref();
          await new Promise<void>((resolve) => {
            ends.add(resolve);
            senders.add(send);
            stream.onAbort(resolve);
            send();
            void look();
            context.req.raw.signal.addEventListener('abort', () => resolve());
          }).finally(() => clearInterval(alive));
          senders.delete(send);
        },
        // Without this function failures would be printed. The stream has ended, and the browser connects again.
        async () => undefined,
      ),
    close() {
      for (const stop of stops) stop();
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}
