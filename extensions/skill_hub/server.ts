import { type Context, Hono } from 'hono';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { type Served, serve } from '../../lib/serving/index.ts';
import { bodyOf, type Caller, callerWith, createLimits, principalFor, principalsWith } from './access.ts';
import type { HubEntrance, HubPrincipal, HubRequest, HubService, PersonPages } from './api.ts';
import { loadClient } from './login.ts';
import { People, pageOf } from './person.ts';
import { loadTelemetry } from './telemetry.ts';

export interface ServeHubOptions {
  readonly service: HubService;
  /** For people without a token. Default: nobody without one is let in. */
  readonly entrance?: HubEntrance | undefined;
  /** The review page of a space. */
  readonly pagesOf: (space: string) => Promise<PersonPages>;
  /** Name or address. Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Makes a code of an error, where it is one. */
  readonly asCoded: (error: unknown) => unknown;
  /** For failures that the caller is not told of. */
  readonly onError: (error: Error) => void;
  /** Called when a request is answered. Default: nobody is told. */
  readonly onRequest?: ((request: HubRequest) => void) | undefined;
}

export interface HubServing extends Pick<Served, 'port'> {
  /** Ends open polls, waits up to a second for other requests, then closes all connections. */
  close(): Promise<void>;
}

/** @throws HUB_OIDC_MISSING; the error of `listen`, with its `code`. */
export async function serveHub({ host = '127.0.0.1', port, ...options }: ServeHubOptions): Promise<HubServing> {
  if (options.entrance?.oidc) await loadClient();
  const stopping = new AbortController();
  const trace = await loadTelemetry();
  const onRequest = (request: HubRequest): void => {
    trace(request);
    options.onRequest?.(request);
  };
  const { fetch } = createApp({ ...options, onRequest }, stopping.signal);
  const served = await serve({ fetch, host, port, onError: options.onError });
  return { port: served.port, close: () => served.close(() => stopping.abort()) };
}

// --- internal ---

function createApp(
  { service, entrance = {}, pagesOf, asCoded, onError, onRequest }: Omit<ServeHubOptions, 'host' | 'port'>,
  stopping: AbortSignal,
): Hono {
  const app = new Hono();
  const limits = createLimits();
  const told = (thrown: unknown): CodedError => {
    const error = asCoded(thrown);
    if (isCodedError(error)) return error;
    onError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    return new CodedError('UNEXPECTED_FAILURE', 'The request failed.');
  };
  const callers = new WeakMap<Request, HubPrincipal>();
  app.use(async (context, next) => {
    const startedAt = performance.now();
    await next();
    const { req, res, error } = context;
    const { headers, status } = res;
    const known = callers.get(req.raw);
    const coded = error && asCoded(error);
    onRequest?.({
      method: req.method,
      route: req.routePath,
      status,
      ms: Math.round(performance.now() - startedAt),
      code: isCodedError(coded) ? coded.code : undefined,
      person: known?.person,
      principal: known?.id,
      space: req.param('space') ?? known?.space,
      subject: req.param('id') ?? /^\/(?:proposals|skills)\/([\w-]{1,100})/.exec(req.path)?.[1],
    });
    headers.set('x-content-type-options', 'nosniff');
    headers.set('cache-control', 'no-store');
    if (!headers.has('content-security-policy'))
      headers.set('content-security-policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'");
  });
  app.get('/healthz', (context) => context.json({ ok: true }));
  const onCaller = (request: Request, principal: HubPrincipal) => void callers.set(request, principal);
  const people = new People({ service, entrance, pagesOf, stopping, limits, onCaller, onError });
  /** A person without a token only reads: other pages could make the browser send what it is let in with. */
  const callerOf = async ({ req }: Context): Promise<Caller> => {
    const header = req.header('authorization');
    const secret = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? '';
    const isRead = header === undefined && req.method === 'GET';
    const caller = isRead ? await people.callerOf(req.raw) : await callerWith(principalsWith(service, secret));
    if (!caller) throw new CodedError('HUB_NO_PRINCIPAL', NO_PRINCIPAL);
    const [principal] = caller.principals as readonly [HubPrincipal];
    callers.set(req.raw, principal);
    limits.take(principal);
    if (stopping.aborted) throw new CodedError('HUB_STOPPING', 'The hub is stopping. Try again later.');
    return caller;
  };
  app.get('/readyz', async (context) => {
    await callerOf(context);
    await service.assertReady();
    return context.json({ ok: true });
  });
  for (const route of service.routes)
    app.on(route.method, `/v1/spaces/:space${route.path}`, async (context) => {
      const { req } = context;
      const caller = await callerOf(context);
      const principal = principalFor(caller, req.param('space') ?? '', route.role);
      const answer = await route.answer({
        principal,
        id: req.param('id') ?? req.param('digest') ?? '',
        query: new URL(req.url).searchParams,
        request: req.raw,
        body: route.mostBytes === undefined ? new Uint8Array() : await bodyOf(req.raw, route.mostBytes),
        isLetIn: async () => (await caller.again()).some(({ space }) => space === principal.space),
        waiting: (work) => limits.waiting(principal, work),
        stopping,
      });
      return answer instanceof Response ? answer : Response.json(answer);
    });
  // Without a principal every address below is the same.
  app.all('/v1/*', async (context) => {
    await callerOf(context);
    throw new CodedError('HUB_NOT_FOUND', 'Nothing is here.');
  });
  app.all('*', (context) => people.answer(context.req.raw));
  app.onError((thrown, { req }) => {
    const error = told(thrown);
    const response = refusal(error);
    const isBrowser = req.header('accept')?.includes('text/html');
    return isBrowser ? pageOf(response.status, error.message) : response;
  });
  return app;
}

const NO_PRINCIPAL = 'A token is missing, unknown, revoked or over: Authorization: Bearer skh_...';

function refusal({ code, message, details }: CodedError): Response {
  const status = STATUS[code] ?? (code.endsWith('_NOT_FOUND') ? 404 : 409);
  const error = Object.keys(details).length > 0 ? { code, message, details } : { code, message };
  const more = status === 401 ? { 'www-authenticate': 'Bearer' } : status === 429 ? { 'retry-after': '1' } : {};
  return Response.json({ error }, { status, headers: more });
}

/** Of other codes: 404 for what was not found, else 409. */
const STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  PATH_TRAVERSAL: 400,
  NOT_TEXT: 400,
  ORIGIN_REFUSED: 400,
  HUB_NO_PRINCIPAL: 401,
  HUB_FORBIDDEN: 403,
  FOUR_EYES: 403,
  HUB_TOO_LARGE: 413,
  RESOURCE_TOO_LARGE: 413,
  SKILL_INVALID: 422,
  HUB_BUSY: 429,
  UNEXPECTED_FAILURE: 500,
  HUB_STOPPING: 503,
  REGISTRY_CLOSED: 503,
  STORE_UNAVAILABLE: 503,
};
