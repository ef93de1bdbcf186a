import { basename } from 'node:path';
import type { Feature } from '../../core/feature.ts';
import { instanceOf } from '../../core/sources/instance.ts';
import type { SourceKind } from '../../core/sources/source-kind.ts';
import { mcpServer } from './config.ts';

const serverKind: SourceKind = {
  key: 'mcp',
  entry: { mcp: mcpServer },
  preload: 'refused',
  hidden: ['mcp'],
  ofAddress: '{ mcp: { url: <address> } } for an MCP server',
  async open({ mcp: server = {}, optional }, host) {
    const { configured = [], getSecret = () => undefined, noteBlocked, root, trusted } = host;
    const program = basename([server.command ?? []].flat()[0] ?? '').replace(/\.\w+$/, '');
    const id = host.idOr(server.url === undefined ? program : new URL(server.url).hostname);
    const instance = instanceOf(root, configured);
    const { createMcpSource } = await import('./mcp-source.ts');
    return [createMcpSource({ getSecret, id, instance, noteBlocked, optional, root, server, trusted })];
  },
};

/** MCP servers as a source. Needs the guard. */
export const mcpSource: Feature = { id: 'mcp_source', sources: [serverKind] };
