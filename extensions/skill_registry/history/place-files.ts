import { lstatSync } from 'node:fs';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { assertWritable, holdsReserved, readContained, relativeSegments } from '../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import { newErrors, newLacks } from '../validate/text-problems.ts';
import { skillInvalid } from './errors.ts';
import { folderOf, isToolFolder, type Place, pathIn } from './places.ts';
import { isPassing } from './skill-tree.ts';

type Limits = SkillRegistryConfig['limits'];

/** @throws INVALID_ARGUMENT when the skill is the folder of its source, or has the registry's own files in it. */
export function assertRemovable(place: Place): void {
  if (place.below === '') throw invalidArgument('This skill is the folder of its source, which cannot be moved away.');
  if (holdsReserved(folderOf(place)))
    throw invalidArgument('The registry keeps its own files in this skill, so it cannot be moved away.');
}

export function isThere(place: Place): boolean {
  return lstatSync(folderOf(place), { throwIfNoEntry: false }) !== undefined;
}

/**
 * A path of a skill's file as it is kept: without `.` segments, SKILL.md as it is written there.
 *
 * @throws PATH_TRAVERSAL; INVALID_ARGUMENT, also for what is never written (`assertWritable`).
 */
export function filePath(path: string, place: Place): string {
  const { skillFile } = place;
  if (/\/\.?$/.test(path)) throw invalidArgument(`"${path.slice(0, 200)}" names a folder; give a file.`);
  const segments = relativeSegments(path);
  // Refused before anybody is asked to review it, who would take a line end in a name for one of the diff, or read it otherwise.
  if (/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(path))
    throw invalidArgument(`${JSON.stringify(path.slice(0, 200))} has a control character in it.`);
  const tool = segments.find(isToolFolder);
  if (tool) throw invalidArgument(`Nothing is written below ${tool}: it belongs to a tool.`);
  assertWritable(folderOf(place), segments);
  const joined = segments.join('/');
  if (isPassing(joined))
    throw invalidArgument(`"${joined.slice(0, 200)}" is a name for leftovers, which no history keeps.`);
  return joined.toLowerCase() === 'skill.md' ? skillFile : joined;
}

/** The bytes of a file of a place; null when there is none. @throws PATH_TRAVERSAL, RESOURCE_TOO_LARGE. */
export function bytesAt(place: Place, path: string, limits: Limits): Buffer | null {
  try {
    return readContained(place.base, pathIn(place, path), limitOf(place, path, limits));
  } catch (error) {
    // Only what is not there is nothing: a folder or a device in its place is not.
    if (isCodedError(error, 'RESOURCE_NOT_FOUND') && !existsAt(place, path)) return null;
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
export function checkSize(place: Place, path: string, bytes: Buffer, limits: Limits): void {
  const limit = limitOf(place, path, limits);
  if (bytes.length <= limit) return;
  const message = `"${path}" would have ${bytes.length} bytes, more than the limit of ${limit}.`;
  throw new CodedError('RESOURCE_TOO_LARGE', message, { path, size: bytes.length, limit });
}

/**
 * @param unreviewed - Nobody looks at it before it is read.
 * @throws SKILL_INVALID when the text of a SKILL.md would not do.
 */
export function checkValid(place: Place, path: string, before: Buffer | null, after: Buffer, unreviewed = false): void {
  if (path !== place.skillFile) return;
  const [was, is] = [before?.toString('utf8') ?? null, textOf(after, path)];
  const lacks = unreviewed ? newLacks(was, is, place.skillId) : [];
  const errors = [...newErrors(was, is, place.skillId, place.validation), ...lacks];
  if (errors.length > 0) throw skillInvalid(place.skillId, errors);
}

// --- internal ---

function limitOf({ skillFile }: Place, path: string, { file_bytes, resource_bytes }: Limits): number {
  return path === skillFile ? file_bytes : resource_bytes;
}

function existsAt(place: Place, path: string): boolean {
  try {
    return lstatSync(`${folderOf(place)}/${path}`, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
