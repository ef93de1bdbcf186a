/** `skill-registry/testing`: checks over what an agent did in a conversation, and calls for a test with a scripted model. */
import type { AgentInvocationContext, AgentResponse, KernelApi, TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './api.ts';
import type { InlineSkillConfig } from './config/config.ts';

export { skillInvoked, skillNotInvoked, skillOrder, type UsageCheck } from './usage/checks.ts';
export type { UsageEvent } from './usage/types.ts';

/** A skill as an entry `inline` of `sources` has it. */
export type TestSkill = InlineSkillConfig;

/**
 * Adds a skill to a registry, runs `test`, and removes the skill again, also when `test` throws. No file is written.
 *
 * @param skill - Its id is made of `name`. Where another skill has that id, that one stays the one agents get.
 * @returns what `test` returns.
 * @throws INVALID_ARGUMENT.
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
 * What a person does who types `/skills:<id> <args>`: the message goes to the agent of the turn, with the model that the kernel is
 * configured for, which may be a script.
 *
 * @param turn.agentId - The agent. Give `threadId`, too, to find the events afterwards: `registry.usage.events({ thread })`.
 * @throws Error with the reason when the command sends nothing, because the skill is held or disabled; COMMAND_NOT_FOUND,
 *   COMMAND_FAILED, and what `KernelApi.invokeAgent` throws.
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
