import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { INTERNAL_ERROR, type McpServer, type Transport } from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import { aborted, settledWithin } from '../../lib/waiting/index.ts';
import { announce, type SkillMcpDoor } from './door.ts';
import { add, type Line, type Message, messageOf, newLine } from './message-lines.ts';

export interface StdioStreams {
  readonly input: Readable;
  /** Write nothing else to it. */
  readonly output: Writable;
  readonly onError?: ((error: Error) => void) | undefined;
}

/**
 * Serves one client until it closes the connection or `signal` aborts. After the end of the input, waiting requests
 * have 30 seconds; then they get an error. Resolves when all of it is written.
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
  const unsubscribe = door.onListChanged((change) => {
    for (const server of servers) announce(server, change);
  });
  await ended;
  over.abort();
  unsubscribe();
  await handle.close();
}

// --- internal ---

const LAST_ANSWERS_MS = 30_000;
const TOO_LATE =
  'The input has ended, and this request was not answered within 30 seconds. Keep the input open until the answer is there.';
const CUT = 'Standard input ended in the middle of a line, which was not used.';
const NEWLINE = 0x0a;

/**
 * Reads one message per line. An invalid line gets a JSON-RPC error, with the request id if it has one. Lines over the
 * limit are not kept. Reading pauses while the client does not read answers.
 *
 * The transport of the SDK stops at the first line over its limit, does not answer text that is not JSON, and adds a
 * listener to the output for each waiting answer.
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
    // A response gets no error: two faulty programs would answer each other forever.
    if (!read.isAnswer) send({ jsonrpc: '2.0', id: read.id, error: read.error });
  };
  // The last message may lack only its line end.
  const onEnd = (): void => handle(line, true);
  const onError = (error: Error): void => transport.onerror?.(error);
  const transport: StdioTransport = {
    async answered(signal) {
      await asked.answered(signal);
      for (const id of asked.waiting())
        send({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: TOO_LATE } });
      isOver = true;
      // A slow reader would otherwise lose data when the process ends.
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
   * Waits until every request is answered, at most `LAST_ANSWERS_MS` or until `signal` aborts. Then sends an error to
   * each other request. Resolves when all is written; later messages are dropped.
   */
  answered(signal: AbortSignal): Promise<void>;
}

function createAsked() {
  const waiting = new Set<unknown>();
  const over = new AbortController();
  let isLast = false;
  const remove = (id: unknown): void => {
    if (waiting.delete(id) && waiting.size === 0 && isLast) over.abort();
  };
  return {
    waiting: (): readonly unknown[] => [...waiting],
    received(message: Message): void {
      if (!('method' in message)) return;
      if (message.method === 'notifications/cancelled') remove(message.params?.requestId);
      // A subscription gets its answer only when it ends.
      else if ('id' in message && message.method !== 'subscriptions/listen') waiting.add(message.id);
    },
    sent(message: object): void {
      if ('id' in message && !('method' in message)) remove(message.id);
    },
    async answered(signal: AbortSignal): Promise<void> {
      isLast = true;
      if (waiting.size === 0) return;
      // Keeps the process alive, because a waiting request may not.
      await settledWithin(aborted(AbortSignal.any([signal, over.signal])), LAST_ANSWERS_MS);
    },
  };
}
