import type { McpServerConfig } from './config.ts';

declare module '../../core/config/config.ts' {
  interface SourceConfig {
    /** The skills of an MCP server. They are listed; a file is fetched when it is read. */
    readonly mcp?: McpServerConfig | undefined;
  }
}
