import { realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { futureRealPath, isInside, isReserved } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import type { ValidationProfile } from '../config.ts';
import { TEMPORARY } from '../sources/find-skill-files.ts';
import type { SkillSource } from '../sources/source.ts';
import { sourceNotWritable } from './errors.ts';

/** Where a skill is, or is to be, changed. */
export interface Place {
  readonly skillId: string;
  readonly source: string;
  /** Names it in the history: the folder, relative to the root where it lies in it. */
  readonly key: string;
  /** Real folder of the source. */
  readonly base: string;
  /** The skill's folder below it; empty when the source is the skill. */
  readonly below: string;
  /** How SKILL.md is written. */
  readonly skillFile: string;
  readonly validation: ValidationProfile;
}

/** @throws SOURCE_NOT_WRITABLE. */
export function placeOfSkill(skill: Skill, sources: readonly SkillSource[], root: string): Place {
  const source = sources.find(({ id }) => id === skill.source);
  const refuse = (why: string): never => {
    throw sourceNotWritable(skill.id, skill.source, why);
  };
  if (!source?.writing) return refuse('copy the skill into a folder of yours, or set writable: true for the source.');
  if (skill.dir === null) return refuse('it has no folder of its own.');
  const base = realpathSync(source.writing.folder);
  if (!isInside(skill.dir, base)) return refuse('a link leads to it from there; change it where it lies.');
  if (skill.realFile !== join(skill.dir, basename(skill.file))) return refuse('its SKILL.md is a link.');
  const below = relative(base, skill.dir);
  const skillFile = basename(skill.file);
  const { validation } = source.writing;
  return { skillId: skill.id, source: source.id, key: keyOf(skill, root), base, below, skillFile, validation };
}

/** Where a skill that does not exist yet would be made: the first source that may be written. @throws SOURCE_NOT_WRITABLE. */
export function placeForNew(skillId: string, sources: readonly SkillSource[], root: string): Place {
  const source = sources.find(({ writing }) => writing && !isReserved(futureRealPath(writing.folder)));
  if (!source?.writing) {
    const known = sources.map(({ id }) => id).join(', ') || 'none';
    throw sourceNotWritable(skillId, known, 'no source may be written; add a folder ({ path: skills }) to sources.');
  }
  const { folder, validation } = source.writing;
  const base = futureRealPath(folder);
  const key = placeKey(join(base, skillId), root);
  return { skillId, source: source.id, key, base, below: skillId, skillFile: 'SKILL.md', validation };
}

/**
 * Where a skill lies that the history speaks of, by what the sources are now: a path that was kept is never believed. It need
 * not be there.
 *
 * @param key - As `keyOf` gives it. @param sourceId - Default: the first source that may be written and has the place.
 * @throws SOURCE_NOT_WRITABLE when there is no such source.
 */
export function placeOfKey(
  skillId: string,
  key: string,
  { sources, root }: { readonly sources: readonly SkillSource[]; readonly root: string },
  sourceId?: string,
): Place {
  const dir = isAbsolute(key) ? resolve(key) : resolve(futureRealPath(root), key);
  for (const { id, writing } of sources) {
    if (!writing || (sourceId !== undefined && id !== sourceId)) continue;
    const base = futureRealPath(writing.folder);
    const below = relative(base, dir).split(sep).join('/');
    if (!isInside(dir, base) || below.split('/').some(isToolFolder)) continue;
    return { skillId, source: id, key, base, below, skillFile: 'SKILL.md', validation: writing.validation };
  }
  throw sourceNotWritable(
    skillId,
    sourceId ?? key,
    `no source that may be written has its place, ${JSON.stringify(key)}.`,
  );
}

/** What is written in there may be run, or belongs to a change that is under way. */
export function isToolFolder(name: string): boolean {
  return name.toLowerCase() === '.git' || name.toLowerCase() === 'node_modules' || name.startsWith(TEMPORARY);
}

/** Which skill a history belongs to, whatever its source: its folder, else its qualified id. */
export function keyOf(skill: Skill, root: string): string {
  return skill.dir === null ? `id:${skill.qualifiedId}` : placeKey(skill.dir, root);
}

export function folderOf({ base, below }: Pick<Place, 'base' | 'below'>): string {
  return below === '' ? base : join(base, below);
}

/** A file of a skill, from the folder of the source: no link below that is ever followed. */
export function pathIn({ below }: Pick<Place, 'below'>, path: string): string {
  return below === '' ? path : `${below}/${path}`;
}

// --- internal ---

/** A root that moves takes its history with it. */
export function placeKey(dir: string, root: string): string {
  const real = futureRealPath(root);
  return isInside(dir, real) ? relative(real, dir).split(sep).join('/') : dir;
}
