import { describeError, z } from 'skill-registry/kernel';

/** Any endpoint that speaks OpenAI's `/embeddings`. */
export interface EmbeddingsEndpoint {
  /** `http(s)://...`; `/embeddings` is appended to its path. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; never shown. */
  readonly key: string | undefined;
}

export type EmbeddingsFailureCode = 'EMBEDDINGS_FAILED' | 'EMBEDDINGS_INVALID';

export interface EmbeddingsFailureOptions {
  readonly code: EmbeddingsFailureCode;
  /** Default: false. */
  readonly passing?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Why there are no vectors. The message holds neither the key nor anything that was sent. */
export class EmbeddingsFailure extends Error {
  readonly code: EmbeddingsFailureCode;
  /** Whether the same request may go well later. */
  readonly passing: boolean;
  /** What the endpoint asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { code, passing = false, retryAfterMs, cause }: EmbeddingsFailureOptions) {
    super(message, { cause });
    this.code = code;
    this.passing = passing;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No vector has more numbers. */
const MAX_DIMENSIONS = 16_384;
/** One number and its comma in JSON. */
const NUMBER_BYTES = 32;
const ENVELOPE_BYTES = 65_536;
/** Of what an endpoint says about a refusal, so many characters are shown. */
const MAX_REASON = 200;

const embeddingsAnswer = z.object({
  data: z.array(z.object({ index: z.int().min(0).optional(), embedding: z.unknown() })),
});

/**
 * Asks for the vectors of some texts: one request, in the order of the texts.
 *
 * `fetch` and not the AI SDK: the size of an answer is bounded while it is read, `Retry-After` is handed on, no redirect takes
 * the key or the texts elsewhere, and every number is looked at.
 *
 * @param limitMs - For the whole answer to arrive, in milliseconds.
 * @throws EmbeddingsFailure; the reason of `signal` when that aborts.
 */
export async function fetchEmbeddings(
  endpoint: EmbeddingsEndpoint,
  texts: readonly string[],
  signal: AbortSignal,
  limitMs: number,
): Promise<readonly Float32Array[]> {
  const tooLate = new AbortController();
  // Not AbortSignal.timeout: Node 20 forgets that signal when only AbortSignal.any holds it, and the limit with it.
  const timer = setTimeout(() => tooLate.abort(), limitMs);
  try {
    return await request(endpoint, texts, AbortSignal.any([signal, tooLate.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (!tooLate.signal.aborted) throw error;
    const failure = `${shownEndpoint(endpoint.baseUrl)} gave no answer within ${limitMs / 1000} s.`;
    throw new EmbeddingsFailure(failure, { code: 'EMBEDDINGS_FAILED', passing: true, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** What was thrown, as a failure to be told of; a defect of ours is not hidden. */
export function asFailure(error: unknown): EmbeddingsFailure {
  if (error instanceof EmbeddingsFailure) return error;
  throw error;
}

/** The address without its query, which may hold a secret. */
export function shownEndpoint(baseUrl: string): string {
  return shownUrl(embeddingsUrl(baseUrl));
}

// --- internal ---

async function request(
  endpoint: EmbeddingsEndpoint,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const url = embeddingsUrl(endpoint.baseUrl);
  const at = shownUrl(url);
  const passing = (what: string, error: unknown): EmbeddingsFailure => {
    const failure = `${at} ${what}: ${withoutKey(reasonOf(error), endpoint.key)}.`;
    return new EmbeddingsFailure(failure, { code: 'EMBEDDINGS_FAILED', passing: true, cause: error });
  };
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal,
      headers: {
        'content-type': 'application/json',
        ...(endpoint.key ? { authorization: `Bearer ${endpoint.key}` } : {}),
      },
      body: JSON.stringify({ model: endpoint.model, input: texts, encoding_format: 'float' }),
    });
  } catch (error) {
    throw passing('cannot be reached', error);
  }
  const limit = response.ok ? texts.length * MAX_DIMENSIONS * NUMBER_BYTES + ENVELOPE_BYTES : ENVELOPE_BYTES;
  let body: string | undefined;
  try {
    body = await readAtMost(response, limit);
  } catch (error) {
    throw passing('broke off its answer', error);
  }
  if (!response.ok) throw refusal(response, body ?? '', at, endpoint.key);
  const answer = body === undefined ? `more than ${limit} bytes` : readEmbeddings(body, texts.length);
  if (typeof answer !== 'string') return answer;
  const failure = `${at} answered ${texts.length} text(s) with ${withoutKey(answer, endpoint.key)}.`;
  throw new EmbeddingsFailure(failure, { code: 'EMBEDDINGS_INVALID' });
}

/**
 * Vectors of length 1 out of the body of an answer, in the order of the texts.
 *
 * @returns what is wrong with it instead, to be put behind "answered with".
 */
function readEmbeddings(body: string, count: number): readonly Float32Array[] | string {
  const parsed = embeddingsAnswer.safeParse(parseJson(body));
  if (!parsed.success) return 'something that is no JSON of the form { data: [{ index, embedding }] }';
  const { data } = parsed.data;
  if (data.length !== count) return `${data.length} vector(s)`;
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined);
  for (const [at, { index = at, embedding }] of data.entries()) {
    if (index >= count || vectors[index]) return `indexes that are not 0 to ${count - 1}, each once`;
    const vector = vectorOf(embedding);
    if (typeof vector === 'string') return vector;
    vectors[index] = vector;
  }
  const found = vectors as readonly Float32Array[];
  const sizes = new Set(found.map(({ length }) => length));
  return sizes.size > 1 ? `vectors of different sizes (${[...sizes].join(', ')})` : found;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function vectorOf(embedding: unknown): Float32Array | string {
  if (!Array.isArray(embedding)) return 'an embedding that is no list of numbers';
  if (embedding.length === 0 || embedding.length > MAX_DIMENSIONS)
    return `a vector of ${embedding.length} numbers, expected 1 to ${MAX_DIMENSIONS}`;
  if (!embedding.every((one) => typeof one === 'number' && Number.isFinite(one)))
    return 'a vector with something in it that is no finite number';
  const length = Math.sqrt(embedding.reduce((sum: number, one: number) => sum + one * one, 0));
  // Also what would overflow.
  if (!(length > 0 && Number.isFinite(length))) return 'a vector without a direction';
  return Float32Array.from(embedding, (one: number) => one / length);
}

function embeddingsUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/embeddings`;
  return url;
}

function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** Undefined when there is more; the rest is not read. */
async function readAtMost(response: Response, limit: number): Promise<string | undefined> {
  if (!response.body) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** 408, 425, 429 and all 5xx may pass; what else is refused stays refused. */
function refusal(response: Response, body: string, at: string, key: string | undefined): EmbeddingsFailure {
  const { status, headers } = response;
  const passing = status === 408 || status === 425 || status === 429 || status >= 500;
  const denied = status === 401 || status === 403;
  // An endpoint that does not like a key likes to say which one.
  const reason = denied ? 'it does not take the key; set EMBEDDINGS_API_KEY' : withoutKey(saidIn(body), key);
  const message = `${at} answered with status ${status}${reason ? `: ${reason}` : ''}.`;
  return new EmbeddingsFailure(message, {
    code: 'EMBEDDINGS_FAILED',
    passing,
    retryAfterMs: retryAfter(headers.get('retry-after')),
  });
}

function saidIn(body: string): string {
  let said: unknown = body;
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
    said = [inner, message, detail].find((one) => typeof one === 'string') ?? '';
  } catch {
    // Then it is text, or a page.
  }
  const line = String(said).replace(/\s+/g, ' ').trim();
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON)}…` : line.replace(/\.$/, '');
}

/** Seconds, or a date. */
function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError && 'code' in cause) return String(cause.code);
  return describeError(cause ?? error).replace(/\.$/, '');
}

function withoutKey(text: string, key: string | undefined): string {
  return key ? text.replaceAll(key, '***') : text;
}
