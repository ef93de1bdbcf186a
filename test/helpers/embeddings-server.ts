import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One request of POST /embeddings, as it went over the wire. */
export interface EmbeddingsRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

/** Instead of vectors: an answer of its own, nothing at all, vectors later, or the data of a good answer changed. */
export type OddAnswer =
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  | 'hang'
  | 'hang up'
  | { readonly after: Promise<unknown> }
  | { readonly raw: string }
  | { readonly stream: string; readonly times: number }
  | { readonly data: (good: readonly Embedding[]) => readonly unknown[] };

export interface Embedding {
  readonly object: 'embedding';
  readonly index: number;
  readonly embedding: readonly number[];
}

export interface EmbeddingsServer {
  readonly baseUrl: string;
  /** Every request so far, oldest first. */
  readonly requests: readonly EmbeddingsRequest[];
  /** Texts of skills that were asked for, oldest first. */
  skillTexts(): readonly string[];
  /** Those for a single text: queries. */
  queries(): readonly string[];
  /** From now on; undefined: vectors again. */
  behave(odd: ((request: EmbeddingsRequest) => OddAnswer | undefined) | undefined): void;
  /** Numbers of a vector from now on. Default: 1,024. */
  resize(dimensions: number): void;
  /** From now on connections are refused. */
  close(): Promise<void>;
}

/** Words that mean the same; every other word means itself. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['car', 'automobile', 'vehicle', 'motorcar'],
  ['mend', 'repair', 'fix', 'overhaul'],
  ['bill', 'invoice', 'receipt'],
  ['doctor', 'physician', 'surgeon'],
];

/**
 * An OpenAI-compatible embeddings endpoint on loopback: real HTTP, and vectors that are the same for the same text. Each word adds
 * one to a dimension of its meaning.
 */
export async function embeddingsServer(): Promise<EmbeddingsServer> {
  const requests: EmbeddingsRequest[] = [];
  let odd: ((request: EmbeddingsRequest) => OddAnswer | undefined) | undefined;
  let dimensions = 1024;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { model, input } = JSON.parse(body) as { model: string; input: readonly string[] };
      const wire = { model, input, headers: request.headers };
      requests.push(wire);
      const data = input.map(
        (text, index): Embedding => ({ object: 'embedding', index, embedding: vectorOf(text, dimensions) }),
      );
      answer(response, data, request.url === '/v1/embeddings' ? odd?.(wire) : { status: 404 });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    skillTexts: () => requests.flatMap(({ input }) => input).filter((text) => text.includes('. ')),
    queries: () => requests.filter(({ input }) => input.length === 1).flatMap(({ input }) => input),
    behave(next) {
      odd = next;
    },
    resize(next) {
      dimensions = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// --- internal ---

function answer(response: ServerResponse, data: readonly Embedding[], odd: OddAnswer | undefined): void {
  if (odd === 'hang') return;
  if (odd === 'hang up') {
    response.destroy();
    return;
  }
  if (odd && 'after' in odd) {
    void odd.after.then(() => answer(response, data, undefined));
    return;
  }
  if (odd && 'status' in odd) {
    response.writeHead(odd.status, odd.headers).end(odd.body ?? '');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  if (odd && 'raw' in odd) response.end(odd.raw);
  else if (odd && 'stream' in odd) {
    let left = odd.times;
    const more = (): void => {
      while (left-- > 0 && response.write(odd.stream));
      if (left > 0) response.once('drain', more);
      else response.end();
    };
    more();
  } else response.end(JSON.stringify({ object: 'list', model: 'm', data: odd ? odd.data(data) : data }));
}

function vectorOf(text: string, dimensions: number): number[] {
  // So that no text is without a direction.
  const vector = new Array<number>(dimensions).fill(0.001);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const meaning = SYNONYMS.find((words) => words.includes(word))?.[0] ?? word;
    // The, for, when: every text has them.
    if (meaning.length < 4 && meaning !== 'car') continue;
    const at = hashOf(meaning) % dimensions;
    vector[at] = (vector[at] as number) + 1;
  }
  return vector;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
