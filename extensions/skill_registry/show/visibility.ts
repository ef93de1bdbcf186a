import type { TurnContext } from 'skill-registry/kernel';
import { frozen } from '../catalog/read-only.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Skill } from '../skill/skill.ts';
import type { Grants } from './grants.ts';
import { visibleSkills } from './scope.ts';

/** So many scopes of one snapshot are remembered: agents are few, and each has one. */
const MAX_SCOPES = 16;

/**
 * What an agent sees in a turn, in catalog order: the same array for the same snapshot and scope, because what search knows
 * of a set of skills hangs on it.
 */
export function createVisibility(snapshotNow: () => Snapshot, grants: Grants): (turn: TurnContext) => readonly Skill[] {
  const known = new Map<string, readonly Skill[]>();
  let of: Snapshot | undefined;
  return (turn) => {
    const snapshot = snapshotNow();
    if (snapshot !== of) known.clear();
    of = snapshot;
    const granted = grants.of(turn);
    const key = JSON.stringify([turn.boundSkills, turn.workflowState, [...granted]]);
    const before = known.get(key);
    if (before) return before;
    const skills = frozen(visibleSkills(snapshot, turn, granted));
    const [oldest] = known.keys();
    if (known.size >= MAX_SCOPES && oldest !== undefined) known.delete(oldest);
    known.set(key, skills);
    return skills;
  };
}
