import type { ModelMessage, StepResult, ToolSet } from 'ai';
import { countTokens } from '../../lib/text/index.ts';
import type { Manifest } from '../boot/manifest.ts';
import type {
  AgentInvocationContext,
  AgentProvider,
  AgentResponse,
  Conversation,
  Tool,
  TurnContext,
} from '../contract.ts';
import { agentFailed } from '../errors.ts';
import { connectModel, readModelSettings, toModelTools } from './connect-model.ts';
import { PART_SEPARATOR } from './system-text.ts';

/** What an agent without code needs from the kernel. */
export interface DeclarativeAgentOptions {
  readonly manifest: Manifest & { readonly agent: NonNullable<Manifest['agent']> };
  getSecret(name: string): string | undefined;
  /** The tools that `uses_tools` gives it in a turn. */
  tools(turn: TurnContext): readonly Tool[];
  /** The parts of its system text: instructions, then the texts of the context providers. */
  systemParts(prompt: string, turn: TurnContext): Promise<readonly { readonly text: string }[]>;
}

/** The agent that the `agent` block of a manifest describes. */
export function createDeclarativeAgent(options: DeclarativeAgentOptions): AgentProvider {
  const { id, name, description, agent } = options.manifest;
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
      try {
        const turn = { ...context.turn, model: settings.name };
        const model = await connectModel(settings);
        await import('ai');
        return await withBudget(agent.limits.time_budget_ms, (budget) =>
          runTurn(options, model, task, { ...context, turn }, budget),
        );
      } catch (error) {
        throw agentFailed(id, error, settings.baseURL);
      }
    },
  };
}

// --- internal ---

/** @param work - Gets a signal that aborts after `ms` milliseconds. The timer keeps the process running until then. */
async function withBudget<T>(ms: number | undefined, work: (budget?: AbortSignal) => Promise<T>): Promise<T> {
  if (ms === undefined) return work();
  const budget = new AbortController();
  const timer = setTimeout(() => budget.abort(), ms);
  try {
    return await work(budget.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function runTurn(
  { manifest, tools, systemParts }: DeclarativeAgentOptions,
  model: Awaited<ReturnType<typeof connectModel>>,
  task: string,
  { turn = {}, conversation = [], signal, onText, onToolCall }: AgentInvocationContext,
  budget: AbortSignal | undefined,
): Promise<AgentResponse> {
  const { agent } = manifest;
  const { streamText, stepCountIs } = await import('ai');
  const abort = AbortSignal.any([signal, budget].filter((one) => one !== undefined));
  const system = (await systemParts(task, turn)).map((part) => part.text).join(PART_SEPARATOR);
  const messages = [...(conversation as readonly ModelMessage[]), { role: 'user', content: task } as const];
  const steps: StepResult<ToolSet>[] = [];
  let usage = { inputTokens: 0, outputTokens: 0 };
  const tokenLimit = agent.limits.max_tokens_per_invocation ?? Number.POSITIVE_INFINITY;
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
      usage = addUsage(usage, await usageOfStep(step, system, [...messages, ...replies]));
    },
    // Failures come in the stream below; the default handler would also print them.
    onError: () => {},
  });
  for await (const part of stream.fullStream) {
    if (part.type === 'text-delta') {
      text += part.text;
      onText?.(part.text);
    }
    // Only the text of the last step is the answer; text before a tool call is not.
    if (part.type === 'start-step') text = '';
    if (part.type === 'error' && !abort.aborted) throw part.error;
  }

  const replies = steps.at(-1)?.response.messages ?? [];
  const unfinished = abort.aborted && text ? [{ role: 'assistant', content: text }] : [];
  return {
    text,
    stopped: stopReason({ budget, signal, overTokens: overTokens(), steps, maxTurns: agent.limits.max_turns }),
    usage,
    conversation: [...messages, ...replies, ...unfinished] as Conversation,
  };
}

function stopReason(end: {
  readonly budget: AbortSignal | undefined;
  readonly signal: AbortSignal | undefined;
  readonly overTokens: boolean;
  readonly steps: readonly StepResult<ToolSet>[];
  readonly maxTurns: number;
}): AgentResponse['stopped'] {
  if (end.signal?.aborted) return 'cancelled';
  if (end.budget?.aborted) return 'time_budget';
  const last = end.steps.at(-1)?.finishReason;
  if (end.overTokens && last !== 'stop') return 'max_tokens';
  if (last === 'tool-calls' && end.steps.length >= end.maxTurns) return 'max_turns';
  return last === 'length' ? 'max_tokens' : 'done';
}

function modelParameters(
  parameters: NonNullable<Manifest['agent']>['parameters'],
  tokenLimit: number,
): Record<string, unknown> {
  const { temperature, top_p, frequency_penalty, presence_penalty, seed, stop, max_output_tokens } = parameters;
  const maxOutputTokens = Math.min(max_output_tokens ?? Number.POSITIVE_INFINITY, tokenLimit);
  const given = {
    temperature,
    topP: top_p,
    frequencyPenalty: frequency_penalty,
    presencePenalty: presence_penalty,
    seed,
    stopSequences: stop,
    maxOutputTokens: Number.isFinite(maxOutputTokens) ? maxOutputTokens : undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

type Usage = AgentResponse['usage'];

function addUsage(a: Usage, b: Usage): Usage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
}

/** The usage that the endpoint reports, else a count of our own: limits must work without reports as well. */
async function usageOfStep(
  step: StepResult<ToolSet>,
  system: string,
  messages: readonly ModelMessage[],
): Promise<Usage> {
  const { inputTokens, outputTokens } = step.usage;
  const replies = JSON.stringify(step.content);
  return {
    inputTokens: inputTokens ?? (await countTokens(system + JSON.stringify(messages))),
    outputTokens: outputTokens ?? (await countTokens(replies)),
  };
}
