import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../lib/errors/index.ts';
import { type Html, html } from '../../lib/html/index.ts';
import { bodyOf, type Caller, callerWith, type Limits, principalsWith } from './access.ts';
import type { HubEntrance, HubPrincipal, HubService, PersonPages } from './api.ts';
import { createLogin } from './login.ts';

export interface PeopleOptions {
  readonly service: HubService;
  readonly entrance: HubEntrance;
  readonly pagesOf: (space: string) => Promise<PersonPages>;
  readonly limits: Limits;
  /** Whose request of a page it is. */
  readonly onCaller: (request: Request, principal: HubPrincipal) => void;
  /** Aborts when the hub stops. */
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
}

/** People without a token in their request: who they are, and the review page for those who may decide. */
export class People {
  readonly #options: PeopleOptions;
  readonly #login: ReturnType<typeof createLogin> | undefined;
  readonly #key = randomBytes(32);
  readonly #sessions = new Map<string, { readonly again: Caller['again']; readonly until: number }>();

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.#login = options.entrance.oidc && createLogin(options.entrance.oidc);
  }

  /** By the header of the proxy, or by a session. */
  callerOf(request: Request): Promise<Caller | undefined> {
    const name = this.#nameByProxy(request);
    if (name !== undefined) return callerWith(() => this.#options.service.principalsOf(name));
    const id = this.#sessionOf(request);
    // Asked each time: who was let in a moment ago may be removed, or the session over.
    return callerWith(async () => {
      const session = this.#sessions.get(id);
      return session && session.until > Date.now() ? session.again() : [];
    });
  }

  async answer(request: Request): Promise<Response> {
    const { limits, onCaller, pagesOf } = this.#options;
    const { pathname } = new URL(request.url);
    if (this.#login && pathname === '/login') return this.#begin(request);
    if (this.#login && pathname === '/login/done') return this.#finish(request);
    const caller = await this.callerOf(request);
    if (caller) limits.take(caller.principals[0] as HubPrincipal);
    if (pathname === '/enter') return this.#enter(request, caller);
    if (!caller && request.method === 'GET' && pathname === '/') return goTo('/enter');
    const spaces = caller?.principals.filter(mayDecide) ?? [];
    const principal = spaces.find(({ space }) => space === this.#cookie(request, 'space')) ?? spaces[0];
    if (!caller || !principal) return this.#page(request, caller ? 403 : 401, 'You are not let in.', caller);
    onCaller(request, principal);
    const { person: by, space } = principal;
    const of = this.#nameByProxy(request) ?? this.#sessionOf(request);
    const csrf = createHmac('sha256', this.#key)
      .update(JSON.stringify([of, space]))
      .digest('base64url');
    const pages = await pagesOf(space);
    if (pathname !== '/events') return pages.answer(request, { by, csrf });
    return pages.answer(new Request(request, { signal: this.#whileLetIn(request, caller, space) }), { by, csrf });
  }

  #whileLetIn(request: Request, caller: Caller, space: string): AbortSignal {
    const { stopping } = this.#options;
    const ended = new AbortController();
    const isLetIn = async () => (await caller.again()).some((one) => one.space === space && mayDecide(one));
    const look = setInterval(async () => {
      if (!(await isLetIn().catch(() => true))) ended.abort();
    }, LOOK_MS).unref();
    const signal = AbortSignal.any([request.signal, stopping, ended.signal]);
    signal.addEventListener('abort', () => clearInterval(look));
    return signal;
  }

  async #enter(request: Request, caller: Caller | undefined): Promise<Response> {
    const { service } = this.#options;
    if (request.method !== 'POST') return this.#page(request, 200, '', caller);
    if (!isSameSite(request)) return this.#page(request, 403, 'This form is from another page.');
    const form = new URLSearchParams(String(await bodyOf(request, MAX_FORM)));
    if (form.has('leave')) {
      this.#sessions.delete(this.#sessionOf(request));
      return goTo('/enter', this.#setCookie(request, 'session', '', 'Max-Age=0'));
    }
    const space = form.get('space');
    if (space !== null)
      return goTo('/', this.#setCookie(request, 'space', encodeURIComponent(space), 'SameSite=Strict'));
    const again = principalsWith(service, form.get('token')?.trim() ?? '');
    if ((await again()).some(mayDecide)) return goTo('/', this.#open(request, again, TOKEN_MS, 'SameSite=Strict'));
    return this.#page(request, 401, 'This is no token of a reviewer or an admin.');
  }

  async #begin(request: Request): Promise<Response> {
    try {
      const { location, flow } = await (this.#login as Login).begin();
      return goTo(location, this.#setCookie(request, 'login', flow, 'SameSite=Lax'));
    } catch (error) {
      this.#options.onError(error as Error);
      return this.#page(request, 503, 'The provider does not answer. Try again later.');
    }
  }

  /** The provider has sent the browser back. */
  async #finish(request: Request): Promise<Response> {
    const { service, onError } = this.#options;
    const done = this.#setCookie(request, 'login', '', 'Max-Age=0');
    try {
      const { account, name, grants } = await (this.#login as Login).finish(request, this.#cookie(request, 'login'));
      const known = await service.nameOf(account, name);
      if (known === undefined)
        return this.#page(
          request,
          403,
          `Another account has come as ${name} before, or this is no name here. Tell an admin.`,
        );
      const again = () => service.principalsOf(known, grants);
      if ((await again()).length === 0) return this.#page(request, 403, `${known} is not let in.`);
      // Lax, because the provider has sent the browser here: a strict one would not be sent by it to the next page.
      return goTo('/', this.#open(request, again, LOGIN_MS, 'SameSite=Lax'), done);
    } catch (error) {
      if (!isCodedError(error, 'HUB_LOGIN_REFUSED')) throw error;
      onError(error);
      return this.#page(request, 403, error.message);
    }
  }

  #open(request: Request, again: Caller['again'], lastsMs: number, sameSite: string): string {
    const sessions = this.#sessions;
    const id = randomBytes(24).toString('base64url');
    sessions.delete(this.#sessionOf(request));
    for (const [old, { until }] of sessions) if (until < Date.now() || sessions.size >= MOST) sessions.delete(old);
    sessions.set(id, { again, until: Date.now() + lastsMs });
    return this.#setCookie(request, 'session', id, sameSite);
  }

  #sessionOf(request: Request): string {
    return this.#cookie(request, 'session');
  }

  /** Behind https a cookie of another name is not taken: a page of a neighbouring host could have set it. */
  #cookieName({ headers }: Request, what: CookieName): string {
    const isSecure =
      this.#options.entrance.oidc?.address.startsWith('https:') || headers.get('x-forwarded-proto') === 'https';
    return `${isSecure ? '__Host-' : ''}skill_hub_${what}`;
  }

  #cookie(request: Request, what: CookieName): string {
    const name = this.#cookieName(request, what);
    return new RegExp(`(?:^|; *)${name}=([\\w.-]{1,100})(?:;|$)`).exec(request.headers.get('cookie') ?? '')?.[1] ?? '';
  }

  #setCookie(request: Request, what: CookieName, value: string, more: string): string {
    const name = this.#cookieName(request, what);
    return `${name}=${value}; Path=/; HttpOnly; ${more}${name.startsWith('_') ? '; Secure' : ''}`;
  }

  /** Undefined unless the proxy has said it: with its secret, and one name. */
  #nameByProxy({ headers }: Request): string | undefined {
    const { proxy } = this.#options.entrance;
    if (!proxy || !isEqual(headers.get(proxy.secret_header) ?? '', proxy.secret)) return undefined;
    const name = headers.get(proxy.header) ?? '';
    // Two headers are one text with a comma: the browser has sent one of them.
    if (name === '' || name.includes(',')) return undefined;
    return withFallback(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(name, 'latin1')));
  }

  #page(request: Request, status: number, said: string, caller?: Caller): Response {
    const { entrance } = this.#options;
    const name = this.#nameByProxy(request);
    const main = caller ? letIn(caller, name === undefined) : name === undefined ? entering(entrance) : unknown(name);
    return pageOf(status, said, main);
  }
}

export function pageOf(status: number, said: string, main: Html | '' = ''): Response {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Skill review</title></head>
<body><main><h1>Skill review</h1>
${said === '' ? '' : html`<p role="alert">${said}</p>`}
${main}</main></body></html>
`;
  return new Response(String(page), { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}

// --- internal ---

type Login = ReturnType<typeof createLogin>;
type CookieName = 'session' | 'space' | 'login';

const TOKEN_MS = 12 * 3_600_000;
/** What the provider has said of a person is asked again after it. */
const LOGIN_MS = 4 * 3_600_000;
const LOOK_MS = 500;
const MOST = 10_000;
const MAX_FORM = 10_000;

function mayDecide({ may }: HubPrincipal): boolean {
  return may.includes('reviewer');
}

function isSameSite({ headers }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const host = headers.get('host');
  return [`http://${host}`, `https://${host}`].includes(headers.get('origin') ?? '');
}

/** Takes equal time for every wrong value. */
function isEqual(given: string, expected: string): boolean {
  const [left, right] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left as Buffer, right as Buffer);
}

function goTo(location: string, ...cookies: readonly string[]): Response {
  const headers = new Headers({ location });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

function entering({ oidc }: HubEntrance): Html {
  const login = oidc ? html`<p><a href="/login">Log in at ${new URL(oidc.issuer).host}</a></p>\n` : '';
  return html`${login}<form method="post" action="/enter"><label for="token">Your token (reviewer or admin)</label>
<input id="token" name="token" type="password" autocomplete="current-password" required> <button>Enter</button></form>
`;
}

function unknown(name: string): Html {
  return html`<p>The proxy says that you are ${name}. An admin lets you in with <code>hub person add</code>.</p>\n`;
}

function letIn({ principals }: Caller, mayLeave: boolean): Html {
  const spaces = principals.map((one) =>
    mayDecide(one)
      ? html`<li><form method="post" action="/enter"><button name="space" value="${one.space}">${one.space}</button> ${one.role}</form></li>\n`
      : html`<li>${one.space} ${one.role}: nothing to decide</li>\n`,
  );
  const leave = html`<form method="post" action="/enter"><button name="leave" value="yes">Log out</button></form>\n`;
  return html`<p>You are ${principals[0]?.person ?? ''}. Your spaces:</p>\n<ul>\n${spaces}</ul>\n${mayLeave ? leave : ''}`;
}
