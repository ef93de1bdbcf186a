/** `skill-registry/ai-sdk`: tools and system text for `generateText` and `streamText`. */
import { inputSchemaOf, runTool, type ToolResult, type TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';

/** Fits the option `tools` of AI SDK 6 and 7. Imports nothing from it: the host chooses its version. */
export interface AiSdkTool {
  readonly description: string;
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
 * The tools of `config.tools`. They never throw: a failure is `{ success: false, error }`.
 * @param turn - `boundSkills` limits the visible skills. Default: all.
 */
export function skillTools(registry: Pick<SkillRegistry, 'tools'>, turn: TurnContext = {}): Record<string, AiSdkTool> {
  return Object.fromEntries(
    registry.tools().map((definition): [string, AiSdkTool] => {
      const { name, description } = definition;
      const schema = (): Record<string, unknown> => ({ ...inputSchemaOf(definition) });
      const jsonSchema = { input: schema, output: schema };
      // The tool checks its arguments, so that the model gets a readable result.
      const validate = (value: unknown): { readonly value: unknown } => ({ value });
      const execute: AiSdkTool['execute'] = (args, { abortSignal = new AbortController().signal }) =>
        runTool(definition, args, { turn, signal: abortSignal });
      const standard = { version: 1, vendor: 'skill-registry', validate, jsonSchema } as const;
      return [name, { description, inputSchema: { '~standard': standard }, execute }];
    }),
  );
}

/**
 * For the option `system` of the next call, where the host has dropped messages: the skills whose instructions are in
 * none of these messages any more, as they are today. Empty when nothing is missing.
 * @param turn - With the `threadId` that `skillTools` was given.
 */
export async function droppedSkills(
  { usage }: { readonly usage: { loadedIn: LoadedIn } },
  messages: readonly unknown[],
  turn: TurnContext,
): Promise<string> {
  const { agentId: agent, threadId: thread } = turn;
  if (thread === undefined) return '';
  const there = new Set(digestsIn(messages));
  const { skills } = await usage.loadedIn({ agent, thread, tokens: 0 }, turn);
  const gone = skills.flatMap(({ skillId, digest }) => (digest && !there.has(digest) ? skillId : []));
  return gone.length === 0 ? '' : (await usage.loadedIn({ agent, thread, skills: gone }, turn)).text;
}

/**
 * For the option `system`; empty when no skill is visible.
 * @param prompt - The user's message: selects skills when not all fit the token budget. Default: empty.
 */
export async function skillSystemPrompt(
  registry: Pick<SkillRegistry, 'context'>,
  turn: TurnContext = {},
  prompt: string = '',
): Promise<string> {
  return (await registry.context(prompt, turn)) ?? '';
}

// --- internal ---

/** Of the registry, with what is needed here. */
type LoadedIn = (
  of: {
    readonly agent: string | undefined;
    readonly thread: string;
    readonly tokens?: number;
    readonly skills?: readonly string[];
  },
  turn: TurnContext,
) => Promise<{
  readonly skills: readonly { readonly skillId: string; readonly digest?: string }[];
  readonly text: string;
}>;

/** Of the results of read_skill, at any depth; one that only says that it is `repeated` has no instructions. */
function digestsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { digest, repeated } = value as { readonly digest?: unknown; readonly repeated?: unknown };
  const own = typeof digest === 'string' && repeated !== true ? [digest] : [];
  return [...own, ...Object.values(value).flatMap(digestsIn)];
}
