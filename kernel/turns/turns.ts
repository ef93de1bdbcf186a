import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from '#zod';
import { withoutHidden } from '../../lib/text/index.ts';
import type { FoundExtension } from '../boot/discover.ts';
import { type ExtensionRecord, problemOf } from '../boot/extension-record.ts';
import type { KernelState } from '../boot/kernel-state.ts';
import type {
  AgentDescriptor,
  AgentInvocationContext,
  AgentProvider,
  AgentResponse,
  Problem,
  Tool,
  TurnContext,
} from '../contract.ts';
import { agentNotFound, agentUnavailable, withFallback } from '../errors.ts';
import { offeredTools, skillProvider } from '../offers/offers.ts';
import { defineTool } from '../offers/tools.ts';
import { createDeclarativeAgent } from './model-loop.ts';
import { boundSkillIds, collectContext, composeInstructions } from './system-text.ts';

export async function invokeAgent(
  kernel: KernelState,
  agentId: string,
  task: string,
  context: AgentInvocationContext,
): Promise<AgentResponse> {
  const record = runningAgent(kernel, agentId);
  const callers = waiting(kernel);
  if (callers.includes(agentId)) {
    const reason = `it waits for ${callers.at(-1)}, which makes this call. Answer without that agent`;
    throw agentUnavailable(agentId, reason);
  }
  const turn = turnOf(record, context.turn);
  const invocation: Invocation = { kernel, agentId, hasEnded: false };
  try {
    const frames = [...(callStack.getStore() ?? []), invocation];
    return await callStack.run(frames, () => record.agent.invoke(task, { ...context, turn }));
  } finally {
    invocation.hasEnded = true;
  }
}

export async function systemParts(
  kernel: KernelState,
  agentId: string,
  prompt: string,
  turn: TurnContext,
): Promise<readonly { source: string; text: string }[]> {
  const record = runningAgent(kernel, agentId);
  const { found, descriptor } = record;
  const own = turnOf(record, turn);
  const { dir } = kernel.root;
  const instructions = found.manifest.agent ? await composeInstructions(found, skillProvider(kernel), dir, own) : '';
  const tools = toolsOf(kernel, own, agentId, descriptor?.usesTools ?? []).map(({ name }) => name);
  const provided = await collectContext(kernel, prompt, { ...own, tools });
  return instructions ? [{ source: agentId, text: instructions }, ...provided] : provided;
}

/** Adds the skills that the agent's instructions contain. */
export function commandTurn({ records }: KernelState, turn: TurnContext): TurnContext {
  const record = turn.agentId === undefined ? undefined : records.get(turn.agentId);
  return record ? { ...turn, ...workflowOf(record, turn), ...givenTo(record) } : turn;
}

export function declarativeAgent(kernel: KernelState, { manifest }: FoundExtension): AgentProvider {
  return createDeclarativeAgent({
    manifest,
    getSecret: kernel.getSecret,
    tools: (turn) => toolsOf(kernel, turn, manifest.id, manifest.agent?.uses_tools ?? []),
    systemParts: (prompt, turn) => systemParts(kernel, manifest.id, prompt, turn),
  });
}

/** Rejects when instructions cannot be composed; reports AGENT_TOOLS_MISSING. */
export async function checkAgent(kernel: KernelState, { found }: ExtensionRecord): Promise<void> {
  const { root, records, messages } = kernel;
  await composeInstructions(found, skillProvider(kernel), root.dir, { preview: true });
  const missing = toolsMissing(found, [...records.keys()]);
  if (missing) messages.report(missing);
}

/** AGENT_TOOLS_MISSING. @param known - Ids of all extensions. */
export function toolsMissing(found: FoundExtension, known: readonly string[]): Problem | undefined {
  const missing = (found.manifest.agent?.uses_tools ?? []).filter((id) => id !== '*' && !known.includes(id));
  if (missing.length === 0) return undefined;
  const what = `lists ${missing.join(', ')} in uses_tools, and there is no such extension. Correct the id or remove it`;
  return problemOf(found, 'AGENT_TOOLS_MISSING', what, 'warning');
}

// --- internal ---

interface Invocation {
  readonly kernel: KernelState;
  readonly agentId: string;
  hasEnded: boolean;
}

/** Agents in this chain wait and cannot be called. One store for all kernels: each slows down all promises forever. */
const callStack = new AsyncLocalStorage<readonly Invocation[]>();

/** Without ended turns: work that a tool left running may call an agent later. */
function waiting(kernel: KernelState): readonly string[] {
  const frames = (callStack.getStore() ?? []).filter((one) => one.kernel === kernel && !one.hasEnded);
  return frames.map(({ agentId }) => agentId);
}

function runningAgent({ records }: KernelState, id: string): ExtensionRecord & { agent: AgentProvider } {
  const record = records.get(id);
  if (record?.state === 'RUNNING' && record.agent) return record as ExtensionRecord & { agent: AgentProvider };
  if (record?.found.manifest.agent) throw agentUnavailable(id, record.reason ?? `state ${record.state}`);
  const agents = [...records].flatMap(([known, { agent }]) => (agent ? [known] : []));
  throw agentNotFound(id, agents);
}

function toolsOf(kernel: KernelState, turn: TurnContext, id: string, usesTools: readonly string[]): readonly Tool[] {
  const callers = waiting(kernel);
  const isUsed = (extensionId: string): boolean => usesTools.includes('*') || usesTools.includes(extensionId);
  // `*` does not include tools of extensions that are agents: these must be named.
  const isShared = (extensionId: string): boolean =>
    usesTools.includes(extensionId) || kernel.records.get(extensionId)?.descriptor === undefined;
  const tools = offeredTools(kernel)
    .filter(({ extensionId, tool }) => isUsed(extensionId) && isShared(extensionId) && isForTurn(tool, turn))
    .map(({ tool }) => tool);
  const taken = new Set(tools.map(({ name }) => name));
  const agents = kernel.running().flatMap(({ descriptor }) => {
    if (descriptor?.integrationMode !== 'tool' || descriptor.id === id) return [];
    if (callers.includes(descriptor.id) || !isUsed(descriptor.id) || taken.has(descriptor.id)) return [];
    return [agentAsTool(descriptor, kernel)];
  });
  return [...tools, ...agents];
}

/** An agent without bound skills sees only the skills of its caller. */
function turnOf(record: ExtensionRecord, { givenSkills: _, tools: __, ...turn }: TurnContext = {}): TurnContext {
  const own = record.descriptor?.usesSkills ?? turn.boundSkills;
  const bound = own ? { boundSkills: own } : {};
  return { ...turn, agentId: record.found.manifest.id, ...bound, ...workflowOf(record, turn), ...givenTo(record) };
}

function workflowOf({ found }: ExtensionRecord, { workflowState }: TurnContext): Pick<TurnContext, 'workflowState'> {
  const own = found.manifest.agent?.workflow;
  return own && own.pack !== workflowState?.pack ? { workflowState: own } : {};
}

/** The kernel composes only the instructions of agents with an `agent` block. */
function givenTo({ found }: ExtensionRecord): Pick<TurnContext, 'givenSkills'> {
  const given = found.manifest.agent && boundSkillIds(found.manifest.agent);
  return given ? { givenSkills: given } : {};
}

/** A tool whose `isAvailableIn` throws is left out. */
function isForTurn(tool: Tool, turn: TurnContext): boolean {
  return withFallback(() => tool.isAvailableIn?.(turn) ?? true, false);
}

function agentAsTool({ id, name, description }: AgentDescriptor, kernel: KernelState): Tool {
  const about = `Agent "${name}": ${description} Give it one complete task; it does not see this conversation.`;
  return defineTool({
    name: id,
    description: withoutHidden(about).text,
    input: z.object({ task: z.string().min(1).describe('What to do, with everything the agent needs to know.') }),
    async execute({ task }, { turn, signal }) {
      const { text, stopped } = await invokeAgent(kernel, id, task, { turn, signal });
      return { success: true, answer: text, stopped };
    },
  });
}
