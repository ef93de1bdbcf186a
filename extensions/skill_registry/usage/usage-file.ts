import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import { sqliteFailure, whyNoSqlite } from '../../../lib/sqlite/index.ts';
import { removeFiles } from '../store/cache.ts';
import { fileIdentity } from '../store/open-database.ts';
import { MAX_WAITING, type Unwritten } from './recorder.ts';
import { LIMITS, LIMITS_IN_MEMORY, openUsageDatabase, type UsageDatabase } from './usage-database.ts';

/** The database of usage, opened at the first read or write. `write` never throws. */
export interface UsageFile {
  /** Writes as much as possible. @returns whether everything was written. */
  write(unwritten: Unwritten): Promise<boolean>;
  /** Undefined when nothing was recorded. @throws what SQLite throws. */
  read<T>(work: (database: UsageDatabase) => T): T | undefined;
  /** Why nothing is kept on disk at present; null: it is kept. */
  notKept(): string | null;
  /**
   * USAGE_NOT_RECORDED: the file cannot be written (not reported when STORE_UNAVAILABLE gives the reason), or a damaged file was replaced.
   *
   * @param dropped - The number of records that were dropped.
   */
  problems(dropped: number): readonly Problem[];
  close(): void;
}

/** After this many damaged files usage is kept in memory: the disk may be damaged. */
const MAX_REPLACED = 3;
const MEMORY = ':memory:';

/**
 * @param root - Absolute.
 * @param onDisk - False: in memory, also where `root` has `data/`.
 * @param onProblem - Called when there is a new problem.
 */
export function createUsageFile(root: string, onDisk: boolean, onProblem: () => void): UsageFile {
  const file = join(root, 'data', 'skill_registry', 'usage.db');
  let open: { readonly path: string; readonly identity: string; readonly database: UsageDatabase } | undefined;
  let replaced = 0;
  let failed: string | undefined;

  /** Recording makes no `data/` folder. Another part of the registry may make it at any time. */
  const pathNow = (): string =>
    onDisk && replaced <= MAX_REPLACED && isFolder(join(root, 'data')) ? file : ':memory:';
  const close = (): void => {
    open?.database.close();
    open = undefined;
  };
  const opened = (): UsageDatabase => {
    const path = pathNow();
    // The file may have been removed or replaced, and rows in a removed file are lost.
    if (open?.path === path && (path !== file || fileIdentity(file) === open.identity)) return open.database;
    const inMemory = open?.path === MEMORY ? open.database.everything() : undefined;
    const database = openUsageDatabase(path, path === MEMORY ? LIMITS_IN_MEMORY : LIMITS);
    close();
    open = { path, database, identity: path === MEMORY ? '' : fileIdentity(file) };
    while (inMemory && (inMemory.rows.length > 0 || inMemory.offers.size > 0)) database.writeSome(inMemory);
    return database;
  };
  /** Runs `work`; a damaged file is replaced by an empty one first, because it may be deleted. */
  const use = <T>(work: (database: UsageDatabase) => T): T => {
    for (;;) {
      try {
        return work(opened());
      } catch (error) {
        if (sqliteFailure(error) !== 'damaged' || replaced > MAX_REPLACED) throw error;
        const inode = statSync(file, { throwIfNoEntry: false })?.ino;
        close();
        if (inode !== undefined) removeFiles(file, inode);
        replaced++;
        onProblem();
      }
    }
  };
  return {
    async write(unwritten) {
      // Most processes record nothing, and open no file for it.
      if (!open && unwritten.rows.length === 0 && unwritten.offers.size === 0) return true;
      try {
        while (unwritten.rows.length > 0 || unwritten.offers.size > 0) {
          use((database) => database.writeSome(unwritten));
          if (unwritten.rows.length > 0 || unwritten.offers.size > 0) await pause();
        }
        await use((database) => database.removeOld());
        failed = undefined;
        return true;
      } catch (error) {
        const before = failed;
        failed = describeError(error).replace(/\.$/, '');
        if (sqliteFailure(error) !== 'busy') close();
        if (before !== failed) onProblem();
        return false;
      }
    },
    read(work) {
      if (!open && (pathNow() !== file || !existsSync(file))) return undefined;
      return use(work);
    },
    notKept() {
      if (failed !== undefined) return failed;
      if (pathNow() === file) return null;
      if (replaced > MAX_REPLACED) return `${file} was damaged again and again`;
      const why = onDisk ? `${root} has no folder data` : `nothing of ${root} may be written here`;
      return `${why}, so the figures last as long as the process`;
    },
    problems(dropped) {
      const problem = (message: string, details?: Problem['details']): Problem => ({
        code: 'USAGE_NOT_RECORDED',
        severity: 'warning',
        file,
        message,
        ...(details && { details }),
      });
      return [
        ...(failed === undefined || whyNoSqlite() !== undefined
          ? []
          : [problem(`What agents do with skills cannot be recorded: ${failed}. ${ADVICE}`)]),
        ...(replaced === 0
          ? []
          : [
              problem(
                `This file was damaged and has been replaced, so that the figures begin anew. If that happens again, check the disk.`,
              ),
            ]),
        ...(dropped === 0 ? [] : [problem(DROPPED, { dropped })]),
      ];
    },
    close,
  };
}

// --- internal ---

const ADVICE =
  'Skills can be read all the same. Let this user write there and free some space, or set usage: false in the config.';

/** Without the number, so that it stays one problem. */
const DROPPED = `More than ${MAX_WAITING.toLocaleString('en-US')} events waited to be written, so some were dropped and the figures are too low. If this file cannot be written, another problem says why; else a program calls the registry more often than it can record.`;

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
