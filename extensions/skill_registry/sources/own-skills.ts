import { resourceNotFound } from '../../../lib/files/index.ts';
import type { Skill } from '../skill/skill.ts';

/**
 * What a source found last. A skill that is handed in is looked up here and the paths in it are never used, so that nobody
 * reads a file by making up a skill.
 */
export interface OwnSkills<T> {
  replace(found: ReadonlyMap<string, T>): void;
  /** As `replace`, with the work put off until somebody asks. */
  replaceLater(find: () => ReadonlyMap<string, T>): void;
  find(skill: Skill): T | undefined;
  /** @throws RESOURCE_NOT_FOUND. */
  get(skill: Skill): T;
}

/** Keyed by qualified id. */
export function createOwnSkills<T>(): OwnSkills<T> {
  let known: ReadonlyMap<string, T> | undefined = new Map();
  let later = (): ReadonlyMap<string, T> => new Map();
  const all = (): ReadonlyMap<string, T> => {
    known ??= later();
    return known;
  };
  return {
    replace(found) {
      known = found;
    },
    replaceLater(find) {
      known = undefined;
      later = find;
    },
    find: (skill) => all().get(skill.qualifiedId),
    get(skill) {
      const own = all().get(skill.qualifiedId);
      if (own === undefined) throw resourceNotFound(skill.qualifiedId, 'its source has no such skill');
      return own;
    },
  };
}
