import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { INTERNAL_ERROR, type McpServer, type Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import type { SkillMcpDoor } from './door.ts';
import { add, type Line, type Message, messageOf, newLine } from './message-lines.ts';

export interface StdioStreams {
  readonly input: Readable;
  /** Nothing else may be written to it. */
  readonly output: Writable;
  /** Called for failures that the protocol cannot report. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Serves one client over a pair of streams until the client closes the connection, or `signal` aborts. What was asked before the
 * input ended is answered first, for 5 seconds at most; every other request gets an error. All of it is written before this resolves.
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
const TOO_LATE =
  'The input has ended, and this request was not answered within 5 seconds. Keep the input open until the answer is there.';
const CUT = 'Standard input ended in the middle of a line, which was not used.';
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
  let [isClosed, isOver] = [false, false];
  const asked = createAsked();
  const send = (message: object): void => {
    if (isClosed || isOver) return;
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
  const handle = (ended: Line, isCut = false): void => {
    const read = messageOf(ended);
    if ('message' in read) {
      if (read.message) asked.received(read.message);
      if (read.message) transport.onmessage?.(read.message);
      return;
    }
    transport.onerror?.(new Error(isCut ? CUT : `A line of standard input was not used. ${read.error.message}`));
    // Responses get no error: two programs with the same fault would answer each other without end.
    if (!read.isAnswer) send({ jsonrpc: '2.0', id: read.id, error: read.error });
  };
  // A message may be whole although the end of its line is missing.
  const onEnd = (): void => handle(line, true);
  const onError = (error: Error): void => transport.onerror?.(error);
  const transport: StdioTransport = {
    async answered(signal) {
      await asked.answered(signal);
      for (const id of asked.waiting())
        send({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: TOO_LATE } });
      isOver = true;
      // Without waiting, the end of the process would cut off what a slow reader has not taken.
      if (output.writableLength > 0) await new Promise<void>((resolve) => output.write('', () => resolve()));
    },
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
  /**
   * Waits until no request waits for its answer, at most `LAST_ANSWERS_MS` or until `signal` aborts, and gives the others an error.
   * Resolves when all answers are written; nothing is sent afterwards.
   */
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
    waiting: (): readonly unknown[] => [...waiting],
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
      await new Promise<void>((resolve) => {
        // It keeps the process running: a request may wait for what does not.
        const timer = setTimeout(resolve, LAST_ANSWERS_MS);
        onNone = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', onNone, { once: true });
      });
    },
  };
}
