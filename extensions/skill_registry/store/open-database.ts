import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { futureRealPath, isInside, privateFile, privateFolder } from '../../../lib/files/index.ts';
import { openSqlite, type SqliteDatabase } from '../../../lib/sqlite/index.ts';

export type { SqliteDatabase };

/**
 * Opens a SQLite file in write-ahead mode, so that readers of several processes never wait for a writer; its folder is made. Both
 * are for this user alone, and the files SQLite puts beside it get the mode it has.
 *
 * @param file - Absolute, or `:memory:`.
 * @param busyMs - How long a writer waits for another process, in milliseconds. Default: 5,000.
 * @throws what `sqliteFailure` tells apart; as `assertInPlace`.
 */
export function openDatabase(file: string, busyMs?: number): SqliteDatabase {
  if (file !== ':memory:') {
    assertInPlace(file);
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

/**
 * A database that a link leads to may be another program's, and one that a link makes lies where nobody expects it.
 *
 * @param file - In a folder of `data/` or of the user's cache directory, which may be links themselves.
 * @throws STORE_UNAVAILABLE.
 */
export function assertInPlace(file: string): void {
  const data = futureRealPath(dirname(dirname(file)));
  // SQLite puts its other files beside it.
  const linked = ['', '-wal', '-shm', '-journal'].find((end) => !isInside(futureRealPath(file + end), data));
  if (linked === undefined) return;
  const message = `${file}${linked} is reached through a link that leads out of ${data}, so it is neither read nor written. Remove the link; what it leads to may belong to another program.`;
  throw new CodedError('STORE_UNAVAILABLE', message);
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
