import { CodedError, describeError } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { foldLine, plural, shorten } from '../../../../lib/text/index.ts';
import { abortAfter } from '../../../../lib/waiting/index.ts';

export interface EmbeddingsEndpoint {
  /** `http(s)://...`; `/embeddings` is appended to its path. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; never shown. */
  readonly key: string | undefined;
}

/** The message contains neither the key nor the texts of the request. */
export class EmbeddingsFailure extends CodedError<'EMBEDDINGS_FAILED' | 'EMBEDDINGS_INVALID'> {
  declare readonly details: {
    readonly temporary?: boolean;
    /** `Retry-After` in milliseconds, at most ten minutes. */
    readonly retryAfterMs?: number | undefined;
  };
}

const MAX_DIMENSIONS = 16_384;
/** With its comma, in JSON. */
const NUMBER_BYTES = 32;
/** Of an error answer, and of the rest of an answer. */
const MESSAGE_BYTES = 65_536;
const MAX_REASON = 200;
const MAX_RETRY_AFTER_MS = 600_000;

/**
 * Returns vectors of length 1, in the order of the texts. Does not use the AI SDK, in order to limit the size of an
 * answer while it is read, to read `Retry-After`, to send key and texts to no redirect, and to check every number.
 *
 * @throws EmbeddingsFailure; the reason of `signal` when that aborts.
 */
export async function fetchEmbeddings(
  { baseUrl, model, key }: EmbeddingsEndpoint,
  texts: readonly string[],
  signal: AbortSignal,
  limitMs: number,
): Promise<readonly Float32Array[]> {
  const withoutKey = (text: string): string => (key ? text.replaceAll(key, '***') : text);
  const failed = (what: string, details: EmbeddingsFailure['details'], cause?: unknown): EmbeddingsFailure =>
    new EmbeddingsFailure('EMBEDDINGS_FAILED', withoutKey(`${shownEndpoint(baseUrl)} ${what}.`), details, cause);
  const limit = abortAfter(limitMs, signal);
  let response: Response | undefined;
  let body: string | undefined;
  try {
    response = await fetch(embeddingsUrl(baseUrl), {
      method: 'POST',
      redirect: 'manual',
      signal: limit,
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
    });
    body = await readAtMost(response, response.ok ? answerBytes(texts.length) : MESSAGE_BYTES);
  } catch (cause) {
    signal.throwIfAborted();
    const what = response ? 'stopped in the middle of its answer' : 'cannot be reached';
    const reason = limit.aborted ? `gave no answer within ${limitMs / 1000} s` : `${what}: ${reasonOf(cause)}`;
    throw failed(reason, { temporary: true }, cause);
  }
  // Removes the key before the text is cut: a part of the key would not be recognised.
  if (!response.ok)
    throw failed(`answered with ${refusal(response, withoutKey(body ?? ''), key)}`, detailsOf(response));
  const answer = readEmbeddings(body, texts.length);
  if (typeof answer !== 'string') return answer;
  const message = withoutKey(`${shownEndpoint(baseUrl)} answered with ${answer}.`);
  throw new EmbeddingsFailure('EMBEDDINGS_INVALID', message);
}

/** Without the query of the address, which may contain a secret. */
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

/** Undefined for a longer body, which is not read to its end. */
async function readAtMost(response: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError && 'code' in cause) return String(cause.code);
  return describeError(cause ?? error).replace(/\.$/, '');
}

function refusal({ status }: Response, body: string, key: string | undefined): string {
  // The body is not shown: many endpoints repeat the rejected key in it.
  if (status === 401 || status === 403)
    return `status ${status}: ${key ? 'it does not accept the key' : 'it wants a key, and none was sent'}; set EMBEDDINGS_API_KEY`;
  const errorText = (withFallback(() => JSON.parse(body)) as { error?: { message?: unknown } } | undefined)?.error
    ?.message;
  const reason = shorten(foldLine(typeof errorText === 'string' ? errorText : body), MAX_REASON).replace(/\.$/, '');
  return `status ${status}${reason && `: ${reason}`}`;
}

/** 408, 425, 429 and all 5xx are temporary; all others are final. */
function detailsOf({ status, headers }: Response): EmbeddingsFailure['details'] {
  const value = headers.get('retry-after') ?? '';
  const ms = /^[\d.]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  const retryAfterMs = ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
  return { temporary: [408, 425, 429].includes(status) || status >= 500, retryAfterMs };
}

/** The vectors, or what is wrong: a text that follows "answered with". */
function readEmbeddings(body: string | undefined, count: number): readonly Float32Array[] | string {
  if (body === undefined) return `more than ${answerBytes(count)} bytes`;
  const data = (withFallback(() => JSON.parse(body)) as { data?: unknown } | undefined)?.data;
  if (!Array.isArray(data)) return 'something other than JSON of the form { data: [{ index, embedding }] }';
  if (data.length !== count) return `${plural(data.length, 'vector')} for ${plural(count, 'text')}`;
  const byIndex = new Map<unknown, Float32Array | undefined>(
    data.map((row, at) => [row?.index ?? at, unitVector(row?.embedding)]),
  );
  const vectors = data.flatMap((_, index) => byIndex.get(index) ?? []);
  if ([...byIndex.values()].includes(undefined))
    return `an embedding that is not a list of 1 to ${MAX_DIMENSIONS} finite numbers, or is zero`;
  if (vectors.length !== count) return `indexes that are not 0 to ${count - 1}, each once`;
  const sizes = new Set(vectors.map(({ length }) => length));
  return sizes.size > 1 ? `vectors of different sizes (${[...sizes].join(', ')})` : vectors;
}

/** Scales to length 1. Undefined for zeros, an overflow, and anything that is not a list of numbers. */
function unitVector(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length > MAX_DIMENSIONS || !embedding.every(Number.isFinite)) return;
  const length = Math.sqrt(embedding.reduce((sum: number, one: number) => sum + one * one, 0));
  return length > 0 && length < Infinity ? Float32Array.from(embedding, (one: number) => one / length) : undefined;
}
