/** `skill-registry/mcp`: a registry as an MCP server, for hosts that bring their own transport or want ours. */
import type { McpServer } from '@modelcontextprotocol/server';
import type { SkillRegistry } from '../skill_registry/api.ts';
import { createSkillMcpDoor, type SkillMcpOptions } from './door.ts';

export { createSkillMcpDoor, type ListChange, type SkillMcpDoor, type SkillMcpOptions } from './door.ts';
export { TOKEN_NAME } from './errors.ts';
export { type HttpServing, type ServeHttpOptions, serveHttp } from './http.ts';
export { type ServeStdioOptions, serveStdio } from './stdio.ts';

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
