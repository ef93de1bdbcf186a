import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { privateFile } from '../../../lib/files/index.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { backOff } from '../../../lib/waiting/index.ts';
import { assertInPlace, fileIdentity, type SqliteDatabase, storeFolder } from '../store/open-database.ts';
import { historyBusy } from './errors.ts';
import { historyError, sqliteRefusal } from './history-database.ts';

/**
 * One writer at a time, over all processes that share a data folder. It is a lock of the operating system (of SQLite, on a file
 * of its own), so it ends with its process, however that ends; whoever has it next finds in the journal what was left undone.
 */
export interface WriteLock {
  /**
   * Runs `use` alone. It must be synchronous and short: others wait.
   *
   * @throws HISTORY_BUSY when no turn came in time, and what `use` throws.
   */
  run<T>(use: () => T): Promise<T>;
  /** As `run`, but gives up at once. @returns undefined when somebody else has it. */
  tryRun<T>(use: () => T): T | undefined;
  close(): void;
}

const WAIT_SECONDS = 60;
/** Short at first: most holders need a few milliseconds. */
const PAUSES = { firstMs: 1, longestMs: 50, jitter: true };

/** @param file - Absolute. */
export function createWriteLock(file: string): WriteLock {
  let database: SqliteDatabase | undefined;
  let identity = '';
  /** A lock on a file that somebody has removed keeps nobody out. */
  const isGone = (): boolean => fileIdentity(file) !== identity;
  const open = (): SqliteDatabase => {
    if (database && isGone()) {
      database.close();
      database = undefined;
    }
    if (!database) {
      try {
        assertInPlace(file);
        storeFolder(dirname(file));
        privateFile(file);
        database = openSqlite(file, 0);
      } catch (error) {
        throw historyError(file, error, file);
      }
      identity = fileIdentity(file);
    }
    return database;
  };
  const attempt = <T>(use: () => T): { readonly result: T } | undefined => {
    const opened = open();
    try {
      opened.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      if (sqliteRefusal(error) === 'busy') return undefined;
      throw historyError(file, error, file);
    }
    try {
      if (isGone()) return undefined;
      return { result: use() };
    } finally {
      // Whatever `use` has done is done: that the lock is let go of must not fail.
      try {
        opened.exec('ROLLBACK');
      } catch {
        opened.close();
        database = undefined;
      }
    }
  };
  return {
    async run(use) {
      const until = performance.now() + WAIT_SECONDS * 1000;
      for (let failures = 1; ; failures++) {
        const done = attempt(use);
        if (done) return done.result;
        if (performance.now() > until) throw historyBusy(WAIT_SECONDS);
        await wait(backOff(failures, PAUSES));
      }
    },
    tryRun: (use) => attempt(use)?.result,
    close() {
      database?.close();
      database = undefined;
    },
  };
}
