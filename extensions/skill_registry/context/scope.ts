import type { TurnContext } from 'skill-registry/kernel';
import type { Skill, Snapshot } from '../api.ts';

/** Why a skill that exists is not shown to somebody. Callers answer SKILL_NOT_FOUND; only the event says more. */
export type Refusal = 'SKILL_OUT_OF_SCOPE' | 'SKILL_NOT_MODEL_INVOCABLE';

/** Whether an agent in this turn may know the skill: within its `boundSkills`, and not for people only. */
export function refusalOf(skill: Skill, turn: TurnContext): Refusal | undefined {
  const { boundSkills } = turn;
  const inScope = !boundSkills || boundSkills.includes(skill.id) || boundSkills.includes(skill.qualifiedId);
  if (!inScope) return 'SKILL_OUT_OF_SCOPE';
  return skill.modelInvocable ? undefined : 'SKILL_NOT_MODEL_INVOCABLE';
}

/** What an agent sees in this turn, in catalog order. */
export function visibleSkills(snapshot: Snapshot, turn: TurnContext): readonly Skill[] {
  return snapshot.skills.filter((skill) => refusalOf(skill, turn) === undefined);
}
