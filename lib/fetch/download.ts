import { isCodedError } from '../errors/index.ts';
import { originRefused, originUnavailable } from './errors.ts';

export interface Downloaded {
  readonly bytes: Buffer;
  /** To ask with next time. */
  readonly etag: string | undefined;
}

const LIMIT_MS = 300_000;
const MAX_REDIRECTS = 5;

/** As `downloadIfChanged`, without a condition. @returns its bytes. */
export async function download(url: string, maxBytes: number): Promise<Buffer> {
  const answer = await downloadIfChanged(url, maxBytes);
  return (answer as Downloaded).bytes;
}

/**
 * Fetches what lies at an address, over `https:`, or over `http:` on this machine; each redirection is held to the same rule, and
 * none leads from `https:` to `http:`.
 *
 * @param etag - Of what is there already.
 * @returns undefined when it has not changed since.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function downloadIfChanged(url: string, maxBytes: number, etag?: string): Promise<Downloaded | undefined> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  let address = url;
  const isPlain = url.startsWith('http:');
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const { protocol, hostname } = new URL(address);
    // What began encrypted stays so, and is not led to this machine.
    if (protocol !== 'https:' && !(isPlain && protocol === 'http:' && isLoopback(hostname)))
      throw originRefused(url, `it leads to ${protocol}//${hostname}, expected https: (http: only on this machine).`);
    const response = await answerOf(address, signal, etag);
    const target = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && response.status !== 304 && target !== null) {
      await response.body?.cancel();
      address = new URL(target, address).href;
      continue;
    }
    if (response.status === 304 && etag !== undefined) return undefined;
    if (!response.ok) throw originUnavailable(url, `it answers with status ${response.status}`);
    return { bytes: await bytesOf(response, url, maxBytes), etag: response.headers.get('etag') ?? undefined };
  }
  throw originUnavailable(url, `it leads elsewhere more than ${MAX_REDIRECTS} times`);
}

/** Whether an address is of this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^127(\.\d{1,3}){3}$/.test(host) || host === '[::1]';
}

// --- internal ---

async function answerOf(address: string, signal: AbortSignal, etag: string | undefined): Promise<Response> {
  try {
    return await fetch(address, {
      redirect: 'manual',
      signal,
      headers: etag === undefined ? {} : { 'if-none-match': etag },
    });
  } catch (error) {
    throw originUnavailable(address, reasonOf(error), error);
  }
}

async function bytesOf(response: Response, url: string, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw originRefused(url, `it has more than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (isCodedError(error, 'ORIGIN_REFUSED')) throw error;
    throw originUnavailable(url, `it broke off its answer (${reasonOf(error)})`, error);
  }
  return Buffer.concat(chunks);
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error;
  if (name === 'TimeoutError') return `no answer within ${LIMIT_MS / 1000} s`;
  return cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code || message : message;
}
