import { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { describeError } from 'skill-registry/kernel';
import { yamlPackage } from '../../../../kernel/host.ts';
import { abortAfter } from '../../../../lib/waiting/index.ts';
import type { McpServerConfig } from './config.ts';
import { type Entry, MAX_FRONTMATTER, type McpListing } from './entries.ts';
import { httpTransport, ServerProcessTransport } from './transports.ts';

/** In milliseconds. */
export interface McpTimes {
  readonly connect: number;
  /** For all pages of the list together. */
  readonly list: number;
  readonly read: number;
  /** That a scan waits for the first list. */
  readonly first: number;
  /** That a scan waits for a later list before it uses the last one. */
  readonly later: number;
}

export interface ConnectOptions {
  /** With secrets filled in. */
  readonly server: McpServerConfig;
  /** The working directory of a program. */
  readonly root: string;
  readonly fileBytes: number;
  readonly times: McpTimes;
  readonly signal: AbortSignal;
  /** Called when the server reports changed skills. Never over HTTP: that would need an open connection. */
  readonly onChanged: () => void;
  readonly onEnd: () => void;
}

export interface McpConnection {
  /** Identifies the server's registry; undefined for another program. */
  readonly instance: string | undefined;
  readonly hasSkills: boolean;
  list(): Promise<McpListing>;
  /** @throws SkillVerificationError when size, digest or frontmatter differ from the entry. */
  read(entry: Entry, uri: string): Promise<Uint8Array>;
  /** Ends a started process, and waits for its end. */
  close(): Promise<void>;
  describe(error: unknown): string;
}

/** Per message. A file may take twice its size, because it is escaped or in base64. */
const MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_PAGES = 256;
const LIST_BYTES = 32 * 1024 * 1024;
/** Milliseconds to answer a question of the newest protocol; then the older protocol is used. */
const PROBE_MS = 3_000;

export async function connect(options: ConnectOptions): Promise<McpConnection> {
  const isProgram = options.server.url === undefined;
  try {
    return await connectAs('auto', options);
  } catch (error) {
    // A program with an old SDK may end at an unknown message; one that cannot be started has a system error code.
    const isEnded = /clos/i.test(describeError(error)) && !/^E[A-Z]+$/.test(codeOf(error).code ?? '');
    if (!isProgram || options.signal.aborted || !isEnded) throw error;
    return connectAs('legacy', options);
  }
}

/** The MCP capability with the `instanceOf` of our servers. */
const INSTANCE_CAPABILITY = 'skill-registry';

// --- internal ---

async function connectAs(mode: 'auto' | 'legacy', options: ConnectOptions): Promise<McpConnection> {
  const { times, onChanged, onEnd } = options;
  const meter = new ListMeter();
  const transport = transportOf(options, meter);
  const isProgram = transport instanceof ServerProcessTransport;
  let failure: unknown;
  const client = new Client(
    { name: 'skill-registry', version: '1' },
    {
      versionNegotiation: { mode, ...(isProgram ? { probe: { timeoutMs: Math.min(PROBE_MS, times.connect) } } : {}) },
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_PAGES,
      ...(isProgram ? { listChanged: { resources: { autoRefresh: false, onChanged } } } : {}),
    },
  );
  client.onerror = (error) => {
    failure = error;
  };
  const describe = (error: unknown): string => {
    const cause = causeOf(error, failure);
    const words = isProgram ? errorLineOf(transport.written) : '';
    return words === '' || cause.includes(words) ? cause : `${cause}; it wrote: ${words}`;
  };
  try {
    const signal = abortAfter(times.connect, options.signal);
    await client.connect(transport, { timeout: times.connect, signal });
  } catch (error) {
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    throw Object.assign(new Error(describe(error), { cause: error }), codeOf(error));
  }
  client.onclose = onEnd;
  const skills = new SkillsClient(client, { skipInvalid: true, parseFrontmatter });
  const { experimental } = client.getServerCapabilities() ?? {};
  const { instance } = (experimental?.[INSTANCE_CAPABILITY] ?? {}) as { readonly instance?: unknown };
  return {
    instance: typeof instance === 'string' ? instance : undefined,
    hasSkills: skills.supported,
    async list() {
      const signal = abortAfter(times.list, meter.start());
      try {
        return await skills.list({}, { timeout: times.list, signal });
      } finally {
        meter.end();
      }
    },
    async read(entry, uri) {
      const signal = abortAfter(times.read);
      const { bytes } = await skills.read(entry, uri, { timeout: times.read, signal, cacheMode: 'bypass' });
      return bytes;
    },
    close: () => client.close(),
    describe,
  };
}

function transportOf({ server, root: cwd, fileBytes }: ConnectOptions, meter: ListMeter) {
  const maxBytes = Math.max(MESSAGE_BYTES, 3 * fileBytes);
  if (server.url !== undefined) return httpTransport(server.url, server.headers, maxBytes, meter.add);
  const [command = '', ...args] = [server.command ?? [], server.args ?? []].flat();
  return new ServerProcessTransport({ command, args, env: { ...server.env }, cwd, maxBufferSize: maxBytes }, meter.add);
}

/** Counts the bytes of a list. */
class ListMeter {
  #left = Number.POSITIVE_INFINITY;
  #tooLong = new AbortController();

  /** @throws when there are too many. */
  readonly add = (bytes: number): void => {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const error = new Error(`its list of skills has more than ${LIST_BYTES} bytes`);
    this.#tooLong.abort(error);
    throw error;
  };

  /** @returns a signal that aborts when too many bytes have arrived. */
  start(): AbortSignal {
    this.#left = LIST_BYTES;
    this.#tooLong = new AbortController();
    return this.#tooLong.signal;
  }

  end(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }
}

/** Uses the same YAML package as all frontmatters here: the SDK's parser knows only part of YAML. */
function parseFrontmatter(text: string): Record<string, unknown> {
  if (text.length > MAX_FRONTMATTER) throw new Error(`it has more than ${MAX_FRONTMATTER} characters`);
  const value: unknown = yamlPackage().parse(text, { version: '1.2', schema: 'core' });
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error('it is no mapping of fields');
}

function causeOf(error: unknown, failure: unknown): string {
  const isClosed = /connection closed/i.test(describeError(error));
  const shown = isClosed && failure !== undefined ? failure : error;
  let { cause } = shown as { readonly cause?: unknown };
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  const [line = ''] = describeError(shown)
    .trim()
    .split(/[\r\n]/);
  const below = cause instanceof Error ? describeError(cause) || (codeOf(cause).code ?? '') : '';
  return below === '' || line.includes(below) ? line : `${line} (${below})`;
}

function codeOf(error: unknown): { readonly code?: string } {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? { code } : {};
}

function errorLineOf(text: string): string {
  const lines = text.trim().split(/[\r\n]+/);
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '').trim();
}
