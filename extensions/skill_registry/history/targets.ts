import { lstatSync } from 'node:fs';
import { CodedError, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { assertWritable, holdsReserved, isInside, readContained, relativeSegments } from '../../../lib/files/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { skillNamed } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { nearestIds } from '../search/nearest-ids.ts';
import { findVisible, visibleSkills } from '../show/scope.ts';
import { invalidArgument, skillNotFound } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { isUsableId } from '../sources/make-skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { newErrors } from '../validate/text-problems.ts';
import { skillExists, skillInvalid, sourceNotWritable } from './errors.ts';
import { folderOf, isToolFolder, type Place, pathIn, placeForNew, placeOfSkill } from './places.ts';
import { isPassing } from './skill-tree.ts';

/** What writing needs to know of the registry. */
export interface Shelf {
  /** Absolute. */
  readonly root: string;
  /** What is made anew from skills and proposals; it may hold words of both. */
  readonly caches: readonly string[];
  readonly limits: SkillRegistryConfig['limits'];
  readonly writes: SkillRegistryConfig['writes'];
  snapshot(): Snapshot;
  sources(): readonly SkillSource[];
  granted(turn: TurnContext): ReadonlySet<string>;
  /** After a change, before anybody is told. */
  refresh(): Promise<unknown>;
}

const NEW_ID = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The skill that is meant: with a turn, what its agent may see; else any. @throws SKILL_NOT_FOUND. */
export function findSkill(shelf: Shelf, skillId: string, turn?: TurnContext): Skill {
  const snapshot = shelf.snapshot();
  const { skill, refusal } = turn
    ? findVisible(snapshot, skillId, turn, shelf.granted(turn))
    : { skill: skillNamed(snapshot, skillId), refusal: undefined };
  if (skill && !refusal) return skill;
  const known = turn ? visibleSkills(snapshot, turn, shelf.granted(turn)) : snapshot.skills;
  throw skillNotFound(
    skillId,
    nearestIds(
      known.map(({ id }) => id),
      skillId,
    ),
  );
}

/** @throws SKILL_NOT_FOUND, SOURCE_NOT_WRITABLE. */
export function findPlace(shelf: Shelf, skillId: string, turn?: TurnContext): Place {
  return placeOfSkill(findSkill(shelf, skillId, turn), shelf.sources(), shelf.root);
}

/** Where a new skill goes. @throws INVALID_ARGUMENT for an id that is no name, SKILL_EXISTS, SOURCE_NOT_WRITABLE. */
export function newPlace(shelf: Shelf, skillId: string): Place {
  if (skillId.length > 64 || !NEW_ID.test(skillId) || !isUsableId(skillId)) {
    const got = JSON.stringify(skillId.slice(0, 80));
    throw invalidArgument(`name must be 1-64 lower-case letters, digits and single hyphens between them, got ${got}.`);
  }
  const known = shelf.snapshot().byId.get(skillId);
  if (known) throw skillExists(skillId, `source ${known.source}`);
  const place = placeForNew(skillId, shelf.sources(), shelf.root);
  if (isThere(place)) throw skillExists(skillId, 'its folder is there, though no skill was read from it');
  assertWritable(place.base, [place.below, place.skillFile]);
  const above = [...shelf.snapshot().byQualifiedId.values()].find(({ dir }) => dir && isInside(place.base, dir));
  if (above)
    throw sourceNotWritable(skillId, place.source, `it is the skill "${above.id}", and below a skill none is found.`);
  return place;
}

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
  // Refused before anybody is asked to review it.
  const tool = segments.find(isToolFolder);
  if (tool) throw invalidArgument(`Nothing is written below ${tool}: it belongs to a tool.`);
  assertWritable(folderOf(place), segments);
  const joined = segments.join('/');
  if (isPassing(joined))
    throw invalidArgument(`"${joined.slice(0, 200)}" is a name for leftovers, which no history keeps.`);
  return joined.toLowerCase() === 'skill.md' ? skillFile : joined;
}

/** The bytes of a file of a place; null when there is none. @throws PATH_TRAVERSAL, RESOURCE_TOO_LARGE. */
export function bytesAt(place: Place, path: string, limits: Shelf['limits']): Buffer | null {
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
export function checkSize(place: Place, path: string, bytes: Buffer, limits: Shelf['limits']): void {
  const limit = limitOf(place, path, limits);
  if (bytes.length <= limit) return;
  const message = `"${path}" would have ${bytes.length} bytes, more than the limit of ${limit}.`;
  throw new CodedError('RESOURCE_TOO_LARGE', message, { path, size: bytes.length, limit });
}

/** @throws SKILL_INVALID when the text of a SKILL.md would not do. */
export function checkValid(place: Place, path: string, before: Buffer | null, after: Buffer): void {
  if (path !== place.skillFile) return;
  const errors = newErrors(before?.toString('utf8') ?? null, textOf(after, path), place.skillId, place.validation);
  if (errors.length > 0) throw skillInvalid(place.skillId, errors);
}

// --- internal ---

function limitOf({ skillFile }: Place, path: string, { file_bytes, resource_bytes }: Shelf['limits']): number {
  return path === skillFile ? file_bytes : resource_bytes;
}

function existsAt(place: Place, path: string): boolean {
  try {
    return lstatSync(`${folderOf(place)}/${path}`, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
