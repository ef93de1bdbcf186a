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
import { abortAfter } from '../../lib/waiting/index.ts';
import type { SkillMcpDoor } from './door.ts';

export interface StdioStreams {
  readonly input: Readable;
  /** Nothing else may be written to it. */
  readonly output: Writable;
  /** Called for failures that the protocol cannot report. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Serves one client over a pair of streams until the client closes the connection, or `signal` aborts. What was asked before the
 * input ended is answered first, for 5 seconds at most.
 *
 * @returns When the connection is closed.
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
  const transport = createStdioTransport(input, output);
  const ended = Promise.race([
    finished(input, { ...until, writable: false }).then(() => transport.answered(until.signal)),
    finished(output, { ...until, readable: false }),
  ]).catch((error) => {
    if (!signal.aborted) onError(error);
  });
  const handle = serveSdkStdio(
    async () => {
      const server = await door.createServer({ local: true });
      servers.add(server);
      server.server.onclose = () => void servers.delete(server);
      return server;
    },
    { transport, onerror: onError },
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

/** How long requests may take that wait for their answer when the input ends, in milliseconds. */
const LAST_ANSWERS_MS = 5_000;
/** Bytes of one line. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * A transport over a pair of streams, one message per line. A line that is not a valid message gets a JSON-RPC error, with the id of
 * the request if it has one, and the next line is read. Lines over the limit are not kept in memory. Reading pauses while the client
 * does not read the answers.
 *
 * The transport of the SDK is not used: it stops at the first line over its limit, does not answer text that is not JSON, and adds
 * a listener to the output for each answer that waits.
 */
function createStdioTransport(input: Readable, output: Writable): StdioTransport {
  let line: Line = newLine();
  let isClosed = false;
  const asked = createAsked();
  const send = (message: object): void => {
    if (isClosed) return;
    asked.sent(message);
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
      if (read.message) asked.received(read.message);
      if (read.message) transport.onmessage?.(read.message);
      return;
    }
    transport.onerror?.(new Error(`A line of standard input was not used. ${read.error.message}`));
    // Responses get no error: two programs with the same fault would answer each other without end.
    if (!read.isAnswer) send({ jsonrpc: '2.0', id: read.id, error: read.error });
  };
  const onEnd = (): void => {
    if (line.bytes > 0)
      transport.onerror?.(new Error('Standard input ended in the middle of a line, which was not used.'));
  };
  const onError = (error: Error): void => transport.onerror?.(error);
  const transport: StdioTransport = {
    answered: asked.answered,
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

interface StdioTransport extends Transport {
  /** Resolves when no request waits for its answer, after `LAST_ANSWERS_MS`, or when `signal` aborts. */
  answered(signal: AbortSignal): Promise<void>;
}

/** The requests that wait for their answer. */
function createAsked() {
  const waiting = new Set<unknown>();
  let onNone = (): void => {};
  const remove = (id: unknown): void => {
    if (waiting.delete(id) && waiting.size === 0) onNone();
  };
  return {
    received(message: Message): void {
      if (!('method' in message)) return;
      if (message.method === 'notifications/cancelled') remove(message.params?.requestId);
      // A subscription is answered when it ends.
      else if ('id' in message && message.method !== 'subscriptions/listen') waiting.add(message.id);
    },
    sent(message: object): void {
      if ('id' in message && !('method' in message)) remove(message.id);
    },
    async answered(signal: AbortSignal): Promise<void> {
      if (waiting.size === 0 || signal.aborted) return;
      const limit = abortAfter(LAST_ANSWERS_MS, signal);
      await new Promise<void>((resolve) => {
        onNone = resolve;
        limit.addEventListener('abort', () => resolve(), { once: true });
      });
    },
  };
}

/** The part of a line that was read. Of a line over the limit only values at its top level are kept. */
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
      /** Whether it is a response, not a request. */
      readonly isAnswer: boolean;
    };

/** Nothing for an empty line. */
function messageOf({ bytes, chunks, long }: Line): Read {
  if (long) {
    const message = `A message may have ${MAX_MESSAGE_BYTES} bytes, this one has ${bytes}. Send a shorter message.`;
    return { error: { code: INVALID_REQUEST, message }, ...long.found() };
  }
  const whole = Buffer.concat(chunks);
  const text = whole.toString('utf8');
  if (text.trim() === '') return { message: undefined };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const message = 'It is not JSON. Send each message as JSON on one line.';
    return { error: { code: PARSE_ERROR, message }, id: null, isAnswer: false };
  }
  const { id, result, error } = (json ?? {}) as Readonly<Record<string, unknown>>;
  const about = { id: isId(id) ? id : null, isAnswer: result !== undefined || error !== undefined };
  if (!isUtf8(whole)) return { error: { code: PARSE_ERROR, message: 'It is not UTF-8. Send UTF-8.' }, ...about };
  try {
    return { message: parseJSONRPCMessage(json) };
  } catch {
    const message = 'It is not a JSON-RPC 2.0 message. Send an object with jsonrpc, method and, for a request, id.';
    return { error: { code: INVALID_REQUEST, message }, ...about };
  }
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isInteger(value);
}

/** Finds the id of a JSON object that is too large to be parsed, at any position of its top level. */
interface TopLevel {
  look(chunk: Buffer): void;
  found(): { readonly id: string | number | null; readonly isAnswer: boolean };
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];
/** Bytes of a key or an id. Longer ones are not found. */
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
