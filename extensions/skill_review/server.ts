import type { MiddlewareHandler } from 'hono';
import { CodedError, describeError } from 'skill-registry/kernel';
import { invalidArgument } from '../../lib/forms/index.ts';
import { createMarkdownReader } from '../../lib/markdown/index.ts';
import { serve } from '../../lib/serving/index.ts';
import type { TeamPages, TeamPagesOptions } from '../skill_registry/api.ts';
import { type Access, checksBehind, createAccess } from './access.ts';
import { createApp } from './app.ts';
import { createLiveUpdates } from './live.ts';
import type { Review, ReviewEnv } from './review.ts';

export interface ReviewServerOptions
  extends Pick<Review, 'registry' | 'root' | 'isHeldReadable' | 'isTrusted' | 'agents'> {
  /** `person:<name>` */
  readonly by: string;
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
  const { by, port = 0, onError = () => undefined, ...given } = options;
  if (!/^person:.*\S/.test(by) || by.length > 200 || CONTROL.test(by))
    throw invalidArgument(`Only a person decides on the review page, and ${JSON.stringify(by)} is none.`);
  const access = createAccess(by);
  const { app, close } = await openPages({ ...given, isOfTeam: false }, access.checks, onError);
  const served = await serve({ fetch: app.fetch, host: '127.0.0.1', port, onError }).catch((error: unknown) => {
    close();
    throw listenFailed(port, error);
  });
  access.listensOn(served.port);
  return {
    url: `http://127.0.0.1:${served.port}${access.entrance}`,
    close: () => served.close(close),
  };
}

/** The pages of a team, for a server that has let a person in: it answers without asking who that is. */
export async function openTeamPages({ registry, name, onError }: TeamPagesOptions): Promise<TeamPages> {
  const admit: MiddlewareHandler<ReviewEnv> = async (context, next) => {
    const { by, csrf } = context.env as { by?: string; csrf?: string };
    if (by === undefined || csrf === undefined) return context.text('Not let in', 401);
    context.set('by', by);
    context.set('csrf', csrf);
    return next();
  };
  const agents = async () => registry.admin.agents();
  const no = (): boolean => false;
  const given = { registry, root: name, agents, isTrusted: no, isHeldReadable: no, isOfTeam: true };
  const { app, close } = await openPages(given, checksBehind(admit), onError);
  return { answer: async (request, admitted) => app.fetch(request, admitted), close };
}

// --- internal ---

async function openPages(
  given: Omit<Review, 'features' | 'markdown' | 'changed' | 'count'>,
  checks: Access['checks'],
  onError: (error: Error) => void,
) {
  const features = await given.registry.admin.reviewPages();
  const live = createLiveUpdates({ ...given, features });
  const markdown = createMarkdownReader();
  const review: Review = { ...given, features, markdown, changed: live.changed, count: live.count };
  const close = (): void => {
    live.close();
    markdown.close();
  };
  return { app: createApp(review, checks, live, onError), close };
}

/** Every actor's name refuses these characters. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function listenFailed(port: number, cause: unknown): CodedError {
  const { code } = cause as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is taken' : describeError(cause);
  const message = `Cannot listen on 127.0.0.1, port ${port}: ${reason}. Give another port; 0 takes a free one.`;
  return new CodedError('REVIEW_LISTEN_FAILED', message, { port }, cause);
}
