/** `skill-registry/mcp`: a registry as an MCP server, for hosts that bring their own transport or want ours. */
import type { McpServer } from '@modelcontextprotocol/server';
import type { SkillRegistry } from '../skill_registry/api.ts';
import { createSkillMcpDoor, type SkillMcpDoor, type SkillMcpOptions } from './door.ts';
import { serveStreams } from './stdio.ts';

export { createSkillMcpDoor, type ListChange, type SkillMcpDoor, type SkillMcpOptions } from './door.ts';
export { TOKEN_NAME } from './errors.ts';
export { type HttpServing, type ServeHttpOptions, serveHttp } from './http.ts';

/**
 * One server over a registry, to be connected to a transport of your own: `await server.connect(transport)`. It tells its
 * client of changes until it is closed; the registry stays open.
 *
 * @throws INVALID_ARGUMENT for a tool or a page size that cannot be.
 */
export async function createMcpServer(registry: SkillRegistry, options: SkillMcpOptions = {}): Promise<McpServer> {
  const door = createSkillMcpDoor(registry, options);
  const server = await door.createServer();
  door.onListChanged(({ resources, prompts }) => {
    if (!server.isConnected()) return;
    if (resources) server.sendResourceListChanged();
    if (prompts) server.sendPromptListChanged();
  });
  server.server.onclose = () => door.close();
  return server;
}

export interface ServeStdioOptions {
  /** Told of what goes wrong beside the protocol. */
  readonly onError?: (error: Error) => void;
}

/**
 * Serves one client on standard input and output, to which nothing else may be written, until it closes its end or `signal` aborts.
 *
 * @returns when the connection is closed.
 */
export function serveStdio(door: SkillMcpDoor, signal: AbortSignal, options: ServeStdioOptions = {}): Promise<void> {
  return serveStreams(door, signal, { input: process.stdin, output: process.stdout, ...options });
}
