/** `skill-registry/ai-sdk`: the registry as tools and system text for `generateText` and `streamText` of the AI SDK. */
import { inputSchemaOf, runTool, type ToolResult, type TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';

/** A tool as the option `tools` of the AI SDK takes it, 6 and 7. Nothing of that package is imported, so the host chooses its version. */
export interface AiSdkTool {
  readonly description: string;
  /** A Standard JSON Schema. */
  readonly inputSchema: {
    readonly '~standard': {
      readonly version: 1;
      readonly vendor: 'skill-registry';
      readonly validate: (value: unknown) => { readonly value: unknown };
      readonly jsonSchema: {
        readonly input: () => Record<string, unknown>;
        readonly output: () => Record<string, unknown>;
      };
    };
  };
  readonly execute: (args: unknown, options: { readonly abortSignal?: AbortSignal | undefined }) => Promise<ToolResult>;
}

/**
 * The tools of `config.tools`, for the option `tools`. They check their arguments and never throw: a failure is
 * `{ success: false, error }`.
 *
 * @param turn - `boundSkills` limits which skills are visible. Default: all are.
 */
export function skillTools(registry: Pick<SkillRegistry, 'tools'>, turn: TurnContext = {}): Record<string, AiSdkTool> {
  return Object.fromEntries(
    registry.tools().map((definition): [string, AiSdkTool] => {
      const schema = (): Record<string, unknown> => ({ ...inputSchemaOf(definition) });
      // The tool checks its arguments itself, so that the model gets a result it can read.
      const validate = (value: unknown): { readonly value: unknown } => ({ value });
      const { description } = definition;
      return [
        definition.name,
        {
          description,
          inputSchema: {
            '~standard': {
              ...{ version: 1, vendor: 'skill-registry', validate },
              jsonSchema: { input: schema, output: schema },
            },
          },
          execute: (args, { abortSignal }) =>
            runTool(definition, args, { turn, signal: abortSignal ?? new AbortController().signal }),
        },
      ];
    }),
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
