import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { isCodedError } from 'skill-registry/kernel';
import { builtExtensions } from '../../kernel/host.ts';
import { pageNotFound } from './errors.ts';
import { ASSETS, type Guard } from './guard.ts';
import { html } from './html/html.ts';
import { page } from './html/layout.ts';
import type { LiveUpdates } from './live.ts';
import { addCatalog } from './pages/catalog.ts';
import { addDecisions } from './pages/decisions.ts';
import { addExtension } from './pages/extension.ts';
import { addInbox } from './pages/inbox.ts';
import { addProblems } from './pages/problems.ts';
import { addProposal } from './pages/proposal.ts';
import { addSkill } from './pages/skill.ts';
import { addSkillAgents } from './pages/skill-agents.ts';
import { addSkillEvidence } from './pages/skill-evidence.ts';
import { addSkillFiles } from './pages/skill-files.ts';
import { addSkillHistory } from './pages/skill-history.ts';
import { addUpdates } from './pages/updates.ts';
import { addUsage } from './pages/usage.ts';
import type { Review, ReviewApp, ReviewContext, ReviewEnv } from './review.ts';

export function createApp(review: Review, guard: Guard, live: LiveUpdates, onError: (error: Error) => void): ReviewApp {
  const app: ReviewApp = new Hono<ReviewEnv>();
  app.use(...guard.checks);
  for (const [name, type] of Object.entries(FILES)) {
    const bytes = readFileSync(join(builtExtensions(), 'skill_review', 'assets', name));
    app.get(`${ASSETS}${name}`, (context) => context.body(bytes, 200, { 'Content-Type': type }));
  }
  app.get('/events', live.handler);
  addInbox(app, review, addUpdates(app, review));
  addProblems(app, review);
  addDecisions(app, review);
  addExtension(app, review);
  addProposal(app, review);
  addSkill(app, review);
  addSkillFiles(app, review);
  addSkillEvidence(app, review);
  addSkillAgents(app, review);
  addSkillHistory(app, review);
  addCatalog(app, review);
  addUsage(app, review);
  app.notFound((context) => failed(context as ReviewContext, review, pageNotFound()));
  app.onError((error, context) => {
    if (!isCodedError(error)) onError(error);
    return failed(context as ReviewContext, review, error);
  });
  return app;
}

// --- internal ---

const FILES: Readonly<Record<string, string>> = {
  'base.css': 'text/css; charset=utf-8',
  'parts.css': 'text/css; charset=utf-8',
  'forms.css': 'text/css; charset=utf-8',
  'charts.css': 'text/css; charset=utf-8',
  'reading.css': 'text/css; charset=utf-8',
  'review.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

function failed(context: ReviewContext, review: Review, error: Error): Response | Promise<Response> {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  const main = html`<h1>${TITLES[statusOf(code)]}</h1>
<p>${error.message}</p>
<p class="quiet">${code}</p>
<p><a href="/">Back to the inbox</a></p>`;
  return context.html(page(context, review, { title: TITLES[statusOf(code)], main }), statusOf(code));
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
