import { rmSync, statSync } from 'node:fs';
import { sqliteFailure } from '../../../lib/sqlite/index.ts';
import { openDatabase, type SqliteDatabase } from './open-database.ts';

/** Tables of one kind of content in `cache.db`. */
export interface CachePart {
  /** Name of its table, or the beginning of its tables' names: `search` for `search_document`. */
  readonly name: string;
  /** A whole number, 1 or more. Raise it with anything that changes the tables, or what is kept in them for the same input. */
  readonly version: number;
  /** `CREATE` statements. */
  readonly sql: string;
}

/**
 * Opens `cache.db`: what can be made anew from the skills at any time (headers, the full-text index, vectors, token counts).
 *
 * A part of another version is emptied and filled anew, which processes that still use it survive; a damaged file is
 * removed. Where none can be written, or somebody else holds it, the cache is in memory: everything works, and the next
 * process starts cold. Never touches any other file.
 *
 * @param file - Absolute, or `:memory:`.
 * @param parts - Of everybody who keeps something in it; tables of nobody are dropped.
 * @param onMemory - Told why a file could not be used.
 * @throws `sqliteFailure`: `unavailable`, where SQLite itself cannot be loaded.
 */
export function openCacheDatabase(
  file: string,
  parts: readonly CachePart[],
  onMemory: (reason: string) => void = () => undefined,
): SqliteDatabase {
  if (file === ':memory:') return openAt(file, parts);
  try {
    return openAt(file, parts);
  } catch (error) {
    if (sqliteFailure(error) === 'unavailable') throw error;
    if (isDamage(error)) {
      removeFiles(file);
      try {
        return openAt(file, parts);
      } catch (again) {
        onMemory(reasonOf(again));
      }
    } else onMemory(reasonOf(error));
    return openAt(':memory:', parts);
  }
}

/** Whether an error of a statement says that the file is no sound database. */
export function isDamage(error: unknown): boolean {
  return sqliteFailure(error) === 'damaged';
}

/**
 * Removes a damaged database, so that whoever opens it next makes it anew. Processes that have it open keep what they see.
 *
 * @param inode - Nothing is done when another file has taken its place. Default: whatever is there.
 */
export function removeFiles(file: string, inode?: number): void {
  try {
    if (inode !== undefined && statSync(file).ino !== inode) return;
    for (const end of ['-wal', '-shm', '']) rmSync(`${file}${end}`, { force: true });
  } catch {
    // Then it cannot be opened either, and the cache is in memory.
  }
}

// --- internal ---

/** A cache is not worth waiting for. */
const BUSY_MS = 500;

function openAt(file: string, parts: readonly CachePart[]): SqliteDatabase {
  const database = openDatabase(file, BUSY_MS);
  try {
    // It can be lost: a crash of the machine costs a rebuild.
    database.exec('PRAGMA synchronous = OFF');
    // The file may have come with somebody's repository.
    database.exec('PRAGMA trusted_schema = OFF');
    if (!isCurrent(database, parts)) database.transaction(() => bringUpToDate(database, parts));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Of the file as a whole, as `user_version`; a new file has 0. */
const FORMAT = 2;
const VERSIONS = 'CREATE TABLE part (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;';

function isCurrent(database: SqliteDatabase, parts: readonly CachePart[]): boolean {
  const versions = versionsIn(database);
  return versions?.size === parts.length && parts.every(({ name, version }) => versions.get(name) === version);
}

/** Undefined when the file is new, or of another format. */
function versionsIn(database: SqliteDatabase): ReadonlyMap<string, number> | undefined {
  const { user_version } = database.prepare<{ user_version: number }>('PRAGMA user_version').get() ?? {};
  if (user_version !== FORMAT) return undefined;
  const rows = database.prepare<{ name: string; version: number }>('SELECT name, version FROM part').all();
  return new Map(rows.map(({ name, version }) => [name, version]));
}

/** In a transaction: several processes may find it empty, or old, at once. */
function bringUpToDate(database: SqliteDatabase, parts: readonly CachePart[]): void {
  const versions = versionsIn(database);
  if (!versions) {
    dropTables(database, () => true);
    database.exec(VERSIONS);
    database.exec(`PRAGMA user_version = ${FORMAT}`);
  }
  const kept = parts.filter(({ name, version }) => versions?.get(name) === version);
  dropTables(database, (table) => table !== 'part' && !kept.some(({ name }) => isOf(table, name)));
  database.exec('DELETE FROM part');
  for (const { name, version, sql } of parts) {
    if (!kept.some((one) => one.name === name)) database.exec(sql);
    database.prepare('INSERT INTO part (name, version) VALUES (?, ?)').run(name, version);
  }
}

function isOf(table: string, part: string): boolean {
  return table === part || table.startsWith(`${part}_`);
}

/** Virtual ones first: they take their own tables with them. */
function dropTables(database: SqliteDatabase, isOld: (table: string) => boolean): void {
  const all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  for (const kind of ["AND sql LIKE 'CREATE VIRTUAL%'", '']) {
    for (const { name } of database.prepare<{ name: string }>(`${all} ${kind}`).all()) {
      if (isOld(name)) database.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`);
    }
  }
}

/** Of the system (`EACCES`) the code, whose message would name the file again; of the database what it says. */
function reasonOf(error: unknown): string {
  const { code, message = String(error) } = error as { readonly code?: unknown; readonly message?: string };
  return typeof code === 'string' && sqliteFailure(error) === undefined ? code : message;
}
