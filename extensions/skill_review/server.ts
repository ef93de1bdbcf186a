import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createMarkdownReader } from '../../lib/markdown/index.ts';
import { createApp } from './app.ts';
import { invalidArgument, listenFailed } from './errors.ts';
import { createGuard } from './guard.ts';
import { createLiveUpdates } from './live.ts';
import type { Review } from './review.ts';

export interface ReviewServerOptions extends Omit<Review, 'changed' | 'count' | 'markdown'> {
  /** On 127.0.0.1. 0: any free port. Default: 0. */
  readonly port?: number;
  /** Called for each failure that is not the fault of a request. */
  readonly onError?: (error: Error) => void;
}

/** A review page that is served. */
export interface ReviewServing {
  /** The address with the token, which gives access until `close`. Show it only to that person. */
  readonly url: string;
  /** Accepts no more requests, waits up to a second for running ones, then closes all connections. */
  close(): Promise<void>;
}

/**
 * Serves the review page on loopback.
 *
 * @throws INVALID_ARGUMENT when `by` is no person; REVIEW_LISTEN_FAILED.
 */
export async function serveReview(options: ReviewServerOptions): Promise<ReviewServing> {
  const { port = 0, onError = () => undefined, ...given } = options;
  if (!/^person:.*\S/.test(given.by) || given.by.length > 200 || CONTROL.test(given.by))
    throw invalidArgument(`Only a person decides on the review page, and ${JSON.stringify(given.by)} is none.`);
  const live = createLiveUpdates(given);
  const markdown = createMarkdownReader();
  const review: Review = { ...given, markdown, changed: live.changed, count: live.count };
  const guard = createGuard();
  const app = createApp(review, guard, live, onError);
  const limits = { requestTimeout: 30_000, headersTimeout: 30_000, connectionsCheckingInterval: 1000 };
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: limits }) as Server;
  await listen(server, port).catch((error: unknown) => {
    live.close();
    throw error;
  });
  server.on('error', onError);
  const { port: taken } = server.address() as AddressInfo;
  guard.listensOn(taken);
  let closing: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${taken}${guard.entrance}`,
    close() {
      closing ??= (async () => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        live.close();
        markdown.close();
        server.closeIdleConnections();
        await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
        server.closeAllConnections();
        await closed;
      })();
      return closing;
    },
  };
}

// --- internal ---

/** As in the name of every actor. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** How long closing waits for running requests, in milliseconds. */
const GRACE_MS = 1_000;

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(listenFailed(port, error));
    server.once('error', onError);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', onError);
      resolve();
    });
  });
}
