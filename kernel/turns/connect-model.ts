import { URL } from 'node:url';
import type { LanguageModel, ToolSet } from 'ai';
import type { AgentInvocationContext, Tool, TurnContext } from '../contract.ts';
import { modelAddressInvalid, modelNotConfigured } from '../errors.ts';
import { inputSchemaOf, runTool } from '../offers/tools.ts';
import { untilAborted } from './deadline.ts';

/** How to reach one model behind an OpenAI-compatible endpoint. */
export interface ModelSettings {
  readonly baseURL: string;
  /** Undefined for endpoints without a key, such as local ones. */
  readonly apiKey: string | undefined;
  readonly name: string;
}

/**
 * Reads MODEL_BASE_URL, MODEL_API_KEY and MODEL_NAME.
 *
 * @param manifestModel - `agent.model` of a manifest. It overrides MODEL_NAME.
 * @throws MODEL_NOT_CONFIGURED when the base URL or the name is missing, or the URL is no http address; the key is optional.
 */
export function readModelSettings(
  manifestModel: string | undefined,
  getSecret: (name: string) => string | undefined,
): ModelSettings {
  const baseURL = getSecret('MODEL_BASE_URL');
  const apiKey = getSecret('MODEL_API_KEY');
  const name = manifestModel ?? getSecret('MODEL_NAME');
  if (baseURL && !(URL.canParse(baseURL) && /^https?:/i.test(baseURL))) throw modelAddressInvalid();
  if (baseURL && name) return { baseURL, apiKey, name };
  const settings = { MODEL_BASE_URL: baseURL, MODEL_NAME: name };
  const missing = Object.entries(settings).filter(([, value]) => !value);
  throw modelNotConfigured(missing.map(([setting]) => setting));
}

/** Loads the SDK at the first use: loading takes 0.1 s, which a start without a model does not need. */
export async function connectModel({ baseURL, apiKey, name }: ModelSettings): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL,
    ...(apiKey ? { apiKey } : {}),
    includeUsage: true,
  });
  return provider.chatModel(name);
}

/** Offers kernel tools to a model through the AI SDK. Arguments are checked by `runTool`, as wherever tools are offered. */
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
          // A tool that ignores the signal must not delay a cancelled turn.
          return untilAborted(runTool(tool, args, { turn, signal }), signal);
        },
      }),
    ]),
  );
}
