import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import { heldExtensions } from '../../kernel/host.ts';
import type { Review, ReviewEnv } from './review.ts';

export interface LiveUpdates {
  readonly changed: () => void;
  readonly count: () => number;
  /** `GET /events`: sends `count` at once and after each change. */
  readonly handler: Handler<ReviewEnv>;
  close(): void;
}

/** Changes within this time become one event. */
const PAUSE_MS = 100;
/** Comments keep a stream alive: writing one fails when the reader is gone. */
const ALIVE_MS = 20_000;

/** While a page is open, looks this often for changes by other processes. */
const LOOK_MS = 1_000;

export function createLiveUpdates({
  registry,
  features,
  root,
  isHeldReadable,
}: Pick<Review, 'registry' | 'features' | 'root' | 'isHeldReadable'>): LiveUpdates {
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
  /** The last state: another process may decide. */
  let waited: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const states = await Promise.all(features.map((one) => one.state?.(registry)));
      const held = isHeldReadable() ? heldExtensions(root).map(({ name, digest }) => [name, digest]) : [];
      const waits = JSON.stringify([states, held]);
      if (waited !== undefined && waited !== waits) changed();
      waited = waits;
    } catch {
      // The pages show the reason.
    } finally {
      isLooking = false;
    }
  };
  void look();
  const looks = setInterval(() => void (senders.size > 0 && look()), LOOK_MS).unref();
  const watched = features.flatMap((one) => one.watch?.(registry, changed) ?? []);
  const stops = [registry.onChange(changed), ...watched, () => clearInterval(looks)];
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
        // Without this function hono prints failures. The stream has ended, and the browser connects again.
        async () => undefined,
      ),
    close() {
      for (const stop of stops) stop();
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}
