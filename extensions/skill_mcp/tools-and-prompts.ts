import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type McpServer,
  type Tool as McpTool,
  type Prompt,
  type PromptArgument,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/server/ext/skills';
import { inputSchemaOf, runTool, type Tool, type ToolResult, type TurnContext } from 'skill-registry/kernel';
import type { Skill, SkillRegistry } from '../skill_registry/api.ts';
import { toProtocolError } from './errors.ts';
import { pageOf } from './sdk-source.ts';

/** The turn of a request. */
type TurnOf = (ctx: ServerContext) => TurnContext;

/** All others only read. */
const CHANGING: ReadonlySet<string> = new Set(['propose_skill_update', 'create_skill', 'skill', 'workflow_event']);

/** Clients that declare the Skills extension load skills themselves: they see no tools listed, but may call them. */
export function serveTools(
  { server }: McpServer,
  tools: readonly Tool[],
  { turnOf, local }: { readonly turnOf: TurnOf; readonly local: boolean },
): void {
  server.setRequestHandler('tools/list', (_request, ctx) => {
    // Since protocol version 2026-07-28 each request has the client's capabilities, before only the handshake.
    const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = ctx.mcpReq.envelope ?? {};
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
    return { tools: declared?.extensions?.[SKILLS_EXTENSION_ID] === undefined ? tools.map(toMcpTool) : [] };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) {
      const known = tools.map(({ name }) => name).join(', ');
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No tool "${params.name}". Tools: ${known}.`);
    }
    const result = await runTool(tool, params.arguments ?? {}, { turn: turnOf(ctx), signal: ctx.mcpReq.signal });
    return toCallResult(tool.name, local ? result : withoutDirectory(result));
  });
}

/** Offers skills that a person may invoke, with the text that `/skills:<id>` sends. */
export function servePrompts(
  { server }: McpServer,
  registry: SkillRegistry,
  { turnOf, pageSize, local }: { readonly turnOf: TurnOf; readonly pageSize: number; readonly local: boolean },
): void {
  server.setRequestHandler('prompts/list', ({ params }, ctx) => {
    const ofRequest = turnOf(ctx);
    const served = params?.cursor === undefined ? registry.admin.servedPrompts(ofRequest) : [];
    const skills = invocableSkills(registry, ofRequest);
    const { page, next } = pageOf(skills, params?.cursor, pageSize, ({ id }) => id);
    const own = served.map(({ name, description }) => ({ name, description }));
    return { prompts: [...own, ...page.map(toPrompt)], ...next };
  });
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: given = {} } }, ctx) => {
    const ofRequest = turnOf(ctx);
    const served = registry.admin.servedPrompts(ofRequest).find((one) => one.name === name);
    if (served) {
      const text = await served.text().catch((error) => {
        throw toProtocolError(error);
      });
      return { description: served.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
    }
    const skill = invocableSkills(registry, ofRequest).find(({ id }) => id === name);
    if (!skill)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No prompt ${JSON.stringify(name.slice(0, 100))}.`);
    const known = argumentsOf(skill).map((one) => one.name);
    const unknown = Object.keys(given).filter((key) => !known.includes(key));
    if (unknown.length > 0) {
      const message = `Prompt ${name} has no argument ${unknown.join(', ')}; it has ${known.join(', ')}.`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    const args = skill.arguments.length > 0 ? given : (given[WHOLE] ?? '');
    // A remote client reads files as resources below the URI of the skill.
    const options = local ? {} : { dir: `skill://${skill.id}` };
    const text = await registry.apply(skill.id, args, ofRequest, options).catch((error) => {
      throw toProtocolError(error);
    });
    return { description: skill.description, messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}

/** By id, without unfinished drafts. */
export function invocableSkills(registry: SkillRegistry, turn: TurnContext): readonly Skill[] {
  const skills = registry.visible(turn, 'person').filter(({ userInvocable, fillsLeft }) => userInvocable && !fillsLeft);
  return skills.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function toPrompt(skill: Skill): Prompt {
  const { id, name, description } = skill;
  return { name: id, ...(name === id ? {} : { title: name }), description, arguments: [...argumentsOf(skill)] };
}

// --- internal ---

function toMcpTool(tool: Tool): McpTool {
  const inputSchema = inputSchemaOf(tool) as McpTool['inputSchema'];
  const { name, description } = tool;
  const annotations = { readOnlyHint: true, openWorldHint: false };
  return { name, description, inputSchema, ...(CHANGING.has(name) ? {} : { annotations }) };
}

/** A remote client must not see local paths. */
function withoutDirectory(result: ToolResult): ToolResult {
  if (!result.success) return result;
  const { directory: _, ...rest } = result;
  return rest;
}

function toCallResult(name: string, result: ToolResult): CallToolResult {
  const shown = name === 'load_skill' && 'name' in result ? withFixedKeys(result) : result;
  return {
    content: [{ type: 'text', text: JSON.stringify(shown) }],
    structuredContent: shown,
    ...(result.success ? {} : { isError: true }),
  };
}

/** The design of load_skill has no `success`, and a text in `error`. */
function withFixedKeys({ success: _, ...keys }: ToolResult): Readonly<Record<string, unknown>> {
  const error = keys.error as string | null | { readonly code: string; readonly message: string };
  return { ...keys, error: typeof error === 'object' && error ? `${error.code}: ${error.message}` : error };
}

/** The text after the slash command, for a skill without named arguments. */
const WHOLE = 'arguments';

function argumentsOf({ arguments: names, argumentHint }: Skill): readonly PromptArgument[] {
  const about = argumentHint ? { description: argumentHint } : {};
  if (names.length === 0) return [{ name: WHOLE, ...about, required: false }];
  return names.map((name) => ({ name, ...about, required: false }));
}
