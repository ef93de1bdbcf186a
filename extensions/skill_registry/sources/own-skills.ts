import { resourceNotFound } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';

/**
 * What a source found last. A skill that is handed in is looked up here and the paths in it are never used, so that nobody
 * reads a file by making up a skill.
 */
export interface OwnSkills<T> {
  replace(found: ReadonlyMap<string, T>): void;
  find(skill: Skill): T | undefined;
  /** @throws RESOURCE_NOT_FOUND. */
  get(skill: Skill): T;
}

/** Keyed by qualified id. */
export function createOwnSkills<T>(): OwnSkills<T> {
  let known: ReadonlyMap<string, T> = new Map();
  return {
    replace(found) {
      known = found;
    },
    find: (skill) => known.get(skill.qualifiedId),
    get(skill) {
      const own = known.get(skill.qualifiedId);
      if (own === undefined) throw resourceNotFound(skill.qualifiedId, 'its source has no such skill');
      return own;
    },
  };
}
