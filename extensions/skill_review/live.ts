import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import { heldExtensions } from '../../kernel/host.ts';
import type { Review, ReviewEnv } from './review.ts';

export interface LiveUpdates {
  /** A person of this server has decided. Resolves when a look will not find that again. */
  readonly changed: () => Promise<void>;
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
  let last: Promise<void> = Promise.resolve();
  const look = (tells: boolean): Promise<void> => {
    last = last
      .then(async () => {
        const states = await Promise.all(features.map((one) => one.state?.(registry)));
        const held = isHeldReadable() ? heldExtensions(root).map(({ name, digest }) => [name, digest]) : [];
        const waits = JSON.stringify([states, held]);
        if (tells && waited !== undefined && waited !== waits) changed();
        waited = waits;
        // The pages show the reason.
      })
      .catch(() => undefined);
    return last;
  };
  void look(true);
  let isLooking = false;
  const looks = setInterval(async () => {
    if (senders.size === 0 || isLooking) return;
    isLooking = true;
    await look(true);
    isLooking = false;
  }, LOOK_MS).unref();
  const watched = features.flatMap((one) => one.watch?.(registry, changed) ?? []);
  const stops = [registry.onChange(changed), ...watched, () => clearInterval(looks)];
  return {
    changed() {
      changed();
      return look(false);
    },
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
            void look(true);
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
