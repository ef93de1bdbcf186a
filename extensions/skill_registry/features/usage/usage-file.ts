import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import { sqliteFailure, whyNoSqlite } from '../../../../lib/sqlite/index.ts';
import { formatNumber } from '../../../../lib/text/index.ts';
import { removeFiles } from '../../core/store/cache.ts';
import { fileIdentity } from '../../core/store/open-database.ts';
import { MAX_WAITING, type Unwritten } from './recorder.ts';
import { LIMITS, LIMITS_IN_MEMORY, openUsageDatabase, type UsageDatabase, type UsageLimits } from './usage-database.ts';

/** Opened at the first read or write. `write` never throws. */
export interface UsageFile {
  /** @returns whether everything was written. */
  write(unwritten: Unwritten): Promise<boolean>;
  /** @throws what SQLite throws. */
  read<T>(work: (database: UsageDatabase) => T): T;
  /** Opens the file for writing. @throws as `read`, and what `work` throws. */
  now<T>(work: (database: UsageDatabase) => T): T;
  /** null when it is kept on disk. */
  notKept(): string | null;
  /** USAGE_NOT_RECORDED: not writable (unless STORE_UNAVAILABLE says why), replaced, or older events dropped. */
  problems(dropped: number): readonly Problem[];
  close(): void;
}

/** After so many damaged files usage stays in memory: the disk may be damaged. */
const MAX_REPLACED = 3;
const MEMORY = ':memory:';

/** @param onDisk - False: in memory, even if `root` has `data/`. */
export function createUsageFile(
  root: string,
  onDisk: boolean,
  onProblem: () => void,
  kept: Pick<UsageLimits, 'queryDays'> = {},
): UsageFile {
  const file = join(root, 'data', 'skill_registry', 'usage.db');
  let open: { readonly path: string; readonly identity: string; readonly database: UsageDatabase } | undefined;
  let replaced = 0;
  let failed: string | undefined;
  let notTakenOver = 0;

  /** Recording makes no `data/` folder. Another part of the registry may make it at any time. */
  const pathNow = (): string =>
    onDisk && replaced <= MAX_REPLACED && statSync(join(root, 'data'), { throwIfNoEntry: false })?.isDirectory()
      ? file
      : MEMORY;
  const close = (): void => {
    open?.database.close();
    open = undefined;
  };
  /** Rows in a removed or replaced file would be lost. */
  const stillOpen = (): UsageDatabase | undefined =>
    open?.path === file && fileIdentity(file) === open.identity ? open.database : undefined;
  const opened = (path: string): UsageDatabase => {
    if (open?.path === path && path !== file) return open.database;
    const inMemory = open?.path === MEMORY ? open.database.everything() : undefined;
    const database = openUsageDatabase(path, { ...(path === MEMORY ? LIMITS_IN_MEMORY : LIMITS), ...kept });
    close();
    open = { path, database, identity: path === MEMORY ? '' : fileIdentity(file) };
    while (inMemory && isLeft(inMemory)) database.writeSome(inMemory);
    if (database.notTakenOver > 0) {
      notTakenOver += database.notTakenOver;
      onProblem();
    }
    return database;
  };
  /** Replaces a damaged file by an empty one: usage may be deleted at any time. */
  const use = <T>(work: (database: UsageDatabase) => T, path = pathNow): T => {
    for (;;) {
      try {
        return work(stillOpen() ?? opened(path()));
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
      // Most processes record nothing and open no file.
      if (!open && !isLeft(unwritten)) return true;
      try {
        while (isLeft(unwritten)) {
          use((database) => database.writeSome(unwritten));
          if (isLeft(unwritten)) await pause();
        }
        await use((database) => database.removeOld());
        failed = undefined;
        return true;
      } catch (error) {
        const before = failed;
        failed = describeError(error).replace(/\.$/, '');
        // On a full disk what is open can still be read, and could not be opened again.
        if (!/busy|full/.test(sqliteFailure(error) ?? '')) close();
        if (before !== failed) onProblem();
        return false;
      }
    },
    now: (work) => use(work),
    // A report creates no file.
    read(work) {
      const wasOpen = open !== undefined;
      try {
        return use(work, () => (existsSync(file) ? pathNow() : (open?.path ?? MEMORY)));
      } finally {
        if (!wasOpen && open?.path === MEMORY) close();
      }
    },
    notKept() {
      if (failed !== undefined) return failed;
      if (pathNow() === file) return null;
      if (replaced > MAX_REPLACED) return `${file} was damaged again and again`;
      const why = onDisk ? `${root} has no folder data` : `nobody has approved ${root}, or its program keeps nothing`;
      return `${why}, so the figures are of this process only`;
    },
    problems(dropped) {
      const isFailed = failed !== undefined && whyNoSqlite() === undefined;
      const found = [
        isFailed ? `What agents do with skills cannot be recorded: ${failed}. ${ADVICE}` : [],
        replaced > 0 ? REPLACED : [],
        notTakenOver > 0 ? takenOver(notTakenOver) : [],
      ].flat();
      const problem = { code: 'USAGE_NOT_RECORDED', severity: 'warning', file } as const;
      const all = found.map((message) => ({ ...problem, message }));
      return dropped > 0 ? [...all, { ...problem, message: DROPPED, details: { dropped } }] : all;
    },
    close,
  };
}

// --- internal ---

const ADVICE =
  'Skills can be read all the same. Let this user write there and free some space, or set usage: false in the config.';
const REPLACED =
  'This file was damaged and has been replaced, so that the figures begin anew. If that happens again, check the disk.';
/** Without the number, so that it stays one problem. */
const DROPPED = `More than ${formatNumber(MAX_WAITING)} events waited to be written, so some were dropped and the figures are too low. If this file cannot be written, another problem says why; else a program calls the registry more often than it can record.`;

function takenOver(count: number): string {
  const kept = `the newest ${formatNumber(LIMITS.loads)} loads and steps, and the newest ${formatNumber(LIMITS.refusals)} refusals and failures`;
  return `This file is of an earlier release, which kept more: ${formatNumber(count)} of its events were dropped. Now it has ${kept}, and reports say since when.`;
}

function isLeft({ rows, offers, charges = [], fits = [] }: Unwritten): boolean {
  return rows.length > 0 || offers.size > 0 || charges.length > 0 || fits.length > 0;
}
