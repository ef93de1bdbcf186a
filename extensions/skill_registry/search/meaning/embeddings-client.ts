import { CodedError, describeError } from 'skill-registry/kernel';
import { foldLine, shorten } from '../../../../lib/text/index.ts';

/** Any endpoint that speaks OpenAI's `/embeddings`. */
export interface EmbeddingsEndpoint {
  /** `http(s)://...`; `/embeddings` is appended to its path. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; never shown. */
  readonly key: string | undefined;
}

type FailureDetails = {
  /** Whether the same request may go well later. */
  readonly passing?: boolean;
  /** How long the endpoint asked to be left alone, at most ten minutes. */
  readonly retryAfterMs?: number | undefined;
};

/** Why there are no vectors. The message holds neither the key nor anything that was sent. */
export class EmbeddingsFailure extends CodedError<'EMBEDDINGS_FAILED' | 'EMBEDDINGS_INVALID'> {
  declare readonly details: FailureDetails;
}

/** No vector has more numbers. */
const MAX_DIMENSIONS = 16_384;
/** One number and its comma in JSON. */
const NUMBER_BYTES = 32;
/** What is around the numbers, and an answer that refuses. */
const MESSAGE_BYTES = 65_536;
/** Of what an endpoint says about a refusal, so many UTF-16 code units are shown. */
const MAX_REASON = 200;
const MAX_RETRY_AFTER_MS = 600_000;

/**
 * Asks for the vectors of some texts: one request, vectors of length 1 in the order of the texts.
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
  const url = embeddingsUrl(endpoint.baseUrl);
  const withoutKey = (text: string): string => (endpoint.key ? text.replaceAll(endpoint.key, '***') : text);
  const shown = (what: string): string => withoutKey(`${shownEndpoint(endpoint.baseUrl)} ${what}.`);
  const failed = (what: string, details: FailureDetails, cause?: unknown): EmbeddingsFailure =>
    new EmbeddingsFailure('EMBEDDINGS_FAILED', shown(what), details, cause);
  const late = new AbortController();
  // Not AbortSignal.timeout: Node 20 forgets that signal when only AbortSignal.any holds it, and the limit with it.
  const timer = setTimeout(() => late.abort(), limitMs);
  let response: Response | undefined;
  let body: string | undefined;
  try {
    response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, late.signal]),
      headers: {
        'content-type': 'application/json',
        ...(endpoint.key ? { authorization: `Bearer ${endpoint.key}` } : {}),
      },
      body: JSON.stringify({ model: endpoint.model, input: texts, encoding_format: 'float' }),
    });
    body = await readAtMost(response, response.ok ? answerBytes(texts.length) : MESSAGE_BYTES);
  } catch (cause) {
    signal.throwIfAborted();
    const what = response ? 'broke off its answer' : 'cannot be reached';
    const reason = late.signal.aborted ? `gave no answer within ${limitMs / 1000} s` : `${what}: ${reasonOf(cause)}`;
    throw failed(reason, { passing: true }, cause);
  } finally {
    clearTimeout(timer);
  }
  if (!response.ok) {
    // Before it is shortened, which may leave a part of the key.
    throw failed(`answered with ${refusal(response, withoutKey(body ?? ''))}`, detailsOf(response));
  }
  const answer = readEmbeddings(body, texts.length);
  if (typeof answer !== 'string') return answer;
  throw new EmbeddingsFailure('EMBEDDINGS_INVALID', shown(`answered ${texts.length} text(s) with ${answer}`));
}

/** The address without its query, which may hold a secret. */
export function shownEndpoint(baseUrl: string): string {
  const { origin, pathname } = embeddingsUrl(baseUrl);
  return `${origin}${pathname}`;
}

// --- internal ---

function embeddingsUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/embeddings`;
  return url;
}

function answerBytes(texts: number): number {
  return texts * MAX_DIMENSIONS * NUMBER_BYTES + MESSAGE_BYTES;
}

/** Undefined when there is more; the rest is not read. */
async function readAtMost(response: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError && 'code' in cause) return String(cause.code);
  return describeError(cause ?? error).replace(/\.$/, '');
}

function refusal({ status }: Response, body: string): string {
  // An endpoint that does not like a key likes to say which one.
  if (status === 401 || status === 403) return `status ${status}: it does not take the key; set EMBEDDINGS_API_KEY`;
  const said = (parseJson(body) as { error?: { message?: unknown } } | undefined)?.error?.message;
  const reason = shorten(foldLine(typeof said === 'string' ? said : body), MAX_REASON).replace(/\.$/, '');
  return `status ${status}${reason && `: ${reason}`}`;
}

/** 408, 425, 429 and all 5xx may pass; what else is refused stays refused. */
function detailsOf({ status, headers }: Response): FailureDetails {
  const asked = headers.get('retry-after') ?? '';
  // Seconds, or a date.
  const ms = /^[\d.]+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  const retryAfterMs = ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
  return { passing: [408, 425, 429].includes(status) || status >= 500, retryAfterMs };
}

/** The vectors in an answer, or what is wrong with it, to be put behind "answered with". */
function readEmbeddings(body: string | undefined, count: number): readonly Float32Array[] | string {
  if (body === undefined) return `more than ${answerBytes(count)} bytes`;
  const data = (parseJson(body) as { data?: unknown } | undefined)?.data;
  if (!Array.isArray(data)) return 'something that is no JSON of the form { data: [{ index, embedding }] }';
  if (data.length !== count) return `${data.length} vector(s)`;
  const byIndex = new Map<unknown, Float32Array>();
  for (const [at, row] of data.entries()) {
    const { index = at, embedding } = Object(row) as { index?: unknown; embedding?: unknown };
    const vector = unitVector(embedding);
    if (!vector) return `an embedding that is no list of 1 to ${MAX_DIMENSIONS} finite numbers, or has no direction`;
    byIndex.set(index, vector);
  }
  const vectors = data.flatMap((_, index) => byIndex.get(index) ?? []);
  if (vectors.length !== count) return `indexes that are not 0 to ${count - 1}, each once`;
  const sizes = new Set(vectors.map(({ length }) => length));
  return sizes.size > 1 ? `vectors of different sizes (${[...sizes].join(', ')})` : vectors;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The same direction at length 1. Undefined for what has none: zeros, what overflows, and what is no vector. */
function unitVector(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length > MAX_DIMENSIONS || !embedding.every(Number.isFinite)) return;
  const length = Math.sqrt(embedding.reduce((sum: number, one: number) => sum + one * one, 0));
  return length > 0 && length < Infinity ? Float32Array.from(embedding, (one: number) => one / length) : undefined;
}
