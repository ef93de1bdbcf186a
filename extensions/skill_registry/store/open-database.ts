import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { privateFile, privateFolder } from '../../../lib/files/index.ts';
import { openSqlite, type SqliteDatabase } from '../../../lib/sqlite/index.ts';

export type { SqliteDatabase };

/**
 * Opens a SQLite file in write-ahead mode, so that readers of several processes never wait for a writer; its folder is made. Both
 * are for this user alone, and the files SQLite puts beside it get the mode it has.
 *
 * @param file - Absolute, or `:memory:`.
 * @param busyMs - How long a writer waits for another process, in milliseconds. Default: 5,000.
 * @throws what `sqliteFailure` tells apart.
 */
export function openDatabase(file: string, busyMs?: number): SqliteDatabase {
  if (file !== ':memory:') {
    storeFolder(dirname(file));
    privateFile(file);
  }
  const database = openSqlite(file, busyMs);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A folder for databases, for this user alone. Whoever keeps the root in Git commits the config in it, not the databases. */
export function storeFolder(folder: string): void {
  const isNew = !existsSync(folder);
  privateFolder(folder);
  if (!isNew) return;
  try {
    writeFileSync(join(folder, '.gitignore'), '/.gitignore\n/*.db*\n/write.lock\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // Another process was faster, or nothing can be written here, which the database says.
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
