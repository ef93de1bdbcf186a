import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
// Loaded before a first scan, which waits ten seconds for it.
import '../../extensions/skill_registry/features/hub/machine/feed.ts';

export const HUB_TOKEN = 'skh_0123456789-of-this-machine';

export interface SentToHub {
  readonly id: string;
  readonly skill_id: string;
  readonly [key: string]: unknown;
}

/** A hub at the wire, with one space: `team`. */
export interface ScriptedHub {
  /** Without a slash at its end. */
  readonly url: string;
  epoch: string;
  head: number;
  /** `<method> <path and query> <authorization or ->` of every request, oldest first. */
  readonly asked: string[];
  /** Every proposal that was answered with a receipt, also a second time. */
  readonly received: SentToHub[];
  /** Publishes a skill, or another version of it. @param artifact - SKILL.md, or an archive. */
  put(id: string, artifact: string | Buffer, fields?: Readonly<Record<string, unknown>>): void;
  withdraw(id: string): void;
  /** Has no skill and no number any more, as before its first. */
  forget(): void;
  /** Answers instead; false: as usual. */
  answer: ((path: string, response: ServerResponse, request: IncomingMessage) => boolean) | undefined;
  /** The hits of a search. */
  search: (query: string) => readonly { readonly id: string; readonly score: number }[];
  /** What a list of proposals has. */
  proposals: readonly object[];
  /** Nothing listens on the address any more. */
  away(): Promise<void>;
  back(): Promise<void>;
}

export async function scriptedHub(skills: Readonly<Record<string, string | Buffer>> = {}): Promise<ScriptedHub> {
  const changes = new Map<string, { seq: number; id: string; entry: object | null }>();
  const artifacts = new Map<string, string | Buffer>();
  const waiting = new Set<() => void>();
  const ring = (): void => {
    for (const wake of [...waiting]) wake();
  };
  const change = (id: string, entry: object | null): void => {
    hub.head += 1;
    changes.set(id, { seq: hub.head, id, entry });
    ring();
  };
  const hub: ScriptedHub & { url: string } = {
    url: '',
    epoch: 'first',
    head: 0,
    asked: [],
    received: [],
    answer: undefined,
    search: () => [],
    proposals: [],
    put(id, artifact, fields = {}) {
      const digest = `sha256:${createHash('sha256').update(artifact).digest('hex')}`;
      artifacts.set(digest, artifact);
      const type = typeof artifact === 'string' ? 'skill-md' : 'archive';
      const size = Buffer.byteLength(artifact);
      change(id, { id, description: `Makes ${id}.`, type, digest, size, revision: 1, ...fields });
    },
    withdraw: (id) => change(id, null),
    forget() {
      changes.clear();
      hub.head = 0;
    },
    async away() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async back() {
      server = await listen(Number(new URL(hub.url).port));
    },
  };
  const feed = (after: number) => {
    const all = [...changes.values()].filter(({ seq }) => seq > after).sort((one, other) => one.seq - other.seq);
    return { epoch: hub.epoch, head: hub.head, more: all.length > 500, changes: all.slice(0, 500) };
  };
  const poll = async (url: URL, response: ServerResponse): Promise<void> => {
    const [after, wait] = ['after', 'wait'].map((name) => Number(url.searchParams.get(name) ?? 0)) as [number, number];
    const epoch = url.searchParams.get('epoch') ?? hub.epoch;
    if (feed(after).changes.length === 0 && epoch === hub.epoch && after <= hub.head && wait > 0)
      await new Promise<void>((resolve) => {
        const end = (): void => {
          waiting.delete(end);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(end, wait * 1000);
        waiting.add(end);
        response.on('close', end);
      });
    const isOther = epoch !== hub.epoch || after > hub.head;
    json(response, 200, { ...feed(after), ...(isOther && { changes: [], more: false }) });
  };
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const proposal = JSON.parse(Buffer.concat(chunks).toString('utf8')) as SentToHub;
    hub.received.push(proposal);
    json(response, 201, { proposal_id: `at-hub-${proposal.id}`, state: 'open' });
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', hub.url);
    const { authorization = '-' } = request.headers;
    hub.asked.push(`${request.method} ${request.url} ${authorization}`);
    if (hub.answer?.(decodeURIComponent(url.pathname), response, request)) return;
    const path = decodeURIComponent(url.pathname).replace('/v1/spaces/team/', '');
    if (authorization !== `Bearer ${HUB_TOKEN}`)
      json(response, 401, { error: { code: 'HUB_NO_PRINCIPAL', message: '-' } });
    else if (path === 'changes') void poll(url, response);
    else if (path === 'search')
      json(response, 200, { hits: hub.search(url.searchParams.get('q') ?? ''), provisional: false });
    else if (path === 'proposals' && request.method === 'POST') void receive(request, response);
    else if (path === 'proposals') json(response, 200, { proposals: hub.proposals });
    else if (artifacts.has(path.replace('artifacts/', ''))) response.end(artifacts.get(path.replace('artifacts/', '')));
    else json(response, 404, { error: { code: 'HUB_NOT_FOUND', message: 'There is none.' } });
  };
  const listen = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const next = createServer(onRequest);
      next.on('error', reject);
      next.listen(port, '127.0.0.1', () => resolve(next));
    });
  for (const [id, artifact] of Object.entries(skills)) hub.put(id, artifact);
  let server = await listen(0);
  hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => hub.away());
  return hub;
}

export function json(response: ServerResponse, status: number, body: unknown): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
}
