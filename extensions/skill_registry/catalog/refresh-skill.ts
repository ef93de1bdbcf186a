import type { Skill } from '../skill/skill.ts';

import { frozen, type Snapshot } from './snapshot.ts';

/**
 * The skill in the written folder (a real path), if it can be replaced alone: no other skill has its id or file,
 * `requires` names nothing, nothing hides or holds it, and no problem names it. Undefined: all sources must be scanned.
 */
export function skillAlone({ byQualifiedId, problems }: Snapshot, folder: string): Skill | undefined {
  const [skill, another] = [...byQualifiedId.values()].filter(({ dir }) => dir === folder);
  if (!skill || another || !isFree(skill)) return undefined;
  for (const other of byQualifiedId.values())
    if (other !== skill && (other.id === skill.id || other.realFile === skill.realFile)) return undefined;
  return problems.some(({ file }) => file === skill.file || file === skill.realFile) ? undefined : skill;
}

export function withSkill(snapshot: Snapshot, before: Skill, skill: Skill): Snapshot | undefined {
  if (!isFree(skill)) return undefined;
  return frozen({
    ...snapshot,
    version: snapshot.version + 1,
    skills: snapshot.skills.map((one) => (one === before ? skill : one)),
    byId: new Map(snapshot.byId).set(skill.id, skill),
    byQualifiedId: new Map(snapshot.byQualifiedId).set(skill.qualifiedId, skill),
  });
}

// --- internal ---

function isFree({ requires, preload, hiddenBecause, heldBecause, disabledFor }: Skill): boolean {
  return requires.length === 0 && !preload && !hiddenBecause && heldBecause === undefined && disabledFor === undefined;
}
