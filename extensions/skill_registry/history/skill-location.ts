import { lstatSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import {
  assertWritable,
  futureRealPath,
  holdsReserved,
  isInside,
  isReserved,
  readContained,
  relativeSegments,
} from '../../../lib/files/index.ts';
import type { SkillRegistryConfig, ValidationProfile } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { TEMPORARY } from '../sources/walk/find-skill-files.ts';
import { newErrors, newLacks } from '../validate/validate-skill.ts';
import { skillInvalid, sourceNotWritable } from './errors.ts';
import { isLeftover } from './skill-tree.ts';

/** Where a skill is, or is to be, changed. */
export interface SkillLocation {
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
export function locationOfSkill(skill: Skill, sources: readonly SkillSource[], root: string): SkillLocation {
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
  return { skillId: skill.id, source: source.id, key: skillKey(skill, root), base, below, skillFile, validation };
}

/** Where a skill that does not exist yet would be made: the first source that may be written. @throws SOURCE_NOT_WRITABLE. */
export function locationForNew(skillId: string, sources: readonly SkillSource[], root: string): SkillLocation {
  const source = sources.find(({ writing }) => writing && !isReserved(futureRealPath(writing.folder)));
  if (!source?.writing) {
    const known = sources.map(({ id }) => id).join(', ') || 'none';
    throw sourceNotWritable(skillId, known, 'no source may be written; add a folder ({ path: skills }) to sources.');
  }
  const { folder, validation } = source.writing;
  const base = futureRealPath(folder);
  const key = folderKey(join(base, skillId), root);
  return { skillId, source: source.id, key, base, below: skillId, skillFile: 'SKILL.md', validation };
}

/**
 * Where a skill lies that the history speaks of, by what the sources are now: a path that was kept is never believed. It need
 * not be there.
 *
 * @param key - As `skillKey` gives it. @param sourceId - Default: the first source that may be written and has the place.
 * @throws SOURCE_NOT_WRITABLE when there is no such source.
 */
export function locationOfKey(
  skillId: string,
  key: string,
  { sources, root }: { readonly sources: readonly SkillSource[]; readonly root: string },
  sourceId?: string,
): SkillLocation {
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
export function skillKey(skill: Skill, root: string): string {
  return skill.dir === null ? `id:${skill.qualifiedId}` : folderKey(skill.dir, root);
}

export function folderOf({ base, below }: Pick<SkillLocation, 'base' | 'below'>): string {
  return below === '' ? base : join(base, below);
}

/** A file of a skill, from the folder of the source: no link below that is ever followed. */
export function pathIn({ below }: Pick<SkillLocation, 'below'>, path: string): string {
  return below === '' ? path : `${below}/${path}`;
}

type Limits = SkillRegistryConfig['limits'];

/** @throws INVALID_ARGUMENT when the skill is the folder of its source, or has the registry's own files in it. */
export function assertRemovable(location: SkillLocation): void {
  if (location.below === '')
    throw invalidArgument('This skill is the folder of its source, which cannot be moved away.');
  if (holdsReserved(folderOf(location)))
    throw invalidArgument('The registry keeps its own files in this skill, so it cannot be moved away.');
}

export function folderExists(location: SkillLocation): boolean {
  return lstatSync(folderOf(location), { throwIfNoEntry: false }) !== undefined;
}

/**
 * A path of a skill's file as it is kept: without `.` segments, SKILL.md as it is written there.
 *
 * @throws PATH_TRAVERSAL; INVALID_ARGUMENT, also for what is never written (`assertWritable`).
 */
export function filePath(path: string, location: SkillLocation): string {
  const { skillFile } = location;
  if (/\/\.?$/.test(path)) throw invalidArgument(`"${path.slice(0, 200)}" names a folder; give a file.`);
  const segments = relativeSegments(path);
  // Refused before anybody is asked to review it, who would take a line end in a name for one of the diff, or read it otherwise.
  if (/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(path))
    throw invalidArgument(`${JSON.stringify(path.slice(0, 200))} has a control character in it.`);
  const tool = segments.find(isToolFolder);
  if (tool) throw invalidArgument(`Nothing is written below ${tool}: it belongs to a tool.`);
  assertWritable(folderOf(location), segments);
  const joined = segments.join('/');
  if (isLeftover(joined))
    throw invalidArgument(`"${joined.slice(0, 200)}" is a name for leftovers, which no history keeps.`);
  return joined.toLowerCase() === 'skill.md' ? skillFile : joined;
}

/** The bytes of a file of a place; null when there is none. @throws PATH_TRAVERSAL, RESOURCE_TOO_LARGE. */
export function bytesAt(location: SkillLocation, path: string, limits: Limits): Buffer | null {
  try {
    return readContained(location.base, pathIn(location, path), limitOf(location, path, limits));
  } catch (error) {
    // Only what is not there is nothing: a folder or a device in its place is not.
    if (isCodedError(error, 'RESOURCE_NOT_FOUND') && !existsAt(location, path)) return null;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** @throws NOT_TEXT. */
export function textOf(bytes: Buffer, path: string): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw new CodedError('NOT_TEXT', `"${path}" is no UTF-8 text, so it cannot be changed as text.`);
}

/** @throws RESOURCE_TOO_LARGE. */
export function checkSize(location: SkillLocation, path: string, bytes: Buffer, limits: Limits): void {
  const limit = limitOf(location, path, limits);
  if (bytes.length <= limit) return;
  const message = `"${path}" would have ${bytes.length} bytes, more than the limit of ${limit}.`;
  throw new CodedError('RESOURCE_TOO_LARGE', message, { path, size: bytes.length, limit });
}

/**
 * @param unreviewed - Nobody looks at it before it is read.
 * @throws SKILL_INVALID when the text of a SKILL.md would not do.
 */
export function checkValid(
  location: SkillLocation,
  path: string,
  before: Buffer | null,
  after: Buffer,
  unreviewed = false,
): void {
  if (path !== location.skillFile) return;
  const [was, is] = [before?.toString('utf8') ?? null, textOf(after, path)];
  const lacks = unreviewed ? newLacks(was, is, location.skillId) : [];
  const errors = [...newErrors(was, is, location.skillId, location.validation), ...lacks];
  if (errors.length > 0) throw skillInvalid(location.skillId, errors);
}

// --- internal ---

/** A root that moves takes its history with it. */
export function folderKey(dir: string, root: string): string {
  const real = futureRealPath(root);
  return isInside(dir, real) ? relative(real, dir).split(sep).join('/') : dir;
}

function limitOf({ skillFile }: SkillLocation, path: string, { file_bytes, resource_bytes }: Limits): number {
  return path === skillFile ? file_bytes : resource_bytes;
}

function existsAt(location: SkillLocation, path: string): boolean {
  try {
    return lstatSync(`${folderOf(location)}/${path}`, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
