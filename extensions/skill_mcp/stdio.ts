import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import {
  INVALID_REQUEST,
  type McpServer,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import type { SkillMcpDoor } from './door.ts';

export interface StdioStreams {
  readonly input: Readable;
  /** Nothing else may be written to it. */
  readonly output: Writable;
  /** Told of what goes wrong beside the protocol. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Serves one client over a pair of streams until it closes its end, or `signal` aborts.
 *
 * @returns when the connection is closed.
 */
export async function serveStreams(
  door: SkillMcpDoor,
  signal: AbortSignal,
  { input, output, ...options }: StdioStreams,
): Promise<void> {
  const onError = (error: Error): void => void door.callHook('onError', () => options.onError?.(error));
  const servers = new Set<McpServer>();
  const over = new AbortController();
  const until = { signal: AbortSignal.any([signal, over.signal]), cleanup: true };
  const ended = Promise.race([
    finished(input, { ...until, writable: false }),
    finished(output, { ...until, readable: false }),
  ]).catch((error) => {
    if (!signal.aborted) onError(error);
  });
  const handle = serveSdkStdio(
    async () => {
      const server = await door.createServer();
      servers.add(server);
      server.server.onclose = () => void servers.delete(server);
      return server;
    },
    { transport: createStdioTransport(input, output), onerror: onError },
  );
  const unsubscribe = door.onListChanged(({ resources, prompts }) => {
    for (const server of servers) {
      if (!server.isConnected()) continue;
      if (resources) server.sendResourceListChanged();
      if (prompts) server.sendPromptListChanged();
    }
  });
  await ended;
  over.abort();
  unsubscribe();
  await handle.close();
}

// --- internal ---

/** Bytes of one line. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * One client over a pair of streams, a message a line. A line that is no message is answered with a JSON-RPC error, under the id
 * of the request where it has one, and the next line is read; what stays unread of a long one is not kept. Reading waits while
 * the client does not take the answers.
 *
 * Not the SDK's own: that one stops reading for good at the first line over its limit, says nothing to text that is no JSON, and
 * listens to the output once more for each answer that waits.
 */
function createStdioTransport(input: Readable, output: Writable): Transport {
  let line: Line = newLine();
  let isClosed = false;
  const send = (message: object): void => {
    if (isClosed) return;
    if (output.write(`${JSON.stringify(message)}\n`)) return;
    input.pause();
    if (output.listenerCount('drain', resume) === 0) output.once('drain', resume);
  };
  const resume = (): void => void (isClosed || input.resume());
  const onData = (data: Buffer | string): void => {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data;
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, start);
      add(line, chunk.subarray(start, end < 0 ? chunk.length : end));
      start = end < 0 ? chunk.length : end + 1;
      if (end < 0) return;
      const ended = line;
      line = newLine();
      handle(ended);
    }
  };
  const handle = (ended: Line): void => {
    const read = messageOf(ended);
    if ('message' in read) {
      if (read.message) transport.onmessage?.(read.message);
      return;
    }
    transport.onerror?.(new Error(`A line of standard input was not used. ${read.error.message}`));
    // Answers are never answered: two that do not understand each other would go on for ever.
    if (!read.isAnswer) send({ jsonrpc: '2.0', id: read.id, error: read.error });
  };
  const onEnd = (): void => {
    if (line.bytes > 0)
      transport.onerror?.(new Error('Standard input ended in the middle of a line, which was not used.'));
    void transport.close();
  };
  const onError = (error: Error): void => transport.onerror?.(error);
  const transport: Transport = {
    async start() {
      input.on('data', onData).on('error', onError).on('end', onEnd);
    },
    async send(message) {
      send(message);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      output.off('drain', resume);
      input.off('data', onData).off('error', onError).off('end', onEnd);
      if (input.listenerCount('data') === 0) input.pause();
      transport.onclose?.();
    },
  };
  return transport;
}

/** One line so far. Over the limit only what is at its top level is looked for. */
interface Line {
  bytes: number;
  chunks: Buffer[];
  long?: TopLevel;
}

function newLine(): Line {
  return { bytes: 0, chunks: [] };
}

function add(line: Line, chunk: Buffer): void {
  line.bytes += chunk.length;
  line.chunks.push(chunk);
  if (line.bytes <= MAX_MESSAGE_BYTES) return;
  line.long ??= createTopLevel();
  for (const one of line.chunks) line.long.look(one);
  line.chunks = [];
}

type Message = ReturnType<typeof parseJSONRPCMessage>;
type Read =
  | { readonly message: Message | undefined }
  | {
      readonly error: { readonly code: number; readonly message: string };
      readonly id: string | number | null;
      /** The answer to a request of ours. */
      readonly isAnswer: boolean;
    };

/** Nothing for an empty line. */
function messageOf({ bytes, chunks, long }: Line): Read {
  if (long) {
    const message = `A message may have ${MAX_MESSAGE_BYTES} bytes, this one has ${bytes}. Send less at once.`;
    return { error: { code: INVALID_REQUEST, message }, ...long.found() };
  }
  const whole = Buffer.concat(chunks);
  const text = whole.toString('utf8');
  if (text.trim() === '') return { message: undefined };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const message = 'It is no JSON. Send each message as JSON on a line of its own.';
    return { error: { code: PARSE_ERROR, message }, id: null, isAnswer: false };
  }
  const { id, result, error } = (json ?? {}) as Readonly<Record<string, unknown>>;
  const about = { id: isId(id) ? id : null, isAnswer: result !== undefined || error !== undefined };
  if (!isUtf8(whole)) return { error: { code: PARSE_ERROR, message: 'It is not UTF-8. Send UTF-8.' }, ...about };
  try {
    return { message: parseJSONRPCMessage(json) };
  } catch {
    const message = 'It is no message of JSON-RPC 2.0. Send an object with jsonrpc, method and, for a request, id.';
    return { error: { code: INVALID_REQUEST, message }, ...about };
  }
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isInteger(value);
}

/** Finds the id of a JSON object that is too large to be parsed, wherever in it that stands. */
interface TopLevel {
  look(chunk: Buffer): void;
  found(): { readonly id: string | number | null; readonly isAnswer: boolean };
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];
/** Longer keys and ids are not looked for. */
const MAX_TOKEN_BYTES = 256;

function createTopLevel(): TopLevel {
  let depth = 0;
  let [inString, escaped] = [false, false];
  /** The key, or the value that is no object or array, that is being read at the top level. */
  let token: number[] = [];
  let key: unknown;
  const values = new Map<unknown, unknown>();
  const takeToken = (): unknown => {
    const text = Buffer.from(token).toString('utf8');
    token = [];
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const endValue = (): void => {
    const value = takeToken();
    if (key === 'id' || key === 'result' || key === 'error') values.set(key, value);
    key = undefined;
  };
  const lookAt = (byte: number): void => {
    if (inString) {
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === BRACE || byte === BRACKET) {
      depth += 1;
      return;
    } else if (byte === END_BRACE || byte === END_BRACKET) {
      if (depth === 1) endValue();
      depth -= 1;
      return;
    } else if (depth === 1 && byte === COLON) {
      key = takeToken();
      return;
    } else if (depth === 1 && byte === COMMA) {
      endValue();
      return;
    }
    if (depth === 1 && token.length <= MAX_TOKEN_BYTES) token.push(byte);
  };
  return {
    look(chunk) {
      for (const byte of chunk) lookAt(byte);
    },
    found() {
      const id = values.get('id');
      return { id: isId(id) ? id : null, isAnswer: values.has('result') || values.has('error') };
    },
  };
}
