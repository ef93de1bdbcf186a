import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type OpenRegistry, openRegistry } from './open-registry.ts';
import { skillMd } from './temp-folder.ts';
import { waitFor } from './wait-for.ts';

/** A server of the newest protocol over HTTP that says whatever a test wants. Change the functions while it runs. */
export interface ScriptedServer {
  readonly url: string;
  /** Methods of all requests so far. */
  readonly requests: string[];
  /** Headers of all requests so far. */
  readonly headers: IncomingMessage['headers'][];
  connections(): number;
  /** Entries of `skills/list`, a whole result, or an error. */
  list: (cursor: string | undefined) => unknown;
  /** Contents of a file, text or bytes; undefined: there is none. */
  read: (uri: string) => unknown;
  /** Stops listening and closes all connections. */
  stop(): Promise<void>;
  /** Listens again at the same address. */
  start(): Promise<void>;
}

/** A skill as a server lists it, with true digests unless `change` makes them false. */
export interface ServedSkill {
  readonly entry: { uri: string; frontmatter: Record<string, unknown>; resources: unknown };
  readonly files: ReadonlyMap<string, string | Uint8Array>;
}

export function servedSkill(
  name: string,
  others: Readonly<Record<string, string | Uint8Array>> = {},
  body = `Body of ${name}.`,
): ServedSkill {
  const root = `skill://${name}/`;
  const text = skillMd({ name, description: `Does ${name}.` }, body);
  const files = new Map(
    Object.entries({ 'SKILL.md': text, ...others }).map(([path, content]) => [root + path, content]),
  );
  const resources = [...files].map(([uri, content]) => ({ uri, digest: sha256(content), size: sizeOf(content) }));
  return {
    entry: { uri: `${root}SKILL.md`, frontmatter: { name, description: `Does ${name}.` }, resources },
    files,
  };
}

export async function scriptedServer(skills: readonly ServedSkill[] = []): Promise<ScriptedServer> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let opened = 0;
  const scripted: Pick<ScriptedServer, 'list' | 'read'> = {
    list: () => skills.map(({ entry }) => entry),
    read: (uri) => skills.map(({ files }) => files.get(uri)).find((content) => content !== undefined),
  };
  const http = createServer((request, response) => {
    if (request.url === '/moved') return void response.writeHead(307, { location: '/mcp' }).end();
    answer(request, response, scripted, requests, headers).catch((error: unknown) => {
      response.destroy(error as Error);
    });
  });
  http.on('connection', () => {
    opened += 1;
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  await listen(0);
  const { port } = http.address() as AddressInfo;
  onTestFinished(stop);
  return Object.assign(scripted, {
    url: `http://127.0.0.1:${port}/mcp`,
    ...{ requests, headers, stop },
    connections: () => opened,
    start: () => listen(port),
  });
}

/** `openRegistry`, when every MCP server has listed its skills or has failed: a busy machine takes longer than a start waits. */
export async function openListed(...given: Parameters<typeof openRegistry>): Promise<OpenRegistry> {
  const opened = await openRegistry(...given);
  const isWaiting = (): boolean => opened.registry.problems().some(({ message }) => message.includes('not listed its'));
  await waitFor('the lists of the servers', () => !isWaiting());
  return opened;
}

// --- internal ---

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { list, read }: Pick<ScriptedServer, 'list' | 'read'>,
  requests: string[],
  headers: IncomingMessage['headers'][],
): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { id, method, params } = JSON.parse(text) as {
    id: number;
    method: string;
    params: { uri?: string; cursor?: string };
  };
  requests.push(method === 'resources/read' ? `${method} ${params.uri}` : method);
  headers.push(request.headers);
  const caching = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
  const send = (body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  };
  if (method === 'server/discover') {
    const capabilities = { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } };
    const serverInfo = { name: 'scripted', version: '1' };
    return send({
      result: {
        ...caching,
        ...{ supportedVersions: ['2026-07-28'], capabilities, serverInfo },
        _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
      },
    });
  }
  if (method === 'skills/list') {
    const listed = await list(params.cursor);
    if (listed instanceof ReadableStream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      for await (const chunk of listed) {
        if (response.destroyed) return;
        if (!response.write(chunk)) await drained(response);
      }
      return void response.end();
    }
    if (typeof listed === 'object' && listed !== null && 'error' in listed) return send(listed);
    return send({ result: { ...caching, ...(Array.isArray(listed) ? { skills: listed } : (listed as object)) } });
  }
  const content = method === 'resources/read' ? await read(params.uri ?? '') : undefined;
  if (content === undefined) return send({ error: { code: -32602, message: `No ${method} here.` } });
  const shown =
    typeof content === 'string' ? { text: content } : { blob: Buffer.from(content as Uint8Array).toString('base64') };
  send({ result: { ...caching, contents: [{ uri: params.uri, ...shown }] } });
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

function sha256(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function sizeOf(content: string | Uint8Array): number {
  return Buffer.from(content).length;
}
