import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { isInside } from '../../../../lib/files/index.ts';
import { nearestIds } from '../../../../lib/text/index.ts';
import { type Snapshot, skillNamed } from '../../catalog/snapshot.ts';
import { invalidArgument, skillNotFound } from '../../skill/errors.ts';
import type { Skill } from '../../skill/skill.ts';
import { homeFolders, shippedFolder } from '../../sources/make-sources.ts';
import type { SkillSource } from '../../sources/source.ts';

/** The skills with these ids. @throws SKILL_NOT_FOUND; INVALID_ARGUMENT when two have one id. */
export function namedSkills(snapshot: Snapshot, ids: readonly string[]): readonly Skill[] {
  const known = snapshot.skills.map(({ id }) => id);
  const chosen = new Map<string, Skill>();
  for (const id of ids) {
    const skill = skillNamed(snapshot, id);
    if (!skill) throw skillNotFound(id, nearestIds(known, id));
    const other = chosen.get(skill.id);
    if (other && other !== skill)
      throw invalidArgument(
        `${other.qualifiedId} and ${skill.qualifiedId} would both be published as "${skill.id}". Name one of them.`,
      );
    chosen.set(skill.id, skill);
  }
  return [...chosen.values()];
}

/** The skills that somebody who publishes a root means: those that are kept in it, or that its config names by a path. */
export function skillsOfRoot(
  { skills }: Snapshot,
  sources: readonly SkillSource[],
  root: string,
): { readonly own: readonly Skill[]; readonly others: readonly Skill[] } {
  const owned = new Set(sources.filter((source) => isOfRoot(source, root)).map(({ id }) => id));
  return {
    own: skills.filter(({ source }) => owned.has(source)),
    others: skills.filter(({ source }) => !owned.has(source)),
  };
}

// --- internal ---

/** Kinds of sources whose skills belong to whoever wrote the config. */
const OWN_KINDS: ReadonlySet<string> = new Set(['directory', 'file', 'pack', 'inline', 'own']);

/** What a person keeps for agents in the home directory is private until it is named, and the skills of this package are everywhere. */
function isOfRoot({ kind, location }: SkillSource, root: string): boolean {
  if (!OWN_KINDS.has(kind)) return false;
  // A folder above the package, such as the home directory, has them in it as well.
  if (location === shippedFolder()) return dirname(location) === root;
  return isInside(location, root) || !homeFolders(homedir()).includes(location);
}
