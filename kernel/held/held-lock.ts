import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFile, writeFailed } from '../../lib/files/index.ts';
import { openSqlite, sqliteFailure } from '../../lib/sqlite/index.ts';
import { HELD, heldFolder, makeHeldFolder, rootsOfCode } from './half-approved.ts';

/**
 * While `use` runs, no other process can approve, revoke, undo or load code of the root. SQLite locks a file in
 * `data/.held/`; the lock ends with its process, even after a crash.
 * @throws WRITE_FAILED when the lock cannot be taken within five seconds, and what `use` throws.
 */
export function underHeldLock<T>(rootDir: string, use: () => T): T {
  const lock = openLock(rootDir, 'BEGIN EXCLUSIVE');
  try {
    return use();
  } finally {
    lock.close();
  }
}

/**
 * While `use` runs, no process can approve or revoke code that the root loads; several can load it.
 * @param maxMs - Then the lock is released: code that never finishes loading must not prevent its revocation.
 * @throws WRITE_FAILED when the lock is not free within five seconds, and what `use` throws.
 */
export async function whileNobodyApproves<T>(rootDir: string, maxMs: number, use: () => Promise<T>): Promise<T> {
  const locks: Lock[] = [];
  const release = (): void => {
    for (const lock of locks.splice(0)) lock.close();
  };
  const giveUp = setTimeout(release, maxMs).unref();
  try {
    for (const root of rootsOfCode(rootDir)) {
      const lock = heldFolder(root) === undefined ? undefined : lockForReading(root);
      if (lock) locks.push(lock);
    }
    return await use();
  } finally {
    clearTimeout(giveUp);
    release();
  }
}

// --- internal ---

const FILE = '.lock';

type Lock = Pick<ReturnType<typeof openSqlite>, 'close'>;

/** Undefined when the lock cannot be taken at all: then nothing can be approved, either. */
function lockForReading(rootDir: string): Lock | undefined {
  try {
    return openLock(rootDir, 'BEGIN; SELECT 1 FROM sqlite_master');
  } catch (error) {
    if (sqliteFailure((error as Error).cause) === 'busy') throw error;
    return undefined;
  }
}

function openLock(rootDir: string, begin: string): Lock {
  const folder = makeHeldFolder(rootDir);
  const file = join(folder, FILE);
  const shown = `data/${HELD}/${FILE}`;
  // Nothing is written into this database. Content came with the root, and SQLite would act on it.
  for (const name of readdirSync(folder).filter((one) => one.startsWith(FILE))) {
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stats && !(stats.isFile() && stats.size === 0))
      throw writeFailed(`data/${HELD}/${name}`, 'it is no empty file. Remove it');
  }
  makePrivateFile(file);
  let lock: ReturnType<typeof openSqlite> | undefined;
  try {
    lock = openSqlite(file);
    // A killed process would leave a part of a journal file.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec(begin);
    return lock;
  } catch (error) {
    lock?.close();
    const isBusy = sqliteFailure(error) === 'busy';
    const reason = isBusy
      ? 'another process approves, revokes or loads code of this root now. Try again'
      : String(error);
    throw writeFailed(shown, reason, error);
  }
}
