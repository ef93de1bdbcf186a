import type { CallToolResult, ClientCapabilities, McpServer, Tool as McpTool } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/server/ext/skills';
import { inputSchemaOf, runTool, type Tool, type ToolResult, type TurnContext } from 'skill-registry/kernel';

/** Only look, and only at the catalog. */
const READING: ReadonlySet<string> = new Set(['list_skills', 'read_skill', 'read_skill_resource', 'load_skill']);

/**
 * Offers tools of the registry. A client that declares the Skills extension loads skills itself and is not shown a second way;
 * it may call them all the same.
 */
export function serveTools({ server }: McpServer, tools: readonly Tool[], turn: TurnContext): void {
  server.setRequestHandler('tools/list', (_request, ctx) => {
    const envelope: Envelope = ctx.mcpReq.envelope ?? {};
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
    return { tools: declared?.extensions?.[SKILLS_EXTENSION_ID] === undefined ? tools.map(toMcpTool) : [] };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) {
      const known = tools.map(({ name }) => name).join(', ');
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No tool "${params.name}". Tools: ${known}.`);
    }
    return toCallResult(tool.name, await runTool(tool, params.arguments ?? {}, { turn, signal: ctx.mcpReq.signal }));
  });
}

// --- internal ---

/** Since 2026-07-28 each request says what its client can do; before, the handshake did. */
interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

function toMcpTool(tool: Tool): McpTool {
  const inputSchema = inputSchemaOf(tool) as McpTool['inputSchema'];
  const { name, description } = tool;
  const annotations = { readOnlyHint: true, openWorldHint: false };
  return { name, description, inputSchema, ...(READING.has(name) ? { annotations } : {}) };
}

function toCallResult(name: string, result: ToolResult): CallToolResult {
  // The keys of load_skill are a promise of its own; a failure stands in its `error`.
  const { success: _, ...keys } = result;
  const shown = name === 'load_skill' && result.success ? keys : result;
  return {
    content: [{ type: 'text', text: JSON.stringify(shown) }],
    structuredContent: shown,
    ...(result.success ? {} : { isError: true }),
  };
}
