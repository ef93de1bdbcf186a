import { randomBytes } from 'node:crypto';
import { unlessCoded, withFallback } from '../../../../../lib/errors/index.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import { rowRefused, type Unfinished } from '../errors.ts';
import { filePath, type SkillLocation } from '../skill-location.ts';
import type { Revision } from '../types.ts';

/** `before` and `after`: digests of contents in the history; null: the file does not exist. */
export interface FileChange {
  /** Relative to the skill. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Permission bits of the new file and, for undoing, of the old one. */
  readonly mode?: number | undefined;
  readonly modeBefore?: number | undefined;
}

export interface Operation {
  /** 12 hex digits. */
  readonly id: string;
  readonly location: SkillLocation;
  /** Made in this order. In a new skill SKILL.md is last, so that nobody finds an incomplete skill. */
  readonly changes: readonly FileChange[];
  /** Moves the whole folder into the archive (`out`), or back from there. */
  readonly move?: { readonly direction: 'out' | 'back'; readonly folder: string } | undefined;
  readonly kind: Revision['kind'];
  readonly by: string;
  readonly at: string;
  readonly reason?: string | undefined;
  readonly proposal?: string | undefined;
  readonly merged?: boolean | undefined;
  /** The revision that a roll-back restores. */
  readonly target?: number | undefined;
  /** Written when the change is committed, also if another process finishes it. */
  readonly lock?: LockChange | undefined;
  readonly alongside?: ((database: SqliteDatabase) => void) | undefined;
}

/** One entry of `skills-lock.json`; null removes it. The location says of which lock. */
export interface LockChange {
  readonly name: string;
  readonly entry: unknown;
  /** The removed entry, kept with an archived skill. */
  readonly before?: unknown;
  /** Of an archived skill: an entry that has the name stays. */
  readonly ifNone?: boolean | undefined;
}

export type JournaledOperation = Pick<Operation, 'id' | 'location' | 'changes' | 'move' | 'lock'>;

/** Looks in the present sources. @throws SOURCE_NOT_WRITABLE. */
export type LocationFinder = (skillId: string, key: string, source: string) => SkillLocation;

/** Writes no absolute path: the location, in the format `place`, is looked up again. */
export function writeEntry(database: SqliteDatabase, { id, location, changes, move, lock }: JournaledOperation): void {
  const { skillId, source, key, below } = location;
  const content = JSON.stringify({ id, place: { skillId, source, key, below }, changes, move, lock });
  database.prepare('INSERT INTO operation (id, content) VALUES (?, ?)').run(id, content);
}

/** Only temporary files remain to be removed. Call it in the transaction that commits the change. */
export function markDone(database: SqliteDatabase, id: string): void {
  database.prepare("UPDATE operation SET content = json_set(content, '$.done', 1) WHERE id = ?").run(id);
}

/** Call it in the transaction that commits the change. */
export function noteArchive(database: SqliteDatabase, { by, at, move, location, lock }: Operation): void {
  if (move?.direction === 'out') {
    const entry = lock?.before ? JSON.stringify({ name: lock.name, entry: lock.before, ifNone: true }) : null;
    const sql = 'INSERT INTO archived (skill_id, place, folder, at, by, lock) VALUES (?, ?, ?, ?, ?, ?)';
    database.prepare(sql).run(location.skillId, location.key, move.folder, at, by, entry);
  }
  if (move?.direction === 'back')
    database.prepare('UPDATE archived SET restored_at = ? WHERE folder = ?').run(at, move.folder);
}

export function removeEntry(database: SqliteDatabase, id: string): void {
  database.prepare('DELETE FROM operation WHERE id = ?').run(id);
}

/** Not trusted until `readEntry` has checked it. */
export interface JournalEntry {
  readonly id: string;
  readonly content: string;
}

export function entriesOf(database: SqliteDatabase): readonly JournalEntry[] {
  return database.prepare<JournalEntry>('SELECT id, content FROM operation ORDER BY rowid').all();
}

/** Of an archived skill. @throws HISTORY_ROW_REFUSED. */
export function archivedLock(lock: string | null): LockChange | undefined {
  return lock === null ? undefined : lockOf(parse(lock));
}

/** Empty when the entry names none. */
export function subjectOf({ content }: JournalEntry): { readonly key: string; readonly skillId: string } {
  const { key, skillId } = fieldsOf(parse(content).place);
  return { key: typeof key === 'string' ? key : '', skillId: typeof skillId === 'string' ? skillId : '' };
}

/** In a root that nobody has approved. A change that only has temporary files to remove counts as finished. */
export function unfinishedIn(database: SqliteDatabase): readonly Unfinished[] {
  return entriesOf(database)
    .filter(({ content }) => parse(content).done !== 1)
    .map((entry) => ({ ...subjectOf(entry), state: 'waiting' }));
}

/** `isDone`: committed. @throws HISTORY_ROW_REFUSED for an entry that no registry with these sources writes. */
export function readEntry(
  { id, content }: JournalEntry,
  locationOf: LocationFinder,
): JournaledOperation & { readonly isDone: boolean } {
  const entry = parse(content);
  const { skillId, source, key, below, base } = fieldsOf(entry.place);
  if (entry.id !== id || !/^[0-9a-f]{12}$/.test(id)) throw refused('an invalid id');
  if (typeof skillId !== 'string' || typeof source !== 'string' || typeof key !== 'string') throw refused('no skill');
  const location = unlessCoded(() => locationOf(skillId, key, source), undefined, 'SOURCE_NOT_WRITABLE');
  if (!location) throw refused(`the folder ${shown(key)}, which is in no writable source ${shown(source)}`);
  // Earlier releases also wrote the folder of the source.
  if (below !== location.below || (base !== undefined && base !== location.base))
    throw refused(`the wrong folder for the skill ${shown(skillId)} of the source ${shown(source)}`);
  if (!Array.isArray(entry.changes)) throw refused('no list of files');
  const changes = entry.changes.map((change) => changeOf(change, location));
  return { id, location, changes, move: moveOf(entry.move), lock: lockOf(entry.lock), isDone: entry.done === 1 };
}

/** Relative to the data folder. */
export function archiveFolder({ skillId }: Pick<SkillLocation, 'skillId'>): string {
  const name = skillId.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80);
  return `.archive/${name}-${randomBytes(6).toString('hex')}`;
}

/** @throws HISTORY_ROW_REFUSED for a name that `archiveFolder` never returns. */
export function checkedFolder(folder: unknown): string {
  if (typeof folder === 'string' && /^\.archive\/[A-Za-z0-9._-]{0,80}-[0-9a-f]{12}$/.test(folder)) return folder;
  throw rowRefused(`an archived folder with the name ${shown(folder)}`);
}

export function checkedPath(path: unknown, location: SkillLocation): string {
  const isOurs = (name: string): boolean => filePath(name, { ...location, skillFile: name }) === name;
  if (typeof path === 'string' && unlessCoded(() => isOurs(path), false)) return path;
  throw rowRefused(`a file with the name ${shown(path)}`);
}

// --- internal ---

function refused(what: string) {
  return rowRefused(`an unfinished change with ${what}`);
}

function parse(content: string): Readonly<Record<string, unknown>> {
  return fieldsOf(withFallback(() => JSON.parse(content)));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The code that writes the lock checks the entry. */
function lockOf(value: unknown): LockChange | undefined {
  if (value === undefined) return undefined;
  const { name, entry, ifNone } = fieldsOf(value);
  if (typeof name !== 'string' || typeof entry !== 'object') throw refused('no entry of a lock');
  return { name, entry, ifNone: ifNone === true };
}

function changeOf(value: unknown, location: SkillLocation): FileChange {
  const { path, before, after, mode, modeBefore } = fieldsOf(value);
  const isDigest = (field: unknown): field is string | null => field === null || typeof field === 'string';
  const isMode = (field: unknown): field is number | undefined => field === undefined || Number.isInteger(field);
  if (!isDigest(before) || !isDigest(after) || !isMode(mode) || !isMode(modeBefore)) throw refused('an invalid file');
  return { path: checkedPath(path, location), before, after, mode, modeBefore };
}

function moveOf(value: unknown): Operation['move'] {
  if (value === undefined) return undefined;
  const { direction, folder } = fieldsOf(value);
  if (direction !== 'out' && direction !== 'back') throw refused('an invalid move');
  return { direction, folder: checkedFolder(folder) };
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 200);
}
