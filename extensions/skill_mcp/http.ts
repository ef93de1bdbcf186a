import { isIP } from 'node:net';
import { createMcpHandler, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import { atMost, GRACE_MS, serve } from '../../lib/serving/index.ts';
import type { SkillMcpDoor } from './door.ts';
import { listenFailed, tokenMissing } from './errors.ts';

export interface ServeHttpOptions {
  /** Name or address. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Default: 0, which takes any free port. */
  readonly port?: number;
  /** Required as `Authorization: Bearer <token>`. Default: none, allowed on loopback only. */
  readonly token?: string | undefined;
  /** Additional names without port, for the Host and Origin headers. `host` and loopback are always allowed. */
  readonly allowedHosts?: readonly string[];
  /** Largest request body in bytes. Default: 1,048,576. */
  readonly bodyBytes?: number;
  /** Limit for a request to arrive, and for its answer to begin. Default: 30. */
  readonly requestSeconds?: number;
  /** Called for failures of requests and of the server. */
  readonly onError?: (error: Error) => void;
}

export interface HttpServing {
  readonly url: string;
  /** Counts open connections, and clients that wait for notifications. */
  status(): Promise<{ readonly connections: number; readonly subscriptions: number }>;
  /** Refuses new requests, waits up to a second for running ones, then closes all connections. */
  close(): Promise<void>;
}

export const MCP_PATH: string = '/mcp';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Documented in index.ts, which loads this file at the first call. */
export async function serveHttp(door: SkillMcpDoor, options: ServeHttpOptions = {}): Promise<HttpServing> {
  const { host = '127.0.0.1', port = 0, token, requestSeconds = 30 } = options;
  const onError = (error: Error): void => void door.callHook('onError', () => options.onError?.(error));
  if (!isLoopback(host) && !token) throw tokenMissing(host);
  const handler = createMcpHandler(() => door.createServer({ local: false }), {
    onerror: onError,
    maxRequestBodySize: options.bodyBytes ?? 1_048_576,
  });
  const answering = new Set<Promise<unknown>>();
  const app = new Hono();
  const allowed = [...new Set([...LOOPBACK, hostName(host), ...(options.allowedHosts ?? []).map(hostName)])];
  app.use(async (context, next) => refusalOf(context, allowed) ?? next());
  if (token) app.use(bearerAuth({ token }));
  const late = (): HTTPException =>
    new HTTPException(503, { res: refuse(503, `No answer within ${requestSeconds} s.`) });
  app.use(MCP_PATH, (_context, next) => {
    const answered: Promise<void> = next().finally(() => answering.delete(answered));
    answering.add(answered);
    return answered;
  });
  app.all(MCP_PATH, timeout(requestSeconds * 1000, late), ({ req }) => handler.fetch(onlyUtf8(req.raw)));
  app.notFound(() => refuse(404, `Nothing is here; MCP is at ${MCP_PATH}.`));
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    onError(error);
    return refuse(500, 'The request failed.');
  });

  const served = await serve({
    fetch: app.fetch,
    host: host.replace(/^\[|\]$/g, ''),
    port,
    requestSeconds,
    onError,
  }).catch((error: unknown) => {
    throw listenFailed(host, port, error);
  });
  const unsubscribe = door.onListChanged(({ resources, prompts }) => {
    if (resources) handler.notify.resourcesChanged();
    if (prompts) handler.notify.promptsChanged();
  });
  return {
    url: `http://${hostName(host)}:${served.port}${MCP_PATH}`,
    async status() {
      const connections = await new Promise<number>((resolve, reject) =>
        served.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
      const { listenerCount = 0 } = handler.bus as { listenerCount?: number };
      return { connections, subscriptions: listenerCount };
    },
    close: () =>
      served.close(async () => {
        unsubscribe();
        await atMost(GRACE_MS, Promise.allSettled(answering));
        await handler.close();
      }),
  };
}

// --- internal ---

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

function hostName(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
}

/**
 * Prevents DNS rebinding: a web page can give its own host name the address of this machine and make a local browser
 * send requests here. Host and Origin must therefore name an allowed host.
 */
function refusalOf({ req }: Context, names: string[]): Response | undefined {
  const host = validateHostHeader(req.header('host'), names);
  if (!host.ok)
    return refuse(
      403,
      `${host.message}. Allowed: ${names.join(', ')}; allowed_hosts, or --allow-host of the command, adds names.`,
    );
  const origin = validateOriginHeader(req.header('origin'), names);
  return origin.ok ? undefined : refuse(403, `${origin.message}. Pages of other hosts may not ask.`);
}

function refuse(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status });
}

/** Reading the body fails for invalid UTF-8, which the SDK would replace by U+FFFD. */
function onlyUtf8(request: Request): Request {
  if (!request.body) return request;
  const body = request.body.pipeThrough(new TextDecoderStream('utf-8', { fatal: true }));
  return new Request(request, { body: body.pipeThrough(new TextEncoderStream()), duplex: 'half' });
}
