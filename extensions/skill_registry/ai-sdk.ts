/** `skill-registry/ai-sdk`: the registry as tools and system text for `generateText` and `streamText` of the AI SDK. */
import { jsonSchema, type ToolSet, tool } from 'ai';
import { inputSchemaOf, runTool, type TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';

/**
 * The tools of `config.tools`, for the option `tools`. They check their arguments and never throw: a failure is
 * `{ success: false, error }`.
 *
 * @param turn - `boundSkills` limits which skills are visible. Default: all are.
 */
export function skillTools(registry: Pick<SkillRegistry, 'tools'>, turn: TurnContext = {}): ToolSet {
  return Object.fromEntries(
    registry.tools().map((definition) => [
      definition.name,
      tool({
        description: definition.description,
        inputSchema: jsonSchema(inputSchemaOf(definition) as never),
        execute: (args: unknown, { abortSignal }) =>
          runTool(definition, args, { turn, signal: abortSignal ?? new AbortController().signal }),
      }),
    ]),
  );
}

/**
 * The catalog within its token budget, for the option `system`; empty when no skill is visible.
 *
 * @param prompt - The user's message. It decides which skills are shown when not all fit. Default: empty.
 */
export async function skillSystemPrompt(
  registry: Pick<SkillRegistry, 'context'>,
  turn: TurnContext = {},
  prompt: string = '',
): Promise<string> {
  return (await registry.context(prompt, turn)) ?? '';
}
