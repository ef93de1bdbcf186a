import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openSqlite, type SqliteDatabase } from '../../lib/sqlite/index.ts';

export type { SqliteDatabase };

/**
 * Opens a SQLite file in write-ahead mode, so that readers of several processes never wait for a writer; its folder is made.
 *
 * @param file - Absolute, or `:memory:`.
 * @param busyMs - How long a writer waits for another process, in milliseconds. Default: 5,000.
 * @throws what `sqliteFailure` tells apart.
 */
export function openDatabase(file: string, busyMs?: number): SqliteDatabase {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = openSqlite(file, busyMs);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON');
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
