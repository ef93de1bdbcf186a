import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Review, ReviewEnv } from './review.ts';

/** Tells open pages that something has changed, by server-sent events. */
export interface Live {
  readonly changed: () => void;
  readonly count: () => number;
  /** `GET /events`: an event `count` at once, and one after each change. */
  readonly handler: Handler<ReviewEnv>;
  /** Ends all streams. */
  close(): void;
}

/** Changes within this time are told as one, in milliseconds. */
const PAUSE_MS = 100;
/** How often a stream says that it is there, so that one whose reader is gone is noticed, in milliseconds. */
const ALIVE_MS = 20_000;

export function createLive({ registry }: Pick<Review, 'registry'>): Live {
  const tells = new Set<() => void>();
  const ends = new Set<() => void>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    count += 1;
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const tell of tells) tell();
    }, PAUSE_MS).unref();
  };
  const stops = [registry.onChange(changed), registry.proposals.onArrival(changed)];
  return {
    changed,
    count: () => count,
    handler: (context) =>
      streamSSE(
        context,
        async (stream) => {
          const tell = (): void => void stream.writeSSE({ event: 'count', data: String(count) });
          const alive = setInterval(() => void stream.write(': alive\n\n'), ALIVE_MS).unref();
          await new Promise<void>((resolve) => {
            ends.add(resolve);
            tells.add(tell);
            stream.onAbort(resolve);
            tell();
            context.req.raw.signal.addEventListener('abort', () => resolve());
          }).finally(() => clearInterval(alive));
          tells.delete(tell);
        },
        // Without it, failures would be printed. The stream is over, and its reader connects again.
        async () => undefined,
      ),
    close() {
      for (const stop of stops) stop();
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}
