import type { TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Skill } from '../skill/skill.ts';
import type { Refusal, Scopes } from './scope.ts';
import type { AgentView, SkillVisibility } from './types.ts';

export function whoSees(
  snapshot: Snapshot,
  agents: readonly TurnContext[],
  { declared, offerRefusal }: Pick<Scopes, 'declared' | 'offerRefusal'>,
): readonly SkillVisibility[] {
  const winners = new Set(snapshot.skills);
  // A file that two sources have is one skill.
  const files = new Set(snapshot.skills.map(({ realFile }) => realFile));
  const losers = [...snapshot.byQualifiedId.values()].filter((skill) => {
    if (winners.has(skill) || (skill.realFile !== null && files.has(skill.realFile))) return false;
    files.add(skill.realFile);
    return true;
  });
  const turns: readonly TurnContext[] = [{}, ...agents.map(declared)];
  return [...snapshot.skills, ...losers].map((skill) => {
    const isLoser = !winners.has(skill);
    const views = turns.map((turn): AgentView => {
      const refusal = offerRefusal(skill, turn);
      const isBound = turn.boundSkills !== undefined;
      const because = refusal ? REASONS[refusal](skill) : isLoser && !isBound ? TAKEN : undefined;
      return { agent: turn.agentId ?? null, ...(because === undefined ? {} : { because }) };
    });
    return { skill, isLoser, views };
  });
}

// --- internal ---

const TAKEN = 'another skill has its id; it is read by its qualified id';

const REASONS: Readonly<Record<Refusal, (skill: Skill) => string>> = {
  SKILL_HELD: ({ heldBecause = '' }) => `held: ${heldBecause}`,
  SKILL_DISABLED: () => 'disabled in the config',
  SKILL_HIDDEN: ({ hiddenBecause = '' }) => hiddenBecause,
  SKILL_NOT_MODEL_INVOCABLE: () => 'it hides itself from models (disable-model-invocation)',
  SKILL_OUT_OF_SCOPE: () => 'not among the skills that the agent is bound to (uses_skills, or agents in the config)',
};
