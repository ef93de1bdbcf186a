/** `skill-registry/testing`: checks of what an agent did, and calls for a test with a scripted model. */
import type { AgentInvocationContext, AgentResponse, KernelApi, TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';
import type { InlineSkillConfig } from './core/config/config.ts';

export { skillInvoked, skillNotInvoked, skillOrder, type UsageCheck } from './features/usage/checks.ts';
export type { UsageEvent } from './features/usage/types.ts';

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
