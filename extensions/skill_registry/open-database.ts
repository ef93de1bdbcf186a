import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

export type SqliteDatabase = Database.Database;

/** How long a writer waits for another process, at most; statements here take milliseconds. */
const BUSY_MS = 5_000;

/**
 * Opens a SQLite file in write-ahead mode, so that readers of several processes never wait for a writer; its folder is made.
 *
 * @param file - Absolute, or `:memory:`.
 * @param busyMs - How long a writer waits for another process, in milliseconds. Default: 5,000.
 * @throws what better-sqlite3 throws: SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_READONLY ...
 */
export function openDatabase(file: string, busyMs: number = BUSY_MS): SqliteDatabase {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
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
