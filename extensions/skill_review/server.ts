import { CodedError, describeError } from 'skill-registry/kernel';
import { invalidArgument } from '../../lib/forms/index.ts';
import { createMarkdownReader } from '../../lib/markdown/index.ts';
import { serve } from '../../lib/serving/index.ts';
import { createApp } from './app.ts';
import { createGuard } from './guard.ts';
import { createLiveUpdates } from './live.ts';
import type { Review } from './review.ts';

export interface ReviewServerOptions
  extends Pick<Review, 'registry' | 'root' | 'by' | 'isHeldReadable' | 'isTrusted' | 'agents'> {
  /** On 127.0.0.1. Default: 0, which takes any free port. */
  readonly port?: number;
  /** Called for failures that no request caused. */
  readonly onError?: (error: Error) => void;
}

export interface ReviewServing {
  /** Contains the token, which gives access until `close`: show it only to that person. */
  readonly url: string;
  /** Refuses new requests, waits up to a second for running ones, then closes all connections. */
  close(): Promise<void>;
}

/** @throws INVALID_ARGUMENT when `by` is not a person; REVIEW_LISTEN_FAILED */
export async function serveReview(options: ReviewServerOptions): Promise<ReviewServing> {
  const { port = 0, onError = () => undefined, ...given } = options;
  if (!/^person:.*\S/.test(given.by) || given.by.length > 200 || CONTROL.test(given.by))
    throw invalidArgument(`Only a person decides on the review page, and ${JSON.stringify(given.by)} is none.`);
  const features = await given.registry.admin.reviewPages();
  const live = createLiveUpdates({ ...given, features });
  const markdown = createMarkdownReader();
  const review: Review = { ...given, features, markdown, changed: live.changed, count: live.count };
  const guard = createGuard();
  const app = createApp(review, guard, live, onError);
  const served = await serve({ fetch: app.fetch, host: '127.0.0.1', port, onError }).catch((error: unknown) => {
    live.close();
    throw listenFailed(port, error);
  });
  guard.listensOn(served.port);
  return {
    url: `http://127.0.0.1:${served.port}${guard.entrance}`,
    close: () =>
      served.close(() => {
        live.close();
        markdown.close();
      }),
  };
}

// --- internal ---

/** Every actor's name refuses these characters. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function listenFailed(port: number, cause: unknown): CodedError {
  const { code } = cause as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is taken' : describeError(cause);
  const message = `Cannot listen on 127.0.0.1, port ${port}: ${reason}. Give another port; 0 takes a free one.`;
  return new CodedError('REVIEW_LISTEN_FAILED', message, { port }, cause);
}
