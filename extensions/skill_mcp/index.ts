import type { McpServer } from '@modelcontextprotocol/server';
import type { SkillRegistry } from '../skill_registry/api.ts';
import { announce, createSkillMcpDoor, type SkillMcpDoor, type SkillMcpOptions } from './door.ts';
import type { HttpServing, ServeHttpOptions } from './http.ts';
import { serveStreams } from './stdio.ts';

export { type AgentDoors, createAgentDoors } from './agent-doors.ts';
export { createSkillMcpDoor, type ListChange, type SkillMcpDoor, type SkillMcpOptions } from './door.ts';
export { TOKEN_NAME } from './errors.ts';
export type { HttpServing, ServeHttpOptions } from './http.ts';

/**
 * Makes one server for your own transport: `await server.connect(transport)`. It notifies its client of changes until
 * it closes. The registry stays open.
 * @throws INVALID_ARGUMENT for an unknown tool or a wrong page size
 */
export async function createMcpServer(registry: SkillRegistry, options: SkillMcpOptions = {}): Promise<McpServer> {
  const door = createSkillMcpDoor(registry, options);
  const server = await door.createServer();
  door.onListChanged((change) => announce(server, change));
  server.server.onclose = () => door.close();
  return server;
}

export interface ServeStdioOptions {
  /** Called for failures that the protocol cannot report. */
  readonly onError?: (error: Error) => void;
}

/** Resolves when the client closes the connection or `signal` aborts. Write nothing else to standard output. */
export function serveStdio(door: SkillMcpDoor, signal: AbortSignal, options: ServeStdioOptions = {}): Promise<void> {
  return serveStreams(door, signal, { input: process.stdin, output: process.stdout, ...options });
}

/**
 * Serves any number of clients over Streamable HTTP. A session of the 2025 protocol is only the name of a thread.
 * @throws MCP_TOKEN_MISSING for a host that others can reach, without any token; MCP_LISTEN_FAILED
 */
export async function serveHttp(door: SkillMcpDoor, options: ServeHttpOptions = {}): Promise<HttpServing> {
  return (await import('./http.ts')).serveHttp(door, options);
}
