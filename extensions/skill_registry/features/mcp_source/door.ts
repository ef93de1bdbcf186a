import type { Feature } from '../../core/feature.ts';

/** MCP servers as a source. */
export const mcpSource: Feature = {
  id: 'mcp_source',
};
