import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { privateFile, privateFolder } from 'skill-registry/kernel';

export type SqliteDatabase = Database.Database;

/** How long a writer waits for another process, at most; statements here take milliseconds. */
const BUSY_MS = 5_000;

/**
 * Opens a SQLite file in write-ahead mode, so that readers of several processes never wait for a writer; its folder is made. Both
 * are for this user alone, and the files SQLite puts beside it get the mode it has.
 *
 * @param file - Absolute, or `:memory:`.
 * @param busyMs - How long a writer waits for another process, in milliseconds. Default: 5,000.
 * @throws what better-sqlite3 throws: SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_READONLY ...
 */
export function openDatabase(file: string, busyMs: number = BUSY_MS): SqliteDatabase {
  if (file !== ':memory:') {
    privateFolder(dirname(file));
    privateFile(file);
  }
  const database = new Database(file, { timeout: busyMs });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('foreign_keys = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Which file a path leads to now, '' for none. Somebody may remove or replace a database that is open: then what is written
 * into it is lost. As long as it is open, no other file can have its identity.
 */
export function fileIdentity(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}
