import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { refusalPage } from './layout.ts';
import type { ReviewEnv } from './review.ts';

/** Admits only a browser that opened the printed address. */
export interface Access {
  /** Path that contains the token. */
  readonly entrance: string;
  /** Run before every route: headers, Host, method, session, and for a write its origin and CSRF token. */
  readonly checks: readonly MiddlewareHandler<ReviewEnv>[];
  /** Call it before the first request. */
  listensOn(port: number): void;
}

/** A file of a skill may have 4 MiB, and a form may need three bytes for one. */
const FORM_BYTES = 16 * 1024 * 1024;
/** Public path of styles and script, also for the page of a refusal. */
export const ASSETS: string = '/assets/';

/**
 * Token and key are random and end with the process. Browsers send cookies to all ports of a host: the port in the
 * name of the cookie keeps several review pages on this machine apart.
 */
export function createAccess(by: string): Access {
  const key = randomBytes(32);
  const token = randomBytes(32).toString('base64url');
  const entrance = `/open/${token}`;
  let port = 0;
  const sign = (what: string): string => createHmac('sha256', key).update(what).digest('base64url');
  const sessionOf = (context: Context): string | undefined => {
    const [id = '', signature = ''] = (getCookie(context, `skill_review_${port}`) ?? '').split('.');
    return isEqual(signature, sign(`session ${id}`)) ? id : undefined;
  };

  const host: MiddlewareHandler<ReviewEnv> = async (context, next) => {
    const allowed = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
    // Prevents DNS rebinding: another site may point its host name at this machine.
    if (!allowed.includes(context.req.header('host')?.toLowerCase() ?? '')) return refuse(context, 403, 'host');
    if (!METHODS.includes(context.req.method)) {
      context.header('Allow', METHODS.join(', '));
      return refuse(context, 405, 'method');
    }
    return next();
  };

  const session: MiddlewareHandler<ReviewEnv> = async (context, next) => {
    const { path, method } = context.req;
    if (method !== 'POST' && path.startsWith('/open/')) {
      if (!isEqual(path, entrance)) return refuse(context, 403, 'token');
      const id = randomBytes(16).toString('base64url');
      const options = { httpOnly: true, sameSite: 'Strict', path: '/' } as const;
      setCookie(context, `skill_review_${port}`, `${id}.${sign(`session ${id}`)}`, options);
      return context.redirect('/', 303);
    }
    if (path.startsWith(ASSETS)) return next();
    const id = sessionOf(context);
    if (id === undefined) return refuse(context, 401, 'session');
    context.set('by', by);
    context.set('csrf', sign(`form ${id}`));
    return next();
  };

  return {
    entrance,
    checks: checksBehind(host, session),
    listensOn(taken) {
      port = taken;
    },
  };
}

/** @param entrance - Lets in: it sets `by` and `csrf`, or answers. What a write needs follows. */
export function checksBehind(...entrance: readonly MiddlewareHandler<ReviewEnv>[]): Access['checks'] {
  const onError = (context: Context) => refuse(context, 413, 'size');
  return [HEADERS, ...entrance, bodyLimit({ maxSize: FORM_BYTES, onError }), write];
}

// --- internal ---

const write: MiddlewareHandler<ReviewEnv> = async (context, next) => {
  if (context.req.method !== 'POST') return next();
  if (!isOwnOrigin(context)) return refuse(context, 403, 'origin');
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!FORMS.includes(type)) return refuse(context, 415, 'form');
  const body = await context.req.parseBody().catch(() => undefined);
  if (body === undefined) return refuse(context, 400, 'form');
  if (typeof body.csrf !== 'string' || !isEqual(body.csrf, context.get('csrf'))) return refuse(context, 403, 'csrf');
  return next();
};

const METHODS = ['GET', 'HEAD', 'POST'];
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Blocks everything from and to other origins, and frames. */
const HEADERS: MiddlewareHandler = async (context, next) => {
  await POLICY(context, next);
  context.res.headers.set('Cache-Control', 'no-store');
};

const POLICY: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: 'DENY',
  // There is no TLS here.
  strictTransportSecurity: false,
});

/**
 * Browsers send Sec-Fetch-Site; older ones send Origin, which is `null` when the policy is to send no referrer.
 * Requires one of the two, and refuses any wrong value.
 */
function isOwnOrigin({ req }: Context): boolean {
  const [site, origin] = [req.header('sec-fetch-site'), req.header('origin')];
  // Behind a proxy with TLS the page is https.
  const isOurs = [`http://${req.header('host')}`, `https://${req.header('host')}`].includes(origin ?? '');
  if (site !== undefined) return site === 'same-origin' && (origin === undefined || origin === 'null' || isOurs);
  return isOurs;
}

/** Takes equal time for every wrong value of the same length. */
function isEqual(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const REASONS = {
  host: 'This request does not name this machine as its host.',
  method: 'This page is read with GET and decides with POST.',
  token: 'The token in this address is not the one of this page.',
  session: 'This browser has not been let in.',
  origin: 'This request does not come from a page of this server.',
  form: 'This is not a form of this page.',
  csrf: 'This form is from another session. Go back, reload the page and decide again.',
  size: 'This is more than a form of this page can hold.',
} as const;

function refuse(
  context: Context,
  status: 400 | 401 | 403 | 405 | 413 | 415,
  why: keyof typeof REASONS,
): Response | Promise<Response> {
  return context.html(refusalPage(REASONS[why]), status);
}
