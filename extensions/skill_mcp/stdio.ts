import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import type { SkillMcpDoor } from './door.ts';
import { createStdioTransport } from './stdio-transport.ts';

export interface ServeStdioOptions {
  /** Default: those of the process. */
  readonly input?: Readable;
  /** Nothing else may be written to it. */
  readonly output?: Writable;
  /** Told of what goes wrong beside the protocol. */
  readonly onError?: (error: Error) => void;
}

/**
 * Serves one client over a pair of streams until it closes its end, or `signal` aborts.
 *
 * @returns when the connection is closed.
 */
export async function serveStdio(
  door: SkillMcpDoor,
  signal: AbortSignal,
  { input = process.stdin, output = process.stdout, ...options }: ServeStdioOptions = {},
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
