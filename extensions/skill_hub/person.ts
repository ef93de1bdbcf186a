import { createHmac, randomBytes } from 'node:crypto';
import { html } from '../../lib/html/index.ts';
import { bodyOf, type Caller, mayAct } from './access.ts';
import type { HubService, PersonPages } from './api.ts';

export interface PersonPagesOptions {
  readonly service: HubService;
  readonly pagesOf: (space: string) => Promise<PersonPages>;
  /** Aborts when the hub stops. */
  readonly stopping: AbortSignal;
}

/** The review page, for whoever has a token of a reviewer or an admin. Sessions are in memory, for twelve hours. */
export function createPersonPages({ service, pagesOf, stopping }: PersonPagesOptions) {
  const key = randomBytes(32);
  const sessions = new Map<string, { readonly secret: string; readonly until: number }>();
  const personOf = async (secret: string): Promise<Caller | undefined> => {
    const principal = await service.principalOf(secret);
    return principal && mayAct(principal, 'reviewer') ? { principal, secret } : undefined;
  };
  const enter = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return enterPage(200, '');
    if (!isSameSite(request)) return enterPage(403, 'This form is from another page.');
    const secret = new URLSearchParams(String(await bodyOf(request, MAX_FORM))).get('token')?.trim() ?? '';
    if (!(await personOf(secret))) return enterPage(401, 'This is no token of a reviewer or an admin.');
    const id = randomBytes(24).toString('base64url');
    for (const [old, { until }] of sessions) if (until < Date.now() || sessions.size >= MOST) sessions.delete(old);
    sessions.set(id, { secret, until: Date.now() + LASTS_MS });
    const secure = request.headers.get('x-forwarded-proto') === 'https' ? '; Secure' : '';
    const cookie = `${COOKIE}=${id}; Path=/; HttpOnly; SameSite=Strict${secure}`;
    return new Response(null, { status: 303, headers: { location: '/', 'set-cookie': cookie } });
  };
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/enter') return enter(request);
    const id =
      new RegExp(`(?:^|; *)${COOKIE}=([\\w-]{32})(?:;|$)`).exec(request.headers.get('cookie') ?? '')?.[1] ?? '';
    const session = sessions.get(id);
    // Asked each time: a token that was revoked a moment ago opens nothing.
    const caller = session && session.until > Date.now() ? await personOf(session.secret) : undefined;
    if (!caller) {
      sessions.delete(id);
      if (request.method === 'GET' && pathname === '/')
        return new Response(null, { status: 303, headers: { location: '/enter' } });
      return enterPage(401, 'You are not let in.');
    }
    const { person: by, space } = caller.principal;
    const csrf = createHmac('sha256', key).update(id).digest('base64url');
    const pages = await pagesOf(space);
    if (pathname !== '/events') return pages.answer(request, { by, csrf });
    const ended = new AbortController();
    const look = setInterval(async () => {
      if (stopping.aborted || !(await personOf(caller.secret).catch(() => caller))) ended.abort();
    }, LOOK_MS).unref();
    const signal = AbortSignal.any([request.signal, stopping, ended.signal]);
    signal.addEventListener('abort', () => clearInterval(look));
    return pages.answer(new Request(request, { signal }), { by, csrf });
  };
}

// --- internal ---

const COOKIE = 'skill_hub';
const LASTS_MS = 12 * 3_600_000;
const LOOK_MS = 500;
const MOST = 10_000;
const MAX_FORM = 10_000;

function isSameSite({ headers }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const host = headers.get('host');
  return [`http://${host}`, `https://${host}`].includes(headers.get('origin') ?? '');
}

function enterPage(status: number, said: string): Response {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Skill review</title></head>
<body><main><h1>Skill review</h1>
${said === '' ? '' : html`<p role="alert">${said}</p>`}
<form method="post" action="/enter"><label for="token">Your token (reviewer or admin)</label>
<input id="token" name="token" type="password" autocomplete="current-password" required> <button>Enter</button></form>
</main></body></html>
`;
  return new Response(String(page), { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
