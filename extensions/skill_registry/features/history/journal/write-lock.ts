import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CodedError } from 'skill-registry/kernel';
import { makePrivateFile } from '../../../../../lib/files/index.ts';
import { openSqlite } from '../../../../../lib/sqlite/index.ts';
import { backOff } from '../../../../../lib/waiting/index.ts';
import {
  assertNoLinkLeadsOut,
  fileIdentity,
  makeStoreFolder,
  type SqliteDatabase,
} from '../../../core/store/open-database.ts';
import { historyError, sqliteRefusal } from './history-database.ts';

/** Lets one process at a time write in a data folder. The lock ends with its process, even after a crash. */
export interface WriteLock {
  /** `use` must be synchronous and short. @throws HISTORY_BUSY after 60 seconds, and what `use` throws. */
  run<T>(use: () => T): Promise<T>;
  /** Does not wait. @returns undefined when another process has the lock. */
  tryRun<T>(use: () => T): T | undefined;
  close(): void;
}

const WAIT_SECONDS = 60;
const BUSY = `Another process has been changing skills for ${WAIT_SECONDS} seconds. Nothing was changed. Try again; if it stays so, end that process.`;
/** Between attempts. Most holders need only a few milliseconds. */
const PAUSES = { firstMs: 1, maxMs: 50, jitter: true };

export function createWriteLock(file: string): WriteLock {
  let database: SqliteDatabase | undefined;
  let identity = '';
  const close = (): void => {
    database?.close();
    database = undefined;
  };
  /** A lock on a removed file stops nobody. */
  const isGone = (): boolean => fileIdentity(file) !== identity;
  const open = (): SqliteDatabase => {
    if (database && isGone()) close();
    if (database) return database;
    try {
      assertNoLinkLeadsOut(file);
      makeStoreFolder(dirname(file));
      makePrivateFile(file);
      database = openSqlite(file, 0);
    } catch (error) {
      throw historyError(file, error, file);
    }
    identity = fileIdentity(file);
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
      // `use` has finished: releasing the lock must not throw.
      try {
        opened.exec('ROLLBACK');
      } catch {
        close();
      }
    }
  };
  return {
    async run(use) {
      const until = performance.now() + WAIT_SECONDS * 1000;
      for (let failures = 1; ; failures++) {
        const done = attempt(use);
        if (done) return done.result;
        if (performance.now() > until) throw new CodedError('HISTORY_BUSY', BUSY);
        await wait(backOff(failures, PAUSES));
      }
    },
    tryRun: (use) => attempt(use)?.result,
    close,
  };
}
