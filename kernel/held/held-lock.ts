import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFile, writeFailed } from '../../lib/files/index.ts';
import { openSqlite, sqliteFailure } from '../../lib/sqlite/index.ts';
import { HELD, makeHeldFolder } from './writable-extension.ts';

/**
 * Runs `use` while no other process approves or revokes code of the root, or undoes an approval. SQLite takes a lock of the operating
 * system on a file in `data/.held/`, which ends with its process, even after a crash.
 *
 * @throws WRITE_FAILED when the lock is not free within five seconds or cannot be taken, and what `use` throws.
 */
export function underHeldLock<T>(rootDir: string, use: () => T): T {
  const folder = makeHeldFolder(rootDir);
  const file = join(folder, FILE);
  const shown = `data/${HELD}/${FILE}`;
  // Nothing is ever written into this database. What has content came with the root, and SQLite would act on it.
  for (const name of readdirSync(folder).filter((one) => one.startsWith(FILE))) {
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stats && !(stats.isFile() && stats.size === 0))
      throw writeFailed(`data/${HELD}/${name}`, 'it is no empty file. Remove it');
  }
  makePrivateFile(file);
  const lock = takeLock(file, shown);
  try {
    return use();
  } finally {
    lock.close();
  }
}

// --- internal ---

const FILE = '.lock';

function takeLock(file: string, shown: string): { close(): void } {
  let lock: ReturnType<typeof openSqlite> | undefined;
  try {
    lock = openSqlite(file);
    // Without a file for its journal, of which a killed process would leave a part.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    const isBusy = sqliteFailure(error) === 'busy';
    const reason = isBusy ? 'another process approves or revokes code of this root now. Try again' : String(error);
    throw writeFailed(shown, reason, error);
  }
}
