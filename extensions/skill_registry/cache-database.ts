import { createHash } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { sqliteFailure } from '../../lib/sqlite/index.ts';
import { openDatabase, type SqliteDatabase } from './open-database.ts';

/**
 * Opens `cache.db`: what can be made anew from the skills at any time (headers, the full-text index, vectors, token counts).
 *
 * A file made for other tables is emptied and filled anew, which processes that still use it survive; a damaged one is
 * removed. Where none can be written, or somebody else holds it, the cache is in memory: everything works, and the next
 * process starts cold. Never touches any other file.
 *
 * @param file - Absolute, or `:memory:`.
 * @param schemas - `CREATE` statements of everybody who keeps something in it; together they are its version.
 * @param onMemory - Told why a file could not be used.
 * @throws `sqliteFailure`: `unavailable`, where SQLite itself cannot be loaded.
 */
export function openCacheDatabase(
  file: string,
  schemas: readonly string[],
  onMemory: (reason: string) => void = () => undefined,
): SqliteDatabase {
  if (file === ':memory:') return openAt(file, schemas);
  try {
    return openAt(file, schemas);
  } catch (error) {
    if (sqliteFailure(error) === 'unavailable') throw error;
    if (isDamage(error)) {
      removeFiles(file);
      try {
        return openAt(file, schemas);
      } catch (again) {
        onMemory(reasonOf(again));
      }
    } else onMemory(reasonOf(error));
    return openAt(':memory:', schemas);
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

function openAt(file: string, schemas: readonly string[]): SqliteDatabase {
  const version = versionOf(schemas);
  const database = openDatabase(file, BUSY_MS);
  try {
    // It can be lost: a crash of the machine costs a rebuild.
    database.exec('PRAGMA synchronous = OFF');
    // The file may have come with somebody's repository.
    database.exec('PRAGMA trusted_schema = OFF');
    if (versionIn(database) !== version) create(database, schemas, version);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Fits `user_version`, and is never 0, which a new file has. */
function versionOf(schemas: readonly string[]): number {
  return (createHash('sha256').update(schemas.join('\n')).digest().readUInt32BE() >>> 2) + 1;
}

/** Several processes may find it empty at once. */
function create(database: SqliteDatabase, schemas: readonly string[], version: number): void {
  database.transaction(() => {
    if (versionIn(database) === version) return;
    dropTables(database);
    for (const schema of schemas) database.exec(schema);
    database.exec(`PRAGMA user_version = ${version}`);
  });
}

function versionIn(database: SqliteDatabase): number | undefined {
  return database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version;
}

/** Of another version. Virtual ones first: they take their own tables with them. */
function dropTables(database: SqliteDatabase): void {
  const all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  for (const kind of ["AND sql LIKE 'CREATE VIRTUAL%'", '']) {
    for (const { name } of database.prepare<{ name: string }>(`${all} ${kind}`).all()) {
      database.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`);
    }
  }
}

/** Of the system (`EACCES`) the code, whose message would name the file again; of the database what it says. */
function reasonOf(error: unknown): string {
  const { code, message = String(error) } = error as { readonly code?: unknown; readonly message?: string };
  return typeof code === 'string' && sqliteFailure(error) === undefined ? code : message;
}
