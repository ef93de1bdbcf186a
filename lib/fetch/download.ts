import { isCodedError } from '../errors/index.ts';
import { isLoopback } from '../loopback/index.ts';
import { abortAfter } from '../waiting/index.ts';
import { originRefused, originUnavailable } from './errors.ts';

export interface Downloaded {
  readonly bytes: Buffer;
  readonly etag: string | undefined;
}

const LIMIT_MS = 300_000;
const MAX_REDIRECTS = 5;

/** Headers that hold secrets: sent to one origin alone. */
export interface OriginHeaders {
  /** Scheme, host and port, as `URL` gives them. */
  readonly origin: string;
  readonly values: Readonly<Record<string, string>>;
  /** What no answer may repeat. */
  readonly secrets: readonly string[];
}

export interface DownloadOptions {
  /** The address that named this one: its rules for redirections apply. Default: `url`. */
  readonly from?: string;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: OriginHeaders | undefined;
}

export async function download(url: string, maxBytes: number, options?: DownloadOptions): Promise<Buffer> {
  return ((await downloadIfChanged(url, maxBytes, options)) as Downloaded).bytes;
}

/**
 * `https:`, or `http:` on this machine, also after each redirection. None may lead from `https:` to `http:`, or from
 * another machine to this one. After one to another origin `headers` are not sent any more, even if it leads back.
 * @param options.etag - Of the caller's copy. @returns undefined when it has not changed.
 * @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED.
 */
export async function downloadIfChanged(
  url: string,
  maxBytes: number,
  { from = url, signal: ended, etag, headers }: DownloadOptions & { readonly etag?: string | undefined } = {},
): Promise<Downloaded | undefined> {
  const signal = abortAfter(LIMIT_MS, ended);
  let address = url;
  let sent = headers;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    assertMayLead(from, address, url);
    if (sent?.origin !== new URL(address).origin) sent = undefined;
    const asked = { ...sent?.values, ...(etag !== undefined && { 'if-none-match': etag }) };
    const response = await answerOf(address, signal, { headers: asked });
    const { status } = response;
    const target = response.headers.get('location');
    assertNotRepeated(sent, url, `${target} ${response.headers.get('etag')}`);
    if (status >= 300 && status < 400 && status !== 304 && target !== null) {
      await response.body?.cancel();
      address = targetOf(target, address, url);
      continue;
    }
    if (status === 304 && etag !== undefined) return undefined;
    if (response.ok) {
      const bytes = await bytesOf(response, url, maxBytes);
      assertNotRepeated(sent, url, bytes);
      return { bytes, etag: response.headers.get('etag') ?? undefined };
    }
    await response.body?.cancel();
    const why = status === 401 || status === 403 ? whyNotAllowed(sent, headers) : '';
    throw originUnavailable(url, `it answers with status ${status}${why}`, undefined, { status });
  }
  throw originUnavailable(url, `it leads elsewhere more than ${MAX_REDIRECTS} times`);
}

/**
 * Posts JSON, and follows no redirection. An answer of any other status is for the caller.
 * @throws ORIGIN_UNAVAILABLE without an answer; ORIGIN_REFUSED for a redirection, and as `downloadIfChanged`.
 */
export async function sendJson(
  url: string,
  body: string,
  maxBytes: number,
  { signal, headers }: Pick<DownloadOptions, 'headers'> & { readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  assertMayLead(url, url, url);
  const sent = headers?.origin === new URL(url).origin ? headers : undefined;
  const asked = { ...sent?.values, 'content-type': 'application/json' };
  const response = await answerOf(url, signal, { method: 'POST', headers: asked, body });
  const { status } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    throw originRefused(url, 'it leads elsewhere, and what is sent goes to no other address.');
  }
  const bytes = await bytesOf(response, url, maxBytes);
  assertNotRepeated(sent, url, bytes);
  return { status, bytes };
}

// --- internal ---

/** Errors repeat nothing that a server sends: it may be a password or endless. @throws ORIGIN_REFUSED. */
function targetOf(location: string, address: string, shown: string): string {
  if (!URL.canParse(location, address)) throw originRefused(shown, 'it leads to something that is no address.');
  const target = new URL(location, address);
  if (target.username !== '' || target.password !== '')
    throw originRefused(shown, 'it leads to an address with a user name or a password in it.');
  return target.href;
}

function assertMayLead(from: string, to: string, shown: string): void {
  const { protocol, hostname } = new URL(to);
  const before = new URL(from);
  const isHere = isLoopback(hostname);
  // An encrypted download must not continue unencrypted.
  if (protocol !== 'https:' && !(protocol === 'http:' && isHere && before.protocol === 'http:'))
    throw originRefused(shown, `it leads to ${protocol}//${hostname}, expected https: (http: only on this machine).`);
  if (isHere && !isLoopback(before.hostname))
    throw originRefused(shown, `it leads to ${protocol}//${hostname}, which is this machine.`);
}

/** Else a secret would get into a copy, a skill or a message. @throws ORIGIN_REFUSED. */
function assertNotRepeated(sent: OriginHeaders | undefined, shown: string, answer: string | Buffer): void {
  const text = typeof answer === 'string' ? answer.toLowerCase() : answer;
  const isIn = (secret: string): boolean => text.includes(typeof text === 'string' ? secret.toLowerCase() : secret);
  // A shorter one is a word that any text may have.
  if (sent?.secrets.some((secret) => secret.length >= 8 && isIn(secret)))
    throw originRefused(shown, 'its answer repeats a secret that was sent to it. Tell those who run it.');
}

function whyNotAllowed(sent: OriginHeaders | undefined, headers: OriginHeaders | undefined): string {
  if (sent)
    return `: it does not accept what was sent as ${Object.keys(sent.values).join(', ')}. Is the secret in it right, not expired, and allowed to read this? Set another one, and try again.`;
  if (headers) return `: it wants a login, and headers of this page are sent to ${headers.origin} alone.`;
  return `: it wants a login. Name a header with a secret for it: headers: { Authorization: "Bearer \${NAME}" } in the config, --header with add.`;
}

async function answerOf(
  address: string,
  signal: AbortSignal,
  request: { readonly headers: OriginHeaders['values']; readonly method?: string; readonly body?: string },
): Promise<Response> {
  const ask = (): Promise<Response> => fetch(address, { redirect: 'manual', signal, ...request });
  try {
    return await ask().catch((error: unknown) => {
      // The server has closed an idle connection.
      if (CLOSED.includes(codeOf(error))) return ask();
      throw error;
    });
  } catch (error) {
    throw originUnavailable(address, reasonOf(error), error);
  }
}

const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

function codeOf(error: unknown): string {
  return String(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code);
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

/** The message of `fetch` is always "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error;
  if (name === 'TimeoutError') return message.replace('Not finished', 'no answer');
  if (['ECONNREFUSED', 'ENOTFOUND'].includes(codeOf(error)))
    return `nothing answers there (${codeOf(error)}). Is its web server running, and the address right?`;
  return cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code || message : message;
}
