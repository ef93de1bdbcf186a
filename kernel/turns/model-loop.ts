import { URL } from 'node:url';
import type { LanguageModel, ModelMessage, StepResult, ToolSet } from 'ai';
import { countTokens } from '../../lib/text/index.ts';
import type { AgentManifest, Manifest } from '../boot/manifest.ts';
import type {
  AgentInvocationContext,
  AgentProvider,
  AgentResponse,
  Conversation,
  Tool,
  TurnContext,
} from '../contract.ts';
import { agentFailed, modelAddressInvalid, modelNotConfigured } from '../errors.ts';
import { inputSchemaOf, runTool } from '../offers/tools.ts';
import { untilAborted } from './deadline.ts';
import { PART_SEPARATOR } from './system-text.ts';

export interface DeclarativeAgentOptions {
  readonly manifest: Manifest;
  getSecret(name: string): string | undefined;
  tools(turn: TurnContext): readonly Tool[];
  systemParts(prompt: string, turn: TurnContext): Promise<readonly { readonly text: string }[]>;
}

export interface ModelSettings {
  readonly baseURL: string;
  /** Undefined for endpoints without a key, such as local ones. */
  readonly apiKey: string | undefined;
  readonly name: string;
}

/**
 * @param manifestModel - Overrides MODEL_NAME.
 * @throws MODEL_NOT_CONFIGURED when the base URL or the name is missing, or the URL is not http.
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

export function createDeclarativeAgent(options: DeclarativeAgentOptions): AgentProvider {
  const { id, name, description, agent } = options.manifest;
  if (!agent) throw new Error(`the manifest of "${id}" describes no agent`);
  return {
    getAgentDescriptor: () => ({
      id,
      name,
      description,
      integrationMode: agent.integration_mode,
      usesTools: agent.uses_tools,
      ...(agent.uses_skills ? { usesSkills: agent.uses_skills } : {}),
    }),
    async invoke(task, context = {}) {
      const settings = readModelSettings(agent.model, options.getSecret);
      const maxMs = agent.limits.time_budget_ms;
      const budget = new AbortController();
      let timer: NodeJS.Timeout | undefined;
      try {
        const turn = { ...context.turn, model: settings.name };
        const model = await connectModel(settings);
        await import('ai');
        // The skills in it may have to be inspected first.
        const system = (await options.systemParts(task, turn)).map((part) => part.text).join(PART_SEPARATOR);
        // Keeps the process running until the turn has ended.
        if (maxMs !== undefined) timer = setTimeout(() => budget.abort(), maxMs);
        return await runTurn({ tools: options.tools, system }, agent, model, task, { ...context, turn }, budget.signal);
      } catch (error) {
        throw agentFailed(id, error, settings.baseURL);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

// --- internal ---

async function runTurn(
  { tools, system }: Pick<DeclarativeAgentOptions, 'tools'> & { readonly system: string },
  agent: AgentManifest,
  model: LanguageModel,
  task: string,
  { turn = {}, conversation = [], signal, onText, onToolCall }: AgentInvocationContext,
  budget: AbortSignal,
): Promise<AgentResponse> {
  const { streamText, stepCountIs } = await import('ai');
  const { max_tokens_per_invocation: tokenLimit = Number.POSITIVE_INFINITY } = agent.limits;
  const abort = signal ? AbortSignal.any([signal, budget]) : budget;
  const messages = [...(conversation as readonly ModelMessage[]), { role: 'user', content: task } as const];
  const steps: StepResult<ToolSet>[] = [];
  const usage = { inputTokens: 0, outputTokens: 0 };
  const overTokens = (): boolean => usage.inputTokens + usage.outputTokens >= tokenLimit;

  let text = '';
  const stream = streamText({
    model,
    ...(system ? { system } : {}),
    messages,
    tools: await toModelTools(tools(turn), turn, abort, onToolCall),
    stopWhen: [stepCountIs(agent.limits.max_turns), overTokens],
    abortSignal: abort,
    ...modelParameters(agent.parameters, tokenLimit),
    async onStepFinish(step) {
      steps.push(step);
      const replies = steps.at(-2)?.response.messages ?? [];
      const used = await usageOfStep(step, system, [...messages, ...replies]);
      usage.inputTokens += used.inputTokens;
      usage.outputTokens += used.outputTokens;
    },
    // Failures come in the stream below; the default handler would print them.
    onError: () => {},
  });
  for await (const part of stream.fullStream) {
    if (part.type === 'text-delta') {
      text += part.text;
      onText?.(part.text);
    }
    // The answer is the text of the last step, without text before a tool call.
    if (part.type === 'start-step') text = '';
    if (part.type === 'error' && !abort.aborted) throw part.error;
  }

  const stopReason = (): AgentResponse['stopped'] => {
    if (signal?.aborted) return 'cancelled';
    if (budget.aborted) return 'time_budget';
    const last = steps.at(-1)?.finishReason;
    if (overTokens() && last !== 'stop') return 'max_tokens';
    if (last === 'tool-calls' && steps.length >= agent.limits.max_turns) return 'max_turns';
    return last === 'length' ? 'max_tokens' : 'done';
  };
  const replies = steps.at(-1)?.response.messages ?? [];
  const unfinished = abort.aborted && text ? [{ role: 'assistant', content: text }] : [];
  return {
    text,
    stopped: stopReason(),
    usage,
    conversation: [...messages, ...replies, ...unfinished] as Conversation,
  };
}

/** What is undefined is not sent. */
function modelParameters(parameters: AgentManifest['parameters'], tokenLimit: number): Record<string, unknown> {
  const { top_p, frequency_penalty, presence_penalty, stop, max_output_tokens = tokenLimit, ...others } = parameters;
  const maxOutputTokens = Math.min(max_output_tokens, tokenLimit);
  return {
    ...others,
    topP: top_p,
    frequencyPenalty: frequency_penalty,
    presencePenalty: presence_penalty,
    stopSequences: stop,
    maxOutputTokens: Number.isFinite(maxOutputTokens) ? maxOutputTokens : undefined,
  };
}

/** Counts tokens itself when the endpoint does not report them: limits must work then, too. */
async function usageOfStep(step: StepResult<ToolSet>, system: string, messages: readonly ModelMessage[]) {
  const { inputTokens, outputTokens } = step.usage;
  const replies = JSON.stringify(step.content);
  return {
    inputTokens: inputTokens ?? (await countTokens(system + JSON.stringify(messages))),
    outputTokens: outputTokens ?? (await countTokens(replies)),
  };
}

/** Loading the SDK takes 0.1 s, which a start without a model does not need. */
async function connectModel({ baseURL, apiKey, name }: ModelSettings): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL,
    ...(apiKey ? { apiKey } : {}),
    includeUsage: true,
  });
  return provider.chatModel(name);
}

async function toModelTools(
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
