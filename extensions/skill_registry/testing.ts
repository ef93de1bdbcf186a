/** `skill-registry/testing`: checks of what an agent did, and calls for a test with a scripted model. */
import type { AgentInvocationContext, AgentResponse, KernelApi, TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './core/api.ts';
import type { InlineSkillConfig } from './core/config/config.ts';
import type { UsageEvent } from './core/events.ts';

export type { UsageEvent } from './core/events.ts';

/** As an entry `inline` of `sources`. */
export type TestSkill = InlineSkillConfig;

/**
 * Adds a skill for the time of `test`. Writes no file. @throws INVALID_ARGUMENT.
 * @param skill - Its id is made from `name`. Another skill with that id stays the one that agents get.
 */
export async function withSkill<T>(
  registry: Pick<SkillRegistry, 'addSource'>,
  skill: TestSkill,
  test: () => T | Promise<T>,
): Promise<T> {
  const remove = await registry.addSource({ inline: skill });
  try {
    return await test();
  } finally {
    await remove();
  }
}

/**
 * As if a person typed `/skills:<id> <args>`.
 * @param turn - `agentId`: who gets the message. `threadId`: finds the events with `registry.usage.events`.
 * @throws Error when the skill is held or disabled; COMMAND_NOT_FOUND, COMMAND_FAILED; as `KernelApi.invokeAgent`.
 */
export async function invokeSkill(
  kernel: Pick<KernelApi, 'runCommand' | 'invokeAgent'>,
  skillId: string,
  args: string,
  turn: TurnContext & { readonly agentId: string },
  context: Omit<AgentInvocationContext, 'turn'> = {},
): Promise<AgentResponse> {
  const result = await kernel.runCommand(`/skills:${skillId} ${args}`.trimEnd(), turn);
  if (result.kind !== 'send')
    throw new Error(`/skills:${skillId} sends nothing: ${result.kind === 'print' ? result.text : result.kind}`);
  let wasReceived = false;
  try {
    const response = await kernel.invokeAgent(turn.agentId, result.message, { ...context, turn });
    wasReceived = true;
    return response;
  } finally {
    result.settled?.(wasReceived);
  }
}

/** Throws an Error with the expected and the recorded events. */
export type UsageCheck = (events: readonly UsageEvent[]) => void;

/** The skill was requested and read. A body in the text of a turn is no invocation. */
export function skillInvoked(skillId: string): UsageCheck {
  return (events) => {
    if (invocations(events).includes(skillId)) return;
    throw unexpected(`Expected skill ${JSON.stringify(skillId)} to be invoked`, events, skillId);
  };
}

/** A refused or failed attempt is no invocation. */
export function skillNotInvoked(skillId: string): UsageCheck {
  return (events) => {
    const count = invocations(events).filter((id) => id === skillId).length;
    if (count === 0) return;
    const times = count === 1 ? 'once' : `${count} times`;
    throw unexpected(
      `Expected skill ${JSON.stringify(skillId)} not to be invoked, and it was invoked ${times}`,
      events,
    );
  };
}

/** Other skills may be invoked between them. An id that is given twice must be invoked twice. */
export function skillOrder(skillIds: readonly string[]): UsageCheck {
  if (skillIds.length === 0) throw new Error('skillOrder needs at least one skill id.');
  return (events) => {
    const invoked = invocations(events);
    let from = 0;
    for (const skillId of skillIds) {
      const at = invoked.indexOf(skillId, from);
      if (at === -1) {
        const after = from > 0 ? ` after ${JSON.stringify(invoked[from - 1])}` : '';
        const what = `Expected skills in the order ${skillIds.join(', ')}; ${JSON.stringify(skillId)} was not invoked${after}`;
        throw unexpected(what, events, skillId);
      }
      from = at + 1;
    }
  };
}

// --- internal ---

/** Oldest first; events with equal times keep their order. */
function invocations(events: readonly UsageEvent[]): readonly string[] {
  const invoked = events.filter(({ kind, outcome }) => kind === 'load' && outcome === 'success');
  return invoked.sort((a, b) => Date.parse(a.time) - Date.parse(b.time)).map(({ skillId }) => skillId);
}

function unexpected(what: string, events: readonly UsageEvent[], skillId?: string): Error {
  const recorded = invocations(events).join(', ') || 'no invocation';
  const others = events.filter(
    (event) => event.skillId === skillId && !(event.outcome === 'success' && event.kind === 'load'),
  );
  const seen = [...new Set(others.map(({ kind, outcome }) => `${kind} (${outcome})`))].join(', ');
  return new Error(`${what}. Recorded: ${recorded}.${seen ? ` Of ${skillId} also: ${seen}.` : ''}`);
}
