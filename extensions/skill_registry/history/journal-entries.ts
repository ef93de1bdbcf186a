import { randomBytes } from 'node:crypto';
import { isCodedError } from 'skill-registry/kernel';
import type { SqliteDatabase } from '../store/open-database.ts';
import { rowRefused } from './errors.ts';
import { filePath, type SkillLocation } from './skill-location.ts';
import type { Revision } from './types.ts';

/** One file of a change. Digests are of contents in the history; null: not there. */
export interface FileChange {
  /** Relative to the skill. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Permission bits of a file that is made; and of the one before, for the way back. */
  readonly mode?: number | undefined;
  readonly modeBefore?: number | undefined;
}

/** A change of one skill. */
export interface Operation {
  /** 12 hex digits. */
  readonly id: string;
  readonly location: SkillLocation;
  /** In this order; SKILL.md comes last when the skill is made, so that it never appears half. */
  readonly changes: readonly FileChange[];
  /** The whole folder goes into the archive, or comes out of it. */
  readonly move?: { readonly direction: 'out' | 'back'; readonly folder: string } | undefined;
  readonly kind: Revision['kind'];
  readonly by: string;
  readonly at: string;
  readonly reason?: string | undefined;
  readonly proposal?: string | undefined;
  /** The proposal was merged with what had changed since. */
  readonly merged?: boolean | undefined;
  readonly target?: number | undefined;
}

/** As much of it as its end needs. */
export type Begun = Pick<Operation, 'id' | 'location' | 'changes' | 'move'>;

/** Finds where a skill lies by what the sources are now. @throws SOURCE_NOT_WRITABLE. */
export type LocationFinder = (skillId: string, key: string, source: string) => SkillLocation;

/** Writes down that a change begins. No absolute path: where its skill lies is looked up again. */
export function writeEntry(database: SqliteDatabase, { id, location, changes, move }: Begun): void {
  const { skillId, source, key, below } = location;
  const content = JSON.stringify({ id, place: { skillId, source, key, below }, changes, move });
  database.prepare('INSERT INTO operation (id, content) VALUES (?, ?)').run(id, content);
}

/** From here on the change counts, and only its leftovers are to go. In the transaction that makes it count. */
export function markDone(database: SqliteDatabase, id: string): void {
  database.prepare("UPDATE operation SET content = json_set(content, '$.done', 1) WHERE id = ?").run(id);
}

export function removeEntry(database: SqliteDatabase, id: string): void {
  database.prepare('DELETE FROM operation WHERE id = ?').run(id);
}

/** A change that was begun, as the journal has it; nothing of it is believed before `readEntry`. */
export interface Entry {
  readonly id: string;
  readonly content: string;
}

/** Oldest first. */
export function entriesOf(database: SqliteDatabase): readonly Entry[] {
  return database.prepare('SELECT id, content FROM operation ORDER BY rowid').all() as Entry[];
}

/** Which skill an entry says it is about; empty where it says nothing. */
export function subjectOf({ content }: Entry): { readonly key: string; readonly skillId: string } {
  const { key, skillId } = fieldsOf(parse(content).place);
  return { key: typeof key === 'string' ? key : '', skillId: typeof skillId === 'string' ? skillId : '' };
}

/**
 * An entry that a registry has written for the sources as they are now.
 *
 * @returns `isDone`: it counts already.
 * @throws HISTORY_ROW_REFUSED for any other.
 */
export function readEntry({ id, content }: Entry, locationOf: LocationFinder): Begun & { readonly isDone: boolean } {
  const entry = parse(content);
  const { skillId, source, key, below, base } = fieldsOf(entry.place);
  if (entry.id !== id || !/^[0-9a-f]{12}$/.test(id)) throw refused('an odd name');
  if (typeof skillId !== 'string' || typeof source !== 'string' || typeof key !== 'string') throw refused('no skill');
  const location = locationIn(locationOf, skillId, key, source);
  // Earlier releases wrote the folder of the source as well.
  if (below !== location.below || (base !== undefined && base !== location.base))
    throw refused(`the folder of ${JSON.stringify(skillId)} elsewhere than in its source ${JSON.stringify(source)}`);
  if (!Array.isArray(entry.changes)) throw refused('no list of files');
  return {
    id,
    location,
    changes: entry.changes.map((change) => changeOf(change, location)),
    move: moveOf(entry.move),
    isDone: entry.done === 1,
  };
}

/** Where a skill that is removed goes, relative to the data folder. */
export function archiveFolder({ skillId }: Pick<SkillLocation, 'skillId'>): string {
  const name = skillId.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80);
  return `.archive/${name}-${randomBytes(6).toString('hex')}`;
}

/** @throws HISTORY_ROW_REFUSED for a folder that `archiveFolder` has not named. */
export function checkedFolder(folder: unknown): string {
  if (typeof folder === 'string' && /^\.archive\/[A-Za-z0-9._-]{0,80}-[0-9a-f]{12}$/.test(folder)) return folder;
  throw rowRefused(`a folder of the archive that is called ${shown(folder)}`);
}

/** @throws HISTORY_ROW_REFUSED for a file that no change of a skill may have. */
export function checkedPath(path: unknown, location: SkillLocation): string {
  try {
    if (typeof path === 'string' && filePath(path, { ...location, skillFile: path }) === path) return path;
  } catch (error) {
    if (!isCodedError(error)) throw error;
  }
  throw rowRefused(`a file that is called ${shown(path)}`);
}

// --- internal ---

function refused(what: string) {
  return rowRefused(`an unfinished change with ${what}`);
}

function locationIn(locationOf: LocationFinder, skillId: string, key: string, source: string): SkillLocation {
  try {
    return locationOf(skillId, key, source);
  } catch (error) {
    if (!isCodedError(error, 'SOURCE_NOT_WRITABLE')) throw error;
    throw refused(`the folder ${shown(key)}, which no source ${shown(source)} has that may be written`);
  }
}

function parse(content: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(content));
  } catch {
    return {};
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function changeOf(value: unknown, location: SkillLocation): FileChange {
  const { path, before, after, mode, modeBefore } = fieldsOf(value);
  const isDigest = (one: unknown): one is string | null => one === null || typeof one === 'string';
  const isMode = (one: unknown): one is number | undefined => one === undefined || Number.isInteger(one);
  if (!isDigest(before) || !isDigest(after) || !isMode(mode) || !isMode(modeBefore)) throw refused('an odd file');
  return { path: checkedPath(path, location), before, after, mode, modeBefore };
}

function moveOf(value: unknown): Operation['move'] {
  if (value === undefined) return undefined;
  const { direction, folder } = fieldsOf(value);
  if (direction !== 'out' && direction !== 'back') throw refused('an odd move');
  return { direction, folder: checkedFolder(folder) };
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 200);
}
