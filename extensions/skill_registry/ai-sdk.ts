/** `skill-registry/ai-sdk`: the registry as tools and system text for `generateText` and `streamText` of the AI SDK. */
import { jsonSchema, type ToolSet, tool } from 'ai';
import { inputSchemaOf, runTool, type TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';

/**
 * The tools of `config.tools`, to be given as `tools`. They check their own arguments and never throw: a failure is
 * `{ success: false, error }`.
 *
 * @param turn - Whose turn it is: `boundSkills` narrows what is visible. Default: everything is.
 */
export function skillTools(registry: Pick<SkillRegistry, 'tools'>, turn: TurnContext = {}): ToolSet {
  return Object.fromEntries(
    registry.tools().map((one) => [
      one.name,
      tool({
        description: one.description,
        inputSchema: jsonSchema(inputSchemaOf(one) as never),
        execute: (args: unknown, { abortSignal }) =>
          runTool(one, args, { turn, signal: abortSignal ?? new AbortController().signal }),
      }),
    ]),
  );
}

/**
 * The catalog within its token budget, to be made part of `system`; empty when nothing is visible.
 *
 * @param prompt - What the person said: it decides which skills are shown when not all fit. Default: nothing.
 */
export async function skillSystemPrompt(
  registry: Pick<SkillRegistry, 'context'>,
  turn: TurnContext = {},
  prompt: string = '',
): Promise<string> {
  return (await registry.context(prompt, turn)) ?? '';
}
