import type { Skill } from '../skill/skill.ts';

import { frozen, type Snapshot } from './snapshot.ts';

/**
 * The skill in a folder that was written, if the snapshot can take its new content alone: no other skill has its id or its file, it
 * is bound to none by `requires`, nothing keeps it from models, and no problem names it. Undefined: all sources must be scanned.
 *
 * @param folder - Real path.
 */
export function skillAlone({ byQualifiedId, problems }: Snapshot, folder: string): Skill | undefined {
  const [skill, another] = [...byQualifiedId.values()].filter(({ dir }) => dir === folder);
  if (!skill || another || !isFree(skill)) return undefined;
  for (const other of byQualifiedId.values())
    if (other !== skill && (other.id === skill.id || other.realFile === skill.realFile)) return undefined;
  return problems.some(({ file }) => file === skill.file || file === skill.realFile) ? undefined : skill;
}

/** The snapshot with another content of one skill; undefined as for `skillAlone`. */
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
