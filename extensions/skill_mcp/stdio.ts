import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import type { SkillMcpDoor } from './door.ts';

export interface ServeStdioOptions {
  /** Default: those of the process. */
  readonly input?: Readable;
  /** Nothing else may be written to it. */
  readonly output?: Writable;
  /** Told of what goes wrong beside the protocol. Must not throw. */
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
  { input = process.stdin, output = process.stdout, onError = () => {} }: ServeStdioOptions = {},
): Promise<void> {
  const servers = new Set<McpServer>();
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
    for (const event of ['close', 'error']) output.once(event, () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  const handle = serveSdkStdio(
    async () => {
      const server = await door.createServer();
      servers.add(server);
      server.server.onclose = () => void servers.delete(server);
      return server;
    },
    { transport: new StdioServerTransport(input, output), onerror: onError },
  );
  const unsubscribe = door.onListChanged(({ resources, prompts }) => {
    for (const server of servers) {
      if (!server.isConnected()) continue;
      if (resources) server.sendResourceListChanged();
      if (prompts) server.sendPromptListChanged();
    }
  });
  await ended;
  unsubscribe();
  await handle.close();
}
