import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { isCodedError } from 'skill-registry/kernel';
import { builtExtensions } from '../../kernel/host.ts';
import { type Answer, pageNotFound } from '../../lib/forms/index.ts';
import { html } from '../../lib/html/index.ts';
import { type Access, ASSETS } from './access.ts';
import { page, STYLES } from './layout.ts';
import type { LiveUpdates } from './live.ts';
import { catalogPages } from './pages/catalog.ts';
import { decisionPages } from './pages/decisions.ts';
import { extensionPages } from './pages/extension.ts';
import { inboxPages } from './pages/inbox.ts';
import { problemPages } from './pages/problems.ts';
import { skillPages } from './pages/skill.ts';
import { skillAgentsPages } from './pages/skill-agents.ts';
import { skillFilesPages } from './pages/skill-files.ts';
import { requestOf } from './request.ts';
import type { CorePages, CoreRequest, Review, ReviewApp, ReviewContext, ReviewEnv } from './review.ts';

export function createApp(
  review: Review,
  checks: Access['checks'],
  live: LiveUpdates,
  onError: (error: Error) => void,
): ReviewApp {
  const app: ReviewApp = new Hono<ReviewEnv>();
  app.use(...checks);
  for (const [name, type] of Object.entries(FILES)) {
    const bytes = readFileSync(join(builtExtensions(), 'skill_review', 'assets', name));
    app.get(`${ASSETS}${name}`, (context) => context.body(bytes, 200, { 'Content-Type': type }));
  }
  app.get('/events', live.handler);
  for (const { get = {}, post = {} } of [...(review.isOfTeam ? [] : OF_ROOT), ...PAGES, ...review.features]) {
    for (const [path, handle] of Object.entries(get)) app.get(path, (context) => answer(context, review, handle));
    for (const [path, handle] of Object.entries(post)) app.post(path, (context) => answer(context, review, handle));
  }
  app.notFound((context) => failed(context as ReviewContext, review, pageNotFound()));
  app.onError((error, context) => {
    if (!isCodedError(error)) onError(error);
    return failed(context as ReviewContext, review, error);
  });
  return app;
}

// --- internal ---

const PAGES: readonly CorePages[] = [
  inboxPages,
  problemPages,
  skillPages,
  skillFilesPages,
  skillAgentsPages,
  catalogPages,
];

const OF_ROOT: readonly CorePages[] = [decisionPages, extensionPages];

const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(STYLES.map((name) => [name, 'text/css; charset=utf-8'])),
  'review.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

async function answer(
  context: ReviewContext,
  review: Review,
  handle: (request: CoreRequest) => Answer | Promise<Answer>,
): Promise<Response> {
  const given = await handle(await requestOf(context, review));
  if ('text' in given) return context.text(given.text);
  if ('redirect' in given) return context.redirect(given.redirect, context.req.method === 'POST' ? 303 : 302);
  return context.html(page(context, review, given), given.status);
}

function failed(context: ReviewContext, review: Review, error: Error): Response | Promise<Response> {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  const status = statusOf(code);
  const main = html`<h1>${TITLES[status]}</h1>
<p>${error.message}</p>
<p class="quiet">${code}</p>
<p><a href="/">Back to the inbox</a></p>`;
  return context.html(page(context, review, { title: TITLES[status], main }), status);
}

type Status = 400 | 404 | 409 | 500 | 503;

const TITLES: Readonly<Record<Status, string>> = {
  400: 'Not understood',
  404: 'Not found',
  409: 'Not done',
  500: 'Failed',
  503: 'Not possible now',
};

function statusOf(code: string): Status {
  if (code.endsWith('_NOT_FOUND') || code === 'EXTENSION_NOT_HELD') return 404;
  if (code === 'INVALID_ARGUMENT' || code === 'PATH_TRAVERSAL') return 400;
  if (['STORE_UNAVAILABLE', 'HISTORY_BUSY', 'REGISTRY_CLOSED', 'ORIGIN_UNAVAILABLE'].includes(code)) return 503;
  return code === 'UNEXPECTED_FAILURE' || code === 'WRITE_FAILED' || code === 'HISTORY_DAMAGED' ? 500 : 409;
}
