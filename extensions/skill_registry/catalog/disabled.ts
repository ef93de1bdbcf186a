import type { DisabledSkill } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';

/** Whom `disabled` of the config keeps a skill from: every agent, or these; undefined: nobody. */
export function disabledFor(
  { id, qualifiedId }: Pick<Skill, 'id' | 'qualifiedId'>,
  disabled: readonly DisabledSkill[],
): Skill['disabledFor'] {
  const agents: string[] = [];
  for (const entry of disabled) {
    const named = typeof entry === 'string' ? entry : entry.skill;
    if (named !== id && named !== qualifiedId) continue;
    if (typeof entry === 'string') return 'everyone';
    agents.push(entry.agent);
  }
  return agents.length > 0 ? agents : undefined;
}
