import { isIP } from 'node:net';
import {
  createMcpHandler,
  type Implementation,
  isInitializeRequest,
  readRequestBody,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import { isSameSecret } from '../../lib/agent-tokens/index.ts';
import { withFallback } from '../../lib/errors/index.ts';
import { atMost, GRACE_MS, serve } from '../../lib/serving/index.ts';
import type { AgentDoors } from './agent-doors.ts';
import type { SkillMcpDoor } from './door.ts';
import { listenFailed, tokenMissing } from './errors.ts';
import { authInfoOf, createSessions, isThreadName, THREAD_NAME } from './threads.ts';

export interface ServeHttpOptions {
  /** Name or address. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Default: 0, which takes any free port. */
  readonly port?: number;
  /** Required at `/mcp` as `Authorization: Bearer <token>`. Default: none; then `/mcp` opens on loopback only. */
  readonly token?: string | undefined;
  /** Served at `/agents/<id>/mcp`, and at `/agents/<id>/threads/<thread>/mcp`. Default: none. */
  readonly agents?: AgentDoors | undefined;
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
  const { host = '127.0.0.1', port = 0, token, agents, requestSeconds = 30 } = options;
  const onError = (error: Error): void => void door.callHook('onError', () => options.onError?.(error));
  if (!isLoopback(host) && !token && !agents?.check(undefined).wasIssued) throw tokenMissing(host);
  const access = { token, agents, isLoopback: isLoopback(host) };
  const served = new Map<SkillMcpDoor, ServedDoor>();
  const serveDoor = (one: SkillMcpDoor): ServedDoor => {
    const found = served.get(one) ?? createServedDoor(one, options.bodyBytes ?? 1_048_576, onError);
    served.set(one, found);
    return found;
  };
  serveDoor(door);
  const answering = new Set<Promise<unknown>>();
  const app = new Hono();
  const allowed = [...new Set([...LOOPBACK, hostName(host), ...(options.allowedHosts ?? []).map(hostName)])];
  app.use(async (context, next) => refusalOf(context, allowed) ?? next());
  const late = (): HTTPException =>
    new HTTPException(503, { res: refuse(503, `No answer within ${requestSeconds} s.`) });
  app.use((_context, next) => {
    const answered: Promise<void> = next().finally(() => answering.delete(answered));
    answering.add(answered);
    return answered;
  });
  app.all('*', timeout(requestSeconds * 1000, late), ({ req }) => {
    const address = addressOf(new URL(req.url).pathname);
    if (!mayOpen(address, req.header('authorization'), access)) return unauthorized();
    const { agent, thread } = address ?? {};
    const opened = agent === undefined ? door : agents?.of(agent);
    if (!address || !opened) return refuse(404, `Nothing is here; MCP is at ${MCP_PATH}.`);
    if (thread !== undefined && !isThreadName(thread)) return refuse(400, THREAD_NAME);
    return serveDoor(opened).answer(onlyUtf8(req.raw), thread);
  });
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    onError(error);
    return refuse(500, 'The request failed.');
  });

  const listening = await serve({
    fetch: app.fetch,
    host: host.replace(/^\[|\]$/g, ''),
    port,
    requestSeconds,
    onError,
  }).catch((error: unknown) => {
    throw listenFailed(host, port, error);
  });
  return {
    url: `http://${hostName(host)}:${listening.port}${MCP_PATH}`,
    async status() {
      const connections = await new Promise<number>((resolve, reject) =>
        listening.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
      const subscriptions = [...served.values()].reduce((sum, one) => sum + one.subscriptions(), 0);
      return { connections, subscriptions };
    },
    close: () =>
      listening.close(async () => {
        await atMost(GRACE_MS, Promise.allSettled(answering));
        for (const one of served.values()) await one.close();
      }),
  };
}

// --- internal ---

/** What an address names; undefined for one of nothing. */
interface Address {
  /** Undefined: the door of the server itself, at MCP_PATH. */
  readonly agent?: string;
  readonly thread?: string;
}

function addressOf(path: string): Address | undefined {
  if (path === MCP_PATH) return {};
  const [, agent, thread] = /^\/agents\/([^/]+)(?:\/threads\/([^/]+))?\/mcp$/.exec(path) ?? [];
  if (agent === undefined) return undefined;
  return { agent, ...(thread !== undefined && { thread: withFallback(() => decodeURIComponent(thread), '') }) };
}

interface Access extends Pick<ServeHttpOptions, 'token' | 'agents'> {
  readonly isLoopback: boolean;
}

/** The same refusal for a wrong token, an agent that does not exist, and an address of nothing. */
function mayOpen(address: Address | undefined, header: string | undefined, access: Access): boolean {
  const { token, agents, isLoopback } = access;
  const given = header === undefined ? undefined : (/^bearer +(\S+) *$/i.exec(header)?.[1] ?? '');
  const { agent, isOfAgent, wasIssued } = agents?.check(given) ?? { isOfAgent: false, wasIssued: false };
  const isMaster = Boolean(token) && given !== undefined && isSameSecret(given, `${token}`);
  if (address && address.agent === undefined) return token ? isMaster : isLoopback && !isOfAgent;
  const isOpen = isLoopback && !token && !wasIssued;
  if (!address) return isOpen || isMaster;
  const isRight = agent === undefined ? isOpen && given === undefined : agent === address.agent;
  // Asked last: the first question makes the door, which takes longer than a refusal.
  return isRight && agents?.of(address.agent as string) !== undefined;
}

function unauthorized(): Response {
  const response = refuse(401, 'A token for this address is missing or wrong.');
  response.headers.set('www-authenticate', 'Bearer');
  return response;
}

interface ServedDoor {
  answer(request: Request, thread: string | undefined): Promise<Response>;
  subscriptions(): number;
  close(): Promise<void>;
}

function createServedDoor(door: SkillMcpDoor, bodyBytes: number, onError: (error: Error) => void): ServedDoor {
  const handler = createMcpHandler(() => door.createServer({ local: false }), {
    onerror: onError,
    maxRequestBodySize: bodyBytes,
  });
  const sessions = createSessions();
  const unsubscribe = door.onListChanged(({ resources, prompts }) => {
    if (resources) handler.notify.resourcesChanged();
    if (prompts) handler.notify.promptsChanged();
  });
  return {
    async answer(request, thread) {
      const session = request.headers.get(SESSION_HEADER) ?? undefined;
      const known = session === undefined ? '' : sessions.use(session);
      if (known === undefined) return refuse(404, 'Session not found', -32_001);
      if (session !== undefined && request.method === 'DELETE') {
        sessions.end(session);
        return new Response(null, { status: 204 });
      }
      const client = session === undefined ? await clientThatBegins(request, bodyBytes) : undefined;
      const response = await handler.fetch(request, { authInfo: authInfoOf(thread ?? session, known) });
      if (!client || !response.ok) return response;
      const name = door.noteClient(client) ?? '';
      const headers = new Headers(response.headers);
      headers.set(SESSION_HEADER, sessions.begin(name));
      return new Response(response.body, { status: response.status, headers });
    },
    subscriptions: () => (handler.bus as { listenerCount?: number }).listenerCount ?? 0,
    async close() {
      unsubscribe();
      await handler.close();
    },
  };
}

const SESSION_HEADER = 'mcp-session-id';

/** The client of an `initialize` of the 2025 protocol; later ones name their method in a header. */
async function clientThatBegins(request: Request, bodyBytes: number): Promise<Implementation | undefined> {
  if (request.method !== 'POST' || request.headers.has('mcp-method')) return undefined;
  try {
    const read = await readRequestBody(request.clone(), bodyBytes);
    const message: unknown = read.tooLarge ? undefined : JSON.parse(read.text);
    return isInitializeRequest(message) ? message.params.clientInfo : undefined;
  } catch {
    return undefined;
  }
}

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

function refuse(status: number, message: string, code: number = -32_000): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

/** Reading the body fails for invalid UTF-8, which the SDK would replace by U+FFFD. */
function onlyUtf8(request: Request): Request {
  if (!request.body) return request;
  const body = request.body.pipeThrough(new TextDecoderStream('utf-8', { fatal: true }));
  return new Request(request, { body: body.pipeThrough(new TextEncoderStream()), duplex: 'half' });
}
