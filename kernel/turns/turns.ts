import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from '#zod';
import { withoutHidden } from '../../lib/text/index.ts';
import type { FoundExtension } from '../boot/discover.ts';
import { type ExtensionRecord, problemOf } from '../boot/extension-record.ts';
import type {
  AgentDescriptor,
  AgentInvocationContext,
  AgentProvider,
  AgentResponse,
  Problem,
  Tool,
  TurnContext,
} from '../contract.ts';
import { agentNotFound, agentUnavailable } from '../errors.ts';
import type { Offers } from '../offers/offers.ts';
import { defineTool } from '../offers/tools.ts';
import { createDeclarativeAgent } from './model-loop.ts';
import { boundSkillIds, collectContext, composeInstructions } from './system-text.ts';

export interface TurnOptions {
  readonly rootDir: string;
  readonly contextBudgetMs: number;
  readonly records: ReadonlyMap<string, ExtensionRecord>;
  readonly offers: Offers;
  getSecret(name: string): string | undefined;
  report(problem: Problem): void;
}

export interface Turns {
  invoke(agentId: string, task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
  systemParts(agentId: string, prompt: string, turn: TurnContext): Promise<readonly { source: string; text: string }[]>;
  /** Adds the skills that the agent's instructions contain. */
  commandTurn(turn: TurnContext): TurnContext;
  declarativeAgent(found: FoundExtension): AgentProvider;
  /** Rejects when instructions cannot be composed; reports AGENT_TOOLS_MISSING. */
  check(record: ExtensionRecord): Promise<void>;
}

interface Invocation {
  readonly kernel: unknown;
  readonly agentId: string;
  hasEnded: boolean;
}

/** Agents in this chain wait and cannot be called. One store for all kernels: each slows down all promises forever. */
const callStack = new AsyncLocalStorage<readonly Invocation[]>();

export function createTurns({ rootDir, contextBudgetMs, records, offers, getSecret, report }: TurnOptions): Turns {
  /** Without ended turns: work that a tool left running may call an agent later. */
  const waiting = (): readonly string[] =>
    (callStack.getStore() ?? []).flatMap(({ kernel, agentId, hasEnded }) =>
      kernel === records && !hasEnded ? [agentId] : [],
    );

  const runningAgent = (id: string): ExtensionRecord & { agent: AgentProvider } => {
    const record = records.get(id);
    if (record?.state === 'RUNNING' && record.agent) return record as ExtensionRecord & { agent: AgentProvider };
    if (record?.found.manifest.agent) throw agentUnavailable(id, record.reason ?? `state ${record.state}`);
    throw agentNotFound(id, agentIds(records));
  };

  const toolsOf = (turn: TurnContext, id: string, usesTools: readonly string[]): readonly Tool[] => {
    const callers = waiting();
    const isUsed = (extensionId: string): boolean => usesTools.includes('*') || usesTools.includes(extensionId);
    // `*` does not include tools of extensions that are agents: these must be named.
    const isShared = (extensionId: string): boolean =>
      usesTools.includes(extensionId) || records.get(extensionId)?.descriptor === undefined;
    const tools = offers
      .tools()
      .filter(({ extensionId, tool }) => isUsed(extensionId) && isShared(extensionId) && isForTurn(tool, turn))
      .map(({ tool }) => tool);
    const taken = new Set(tools.map(({ name }) => name));
    const agents = [...records.values()].flatMap(({ state, descriptor }) => {
      if (state !== 'RUNNING' || descriptor?.integrationMode !== 'tool' || descriptor.id === id) return [];
      if (callers.includes(descriptor.id) || !isUsed(descriptor.id) || taken.has(descriptor.id)) return [];
      return [agentAsTool(descriptor, turns)];
    });
    return [...tools, ...agents];
  };

  const turns: Turns = {
    async invoke(agentId, task, context = {}) {
      const record = runningAgent(agentId);
      const callers = waiting();
      if (callers.includes(agentId))
        throw agentUnavailable(
          agentId,
          `it waits for ${callers.at(-1)}, which makes this call. Answer without that agent`,
        );
      const turn = turnOf(record, context.turn);
      const invocation: Invocation = { kernel: records, agentId, hasEnded: false };
      try {
        const frames = [...(callStack.getStore() ?? []), invocation];
        return await callStack.run(frames, () => record.agent.invoke(task, { ...context, turn }));
      } finally {
        invocation.hasEnded = true;
      }
    },

    async systemParts(agentId, prompt, turn) {
      const record = runningAgent(agentId);
      const { found, descriptor } = record;
      const own = turnOf(record, turn);
      const instructions = found.manifest.agent ? await composeInstructions(found, offers.skills(), rootDir, own) : '';
      const tools = toolsOf(own, agentId, descriptor?.usesTools ?? []).map(({ name }) => name);
      const provided = await collectContext(records.values(), prompt, { ...own, tools }, contextBudgetMs, report);
      return instructions ? [{ source: agentId, text: instructions }, ...provided] : provided;
    },

    commandTurn(turn) {
      const record = turn.agentId === undefined ? undefined : records.get(turn.agentId);
      return record ? { ...turn, ...workflowOf(record, turn), ...givenTo(record) } : turn;
    },

    declarativeAgent({ manifest }) {
      return createDeclarativeAgent({
        manifest,
        getSecret,
        tools: (turn) => toolsOf(turn, manifest.id, manifest.agent?.uses_tools ?? []),
        systemParts: (prompt, turn) => turns.systemParts(manifest.id, prompt, turn),
      });
    },

    async check({ found }) {
      await composeInstructions(found, offers.skills(), rootDir, { preview: true });
      const missing = toolsMissing(found, [...records.keys()]);
      if (missing) report(missing);
    },
  };
  return turns;
}

/** AGENT_TOOLS_MISSING. @param known - Ids of all extensions. */
export function toolsMissing(found: FoundExtension, known: readonly string[]): Problem | undefined {
  const missing = (found.manifest.agent?.uses_tools ?? []).filter((id) => id !== '*' && !known.includes(id));
  if (missing.length === 0) return undefined;
  const what = `lists ${missing.join(', ')} in uses_tools, and there is no such extension. Correct the id or remove it`;
  return problemOf(found, 'AGENT_TOOLS_MISSING', what, 'warning');
}

// --- internal ---

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
  try {
    return tool.isAvailableIn?.(turn) ?? true;
  } catch {
    return false;
  }
}

function agentAsTool({ id, name, description }: AgentDescriptor, turns: Turns): Tool {
  const about = `Agent "${name}": ${description} Give it one complete task; it does not see this conversation.`;
  return defineTool({
    name: id,
    description: withoutHidden(about).text,
    input: z.object({ task: z.string().min(1).describe('What to do, with everything the agent needs to know.') }),
    async execute({ task }, { turn, signal }) {
      const { text, stopped } = await turns.invoke(id, task, { turn, signal });
      return { success: true, answer: text, stopped };
    },
  });
}

function agentIds(records: ReadonlyMap<string, ExtensionRecord>): readonly string[] {
  return [...records.values()].filter((record) => record.agent).map((record) => record.found.manifest.id);
}
