import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { isDamage, openCacheDatabase, removeFiles } from './cache-database.ts';
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
    const isNew = file !== undefined && !existsSync(dirname(file));
    const place = file === undefined || opened > MAX_FILES ? ':memory:' : file;
    const one = openCacheDatabase(place, schemas, (reason) => {
      trouble = reason;
    });
    if (file !== undefined && !one.memory) {
      inode = statSync(file, { throwIfNoEntry: false })?.ino;
      if (isNew) ignoreDatabases(dirname(file));
    }
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
 * `<root>/data/skill_registry/cache.db`, if `root` is where somebody works with skills: it has `data`, `extensions` or
 * `skills`. Undefined, which is memory, anywhere else: to look at a folder must leave nothing behind in it.
 */
export function cacheFileOf(root: string): string | undefined {
  const isRoot = ['data', 'extensions', 'skills'].some((name) =>
    statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory(),
  );
  return isRoot ? join(root, 'data', 'skill_registry', 'cache.db') : undefined;
}

/** CACHE_UNAVAILABLE, if it is in memory though a file was asked for. */
export function cacheProblems(file: string | undefined, cache: Cache): readonly Problem[] {
  const reason = cache.trouble();
  if (reason === undefined || file === undefined) return [];
  const message = `This file cannot be used (${reason}), so each start reads every skill anew. Make its folder writable, or set cache: 'memory'.`;
  return [{ code: 'CACHE_UNAVAILABLE', severity: 'warning', file, message }];
}

// --- internal ---

/** Whoever keeps the root in Git commits the config in this folder, not the databases. */
function ignoreDatabases(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '/.gitignore\n/cache.db*\n/history.db*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // There is one.
  }
}
