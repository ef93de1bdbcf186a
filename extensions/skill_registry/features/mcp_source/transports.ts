import type { ChildProcess } from 'node:child_process';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import type { McpServerConfig } from './config.ts';

/** Throws when there are too many bytes. */
type CountBytes = (bytes: number) => void;

const KEPT_STDERR = 2_000;

/** Neither it nor its streams keep this process running. Gets SIGTERM when this process ends. */
export class ServerProcessTransport extends StdioClientTransport {
  /** The end of what it wrote. */
  written = '';
  readonly #count: CountBytes;

  constructor(parameters: StdioServerParameters, count: CountBytes) {
    super({ ...parameters, stderr: 'pipe' });
    this.#count = count;
    // Always read: if nobody reads the pipe, it fills up and the server stops.
    this.stderr?.on('data', (data: Buffer) => {
      this.written = (this.written + data.toString('utf8')).slice(-KEPT_STDERR);
    });
  }

  override async start(): Promise<void> {
    await super.start();
    const child = this.#child();
    if (!child) return;
    endWithProcess(child);
    child.stdout?.on('data', (data: Buffer) => {
      try {
        this.#count(data.length);
      } catch (error) {
        this.onerror?.(error as Error);
        this.close().catch(() => undefined);
      }
    });
    hold(child, 'unref');
  }

  override async close(): Promise<void> {
    const child = this.#child();
    if (!child) return super.close();
    // Keep this process running until the server has ended.
    hold(child, 'ref');
    await super.close();
    hold(child, 'unref');
  }

  /** The SDK does not expose the process. Without it the server works, but keeps this process running. */
  #child(): ChildProcess | undefined {
    return (this as unknown as { readonly _process?: ChildProcess })._process;
  }
}

/** A server at an address. Keeps no connection open between requests: it would keep this process running. */
export function httpTransport(
  url: string,
  headers: McpServerConfig['headers'] = {},
  maxBytes: number,
  count: CountBytes,
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
    async fetch(address, init) {
      // A GET would open the stream of notifications; answer as a server without one does.
      if (init?.method === 'GET') return new Response(null, { status: 405 });
      return counted(await answerFrom(address, init), maxBytes, count);
    },
  });
}

// --- internal ---

const running = new Set<ChildProcess>();

/** One listener for all processes: Node warns of more than ten. */
function endWithProcess(child: ChildProcess): void {
  if (running.size === 0) process.on('exit', endAll);
  running.add(child);
  child.once('close', () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', endAll);
  });
}

function endAll(): void {
  for (const child of running) child.kill('SIGTERM');
}

/** Keeps this process running for the child and its streams, or no longer. */
function hold(child: ChildProcess, how: 'ref' | 'unref'): void {
  for (const handle of [child, child.stdin, child.stdout, child.stderr])
    (handle as Partial<Pick<ChildProcess, 'ref' | 'unref'>> | null)?.[how]?.();
}

const MAX_REDIRECTIONS = 5;

/** Follows redirections of the same origin only: headers may contain a secret, and a person approved this address. */
async function answerFrom(address: string | URL, init: RequestInit | undefined): Promise<Response> {
  let target = new URL(address);
  for (let hop = 0; hop <= MAX_REDIRECTIONS; hop++) {
    const response = await fetch(target.href, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, target.href) ? new URL(location, target) : undefined;
    if (next?.origin !== target.origin || next.username !== '' || next.password !== '')
      throw new Error(
        `it leads to ${next?.origin ?? 'something that is no address'}, where nothing is sent: name that address in the config if it is meant`,
      );
    // With another status, resending could execute the call twice.
    if (response.status !== 307 && response.status !== 308) return response;
    target = next;
  }
  throw new Error(`it leads elsewhere more than ${MAX_REDIRECTIONS} times`);
}

function counted(response: Response, maxBytes: number, count: CountBytes): Response {
  if (!response.body) return response;
  let left = maxBytes;
  const limit = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left < 0) throw new Error(`an answer has more than ${maxBytes} bytes`);
      count(chunk.length);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
