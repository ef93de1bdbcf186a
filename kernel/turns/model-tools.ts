import type { ToolSet } from 'ai';
import { z } from '#zod';
import type { AgentDescriptor, AgentInvocationContext, AgentResponse, Tool, TurnContext } from '../contract.ts';
import { inputSchemaOf } from '../offers/tool-schema.ts';
import { defineTool, runTool } from '../offers/tools.ts';
import { untilAborted } from './deadline.ts';

/** Offers kernel tools to a model through the AI SDK. Arguments are checked by `runTool`, so that every door answers alike. */
export async function toModelTools(
  tools: readonly Tool[],
  turn: TurnContext,
  signal: AbortSignal,
  onToolCall: AgentInvocationContext['onToolCall'],
): Promise<ToolSet> {
  const { jsonSchema, tool: modelTool } = await import('ai');
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      modelTool({
        description: tool.description,
        inputSchema: jsonSchema(inputSchemaOf(tool) as never),
        execute: (args: unknown) => {
          onToolCall?.(tool.name, args);
          // A tool that ignores the signal does not keep a turn that has been ended.
          return untilAborted(runTool(tool, args, { turn, signal }), signal);
        },
      }),
    ]),
  );
}

/** One agent as a tool of another. */
export function agentAsTool(
  agent: AgentDescriptor,
  invoke: (task: string, context: AgentInvocationContext) => Promise<AgentResponse>,
): Tool {
  return defineTool({
    name: agent.id,
    description: `Agent "${agent.name}": ${agent.description} Give it one complete task; it does not see this conversation.`,
    input: z.object({ task: z.string().min(1).describe('What to do, with everything the agent needs to know.') }),
    async execute({ task }, { turn, signal }) {
      const { text, stopped } = await invoke(task, { turn, signal });
      return { success: true, answer: text, stopped };
    },
  });
}
