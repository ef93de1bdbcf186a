import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { futureRealPath } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../lib/sqlite/index.ts';
import { userCacheDirectory } from '../../lib/trust/index.ts';
import { isDamage, openCacheDatabase, removeFiles } from './cache-database.ts';
import { storeUnavailable } from './errors.ts';
import type { SqliteDatabase } from './open-database.ts';

/** What can be made anew at any time, kept between processes where there is a place for it. */
export interface Cache {
  /**
   * Lets `work` use the database, which is opened, or made, on the first call. A damaged file is replaced for the next use.
   *
   * @returns undefined when the cache cannot serve: whoever asks must be able to do without. Never throws.
   */
  use<T>(work: (database: SqliteDatabase) => T): T | undefined;
  /** As `use`, but only if something is kept already: no file is made for a question. */
  look<T>(work: (database: SqliteDatabase) => T): T | undefined;
  /** Why it is in memory though a file was asked for. */
  trouble(): string | undefined;
  close(): void;
}

/** After so many damaged files the disk is at fault, not the file. */
const MAX_FILES = 3;

/**
 * @param file - Where it is kept, absolute; undefined: in memory.
 * @param schemas - See `openCacheDatabase`.
 */
export function createCache(file: string | undefined, schemas: readonly string[]): Cache {
  let database: SqliteDatabase | undefined;
  let inode: number | undefined;
  let opened = 0;
  let trouble: string | undefined;
  let closed = false;

  const open = (): SqliteDatabase => {
    opened += 1;
    if (file !== undefined && !existsSync(dirname(file))) forgetOld(dirname(dirname(file)));
    const place = file === undefined || opened > MAX_FILES ? ':memory:' : file;
    const one = openCacheDatabase(place, schemas, (reason) => {
      trouble = reason;
    });
    if (file !== undefined && !one.memory) inode = statSync(file, { throwIfNoEntry: false })?.ino;
    return one;
  };
  const use = <T>(work: (database: SqliteDatabase) => T): T | undefined => {
    if (closed) return undefined;
    try {
      database ??= open();
      return work(database);
    } catch (error) {
      if (isDamage(error)) {
        database?.close();
        if (file !== undefined && inode !== undefined) removeFiles(file, inode);
        database = undefined;
      }
      return undefined;
    }
  };
  return {
    use,
    look: (work) => (database || (file !== undefined && existsSync(file)) ? use(work) : undefined),
    trouble: () => trouble,
    close() {
      closed = true;
      database?.close();
      database = undefined;
    },
  };
}

/**
 * `<root>/data/skill_registry/cache.db` where the root has `data` and is trusted; else a file in the user's cache directory, for
 * to look at a folder must leave nothing behind in it, and what lies in a foreign one is not to be believed.
 */
export function cacheFileOf(root: string, trusted: boolean): string {
  const data = statSync(join(root, 'data'), { throwIfNoEntry: false });
  const [inRoot, ofUser] = cacheFilesOf(root);
  return trusted && data?.isDirectory() ? inRoot : ofUser;
}

/** The two files in which something of a root may be kept: in the root, and in the user's cache directory. */
export function cacheFilesOf(root: string): readonly [string, string] {
  const key = hash('sha256', futureRealPath(root), 'hex').slice(0, 32);
  return [join(root, 'data', 'skill_registry', 'cache.db'), join(userCacheDirectory(), 'roots', key, 'cache.db')];
}

/** STORE_UNAVAILABLE, where no database can be opened at all. */
export function storeProblems(root: string): readonly Problem[] {
  const reason = whyNoSqlite();
  if (reason === undefined) return [];
  const { code, message } = storeUnavailable(reason);
  return [{ code, severity: 'warning', file: join(root, 'data', 'skill_registry'), message }];
}

/** CACHE_UNAVAILABLE, if it is in memory though a file was asked for. */
export function cacheProblems(file: string | undefined, cache: Cache): readonly Problem[] {
  const reason = cache.trouble();
  if (reason === undefined || file === undefined) return [];
  const message = `This file cannot be used (${reason}), so each start reads every skill anew. Make its folder writable, or set cache: 'memory'.`;
  return [{ code: 'CACHE_UNAVAILABLE', severity: 'warning', file, message }];
}

// --- internal ---

const FORGOTTEN_MS = 90 * 86_400_000;

/** Beside the cache of a root that is new in the user's directory, what others have not used for 90 days is removed. */
function forgetOld(roots: string): void {
  if (roots !== join(userCacheDirectory(), 'roots')) return;
  try {
    for (const name of readdirSync(roots)) {
      const used = statSync(join(roots, name, 'cache.db'), { throwIfNoEntry: false }) ?? statSync(join(roots, name));
      if (Date.now() - used.mtimeMs > FORGOTTEN_MS) rmSync(join(roots, name), { recursive: true });
    }
  } catch {
    // Somebody else removes them as well, or there are none.
  }
}
