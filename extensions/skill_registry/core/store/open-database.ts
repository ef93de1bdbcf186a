import { existsSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { futureRealPath, isInside, makePrivateFile, makePrivateFolder } from '../../../../lib/files/index.ts';
import { openSqlite, type SqliteDatabase, sqliteFailure } from '../../../../lib/sqlite/index.ts';
import { waitInThread } from '../../../../lib/waiting/index.ts';

export type { SqliteDatabase };

/**
 * In write-ahead mode: readers never wait for a writer of another process. Creates the folder; only this user has
 * access to it and its files. `file`: absolute, or `:memory:`. `busyMs`: how long a writer waits; default 5,000.
 * `mayBeLost`: a crash of the machine may damage it, and nothing waits for the disk; default: false.
 * @throws errors that `sqliteFailure` classifies, and those of `assertNoLinkLeadsOut`.
 */
export function openDatabase(file: string, busyMs: number = BUSY_MS, mayBeLost?: boolean): SqliteDatabase {
  if (file !== ':memory:') {
    assertNoLinkLeadsOut(file);
    makeStoreFolder(dirname(file));
    makePrivateFile(file);
  }
  const database = openSqlite(file, busyMs);
  try {
    // First: to begin the write-ahead mode waits for the disk as well.
    if (mayBeLost) database.exec('PRAGMA synchronous = OFF');
    beginWriteAhead(database, busyMs);
    database.exec('PRAGMA foreign_keys = ON');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function versionOf(database: SqliteDatabase): number {
  return database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
}

/** A link out of `data/` or the cache directory may lead to another program's file. @throws STORE_UNAVAILABLE. */
export function assertNoLinkLeadsOut(file: string): void {
  const data = futureRealPath(dirname(dirname(file)));
  const at = join(futureRealPath(dirname(file)), basename(file));
  const linked = ['', '-wal', '-shm', '-journal'].find((end) => !isInside(futureRealPath(at + end), data));
  if (linked === undefined) return;
  const message = `${file}${linked} is reached through a link that leads out of ${data}, so it is not read or written. Remove the link; its target may belong to another program.`;
  throw new CodedError('STORE_UNAVAILABLE', message);
}

/** Only this user has access. Its `.gitignore` excludes the databases, not the config. */
export function makeStoreFolder(folder: string): void {
  const isNew = !existsSync(folder);
  makePrivateFolder(folder);
  if (!isNew) return;
  try {
    writeFileSync(join(folder, '.gitignore'), '/.gitignore\n/*.db*\n/write.lock\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // Another process has created it, or nothing can be written here, which opening the database reports.
  }
}

/** '' without a file. Shows whether an open database was removed or replaced: writes to it would be lost. */
export function fileIdentity(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}

// --- internal ---

const BUSY_MS = 5_000;
const AGAIN_MS = 10;

/** SQLite does not wait here while another process writes to a new file, for example to make its tables. */
function beginWriteAhead(database: SqliteDatabase, busyMs: number): void {
  const until = performance.now() + busyMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (sqliteFailure(error) !== 'busy' || performance.now() >= until) throw error;
      waitInThread(AGAIN_MS);
    }
  }
}
