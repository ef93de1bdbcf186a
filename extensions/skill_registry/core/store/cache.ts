import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { futureRealPath } from '../../../../lib/files/index.ts';
import { sqliteFailure, whyNoSqlite } from '../../../../lib/sqlite/index.ts';
import { userCacheDirectory } from '../../../../lib/trust/index.ts';
import { storeUnavailable } from '../skill/errors.ts';
import { openDatabase, type SqliteDatabase, versionOf } from './open-database.ts';

export interface CachePart {
  /** Its table, or the beginning of its tables' names: `search` for `search_document`. */
  readonly name: string;
  /** Whole number from 1. Raise it when the tables change, or when the same input gives other rows. */
  readonly version: number;
  readonly sql: string;
}

/**
 * Opens `cache.db` (absolute, or `:memory:`): data that can be rebuilt from the skills at any time. A part of another
 * version is rebuilt, also while other processes use it; tables of no part are dropped. A damaged file is removed. When
 * the file cannot be written, or is locked, the cache is in memory; `onMemory` gets the reason.
 * @throws `sqliteFailure`: `unavailable`.
 */
export function openCacheDatabase(
  file: string,
  parts: readonly CachePart[],
  onMemory: (reason: string) => void = () => undefined,
): SqliteDatabase {
  for (let mayBeDamaged = true; ; mayBeDamaged = false) {
    try {
      return openAt(file, parts);
    } catch (error) {
      if (file === ':memory:' || sqliteFailure(error) === 'unavailable') throw error;
      if (mayBeDamaged && isDamage(error)) removeFiles(file);
      else {
        onMemory(reasonOf(error));
        return openAt(':memory:', parts);
      }
    }
  }
}

/** Removes a damaged database, only with that inode if given. Processes that have it open keep their file. */
export function removeFiles(file: string, inode?: number): void {
  try {
    if (inode !== undefined && inodeOf(file) !== inode) return;
    for (const end of ['-wal', '-shm', '']) rmSync(`${file}${end}`, { force: true });
  } catch {
    // Then it cannot be opened either, and the cache is kept in memory.
  }
}

/** Data that can be rebuilt; kept for the next process if the file can be written. */
export interface Cache {
  /**
   * Runs `work` with the database, which the first call opens or creates. Undefined when the cache cannot be used:
   * callers must work without it. After an error in a damaged file, the next call creates a new one. Never throws.
   */
  use<T>(work: (database: SqliteDatabase) => T): T | undefined;
  /** Does not create the file; undefined without one. */
  useIfThere<T>(work: (database: SqliteDatabase) => T): T | undefined;
  trouble(): string | undefined;
  close(): void;
}

/** After this many damaged files the cache is in memory: the disk may be damaged. */
const MAX_FILES = 3;

/** `file` is absolute; undefined: in memory. */
export function createCache(file: string | undefined, parts: readonly CachePart[]): Cache {
  let database: SqliteDatabase | undefined;
  let inode: number | undefined;
  let damaged = 0;
  let trouble: string | undefined;
  let closed = false;

  const open = (): SqliteDatabase => {
    if (file !== undefined && !existsSync(dirname(file))) removeUnused(dirname(dirname(file)));
    const path = file === undefined || damaged >= MAX_FILES ? ':memory:' : file;
    const next = openCacheDatabase(path, parts, (reason) => {
      trouble = reason;
    });
    inode = next.memory ? undefined : inodeOf(path);
    return next;
  };
  const close = (): void => {
    database?.close();
    database = undefined;
  };
  const use = <T>(work: (database: SqliteDatabase) => T): T | undefined => {
    if (closed) return undefined;
    try {
      // A process that opens the file later does not see what is written to a removed one.
      if (inode !== undefined && inodeOf(file) !== inode) close();
      database ??= open();
      return work(database);
    } catch (error) {
      if (isDamage(error)) {
        damaged += 1;
        close();
        if (inode !== undefined) removeFiles(`${file}`, inode);
      }
      return undefined;
    }
  };
  return {
    use,
    useIfThere: (work) => (database || (file !== undefined && existsSync(file)) ? use(work) : undefined),
    trouble: () => trouble,
    close() {
      closed = true;
      close();
    },
  };
}

/**
 * In `data/` of the root, if that exists and the root is trusted. Else in the user's cache directory: reading a folder
 * must not create files in it, and a cache in a foreign folder must not be trusted.
 */
export function cacheFileOf(root: string, trusted: boolean): string {
  const data = statSync(join(root, 'data'), { throwIfNoEntry: false });
  const [inRoot, ofUser] = cacheFilesOf(root);
  return trusted && data?.isDirectory() ? inRoot : ofUser;
}

export function cacheFilesOf(root: string): readonly [string, string] {
  const key = hash('sha256', futureRealPath(root), 'hex').slice(0, 32);
  return [join(root, 'data', 'skill_registry', 'cache.db'), join(userCacheDirectory(), 'roots', key, 'cache.db')];
}

/** STORE_UNAVAILABLE when no SQLite can be loaded. */
export function storeProblems(root: string): readonly Problem[] {
  const reason = whyNoSqlite();
  if (reason === undefined) return [];
  const { code, message } = storeUnavailable(reason);
  return [{ code, severity: 'warning', file: join(root, 'data', 'skill_registry'), message }];
}

/** CACHE_UNAVAILABLE when the cache is in memory although a file was given. */
export function cacheProblems(
  file: string | undefined,
  cache: Cache,
  repeated: 'reads' | 'inspects',
): readonly Problem[] {
  const reason = cache.trouble();
  if (reason === undefined || file === undefined) return [];
  const name = basename(file);
  const message = `This file cannot be used, so each start ${repeated} all skills again: ${reason}. Remove ${name} and the files whose names begin with ${name}- (the registry creates them again), and let this user write in that folder.`;
  return [{ code: 'CACHE_UNAVAILABLE', severity: 'warning', file, message }];
}

// --- internal ---

const inodeOf = (file = ''): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

function isDamage(error: unknown): boolean {
  return sqliteFailure(error) === 'damaged';
}

/** Milliseconds; short, because a process can work without a cache. */
const BUSY_MS = 500;
/** Another process may make the tables; without the file, this process would keep nothing until its end. */
const OPEN_MS = 2_000;

function openAt(file: string, parts: readonly CachePart[]): SqliteDatabase {
  const database = openDatabase(file, OPEN_MS, true);
  try {
    // The file may come from a repository of another person.
    database.exec('PRAGMA trusted_schema = OFF');
    if (!isCurrent(database, parts)) database.transaction(() => bringUpToDate(database, parts));
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const FORMAT = 3;
/** The row `schema` has SQLite's number of table changes: shows changes by other programs. */
const VERSIONS = 'CREATE TABLE part (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;';

function isCurrent(database: SqliteDatabase, parts: readonly CachePart[]): boolean {
  const versions = versionsIn(database);
  return versions?.size === parts.length && parts.every(({ name, version }) => versions.get(name) === version);
}

function versionsIn(database: SqliteDatabase): ReadonlyMap<string, number> | undefined {
  if (versionOf(database) !== FORMAT) return undefined;
  if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'part'").get()) return undefined;
  const rows = database.prepare<{ name: string; version: number }>('SELECT name, version FROM part').all();
  const versions = new Map(rows.map(({ name, version }) => [name, version]));
  const schema = versions.get('schema');
  versions.delete('schema');
  return schema === schemaVersion(database) ? versions : undefined;
}

function schemaVersion(database: SqliteDatabase): number | undefined {
  return database.prepare<{ schema_version: number }>('PRAGMA schema_version').get()?.schema_version;
}

/** In a transaction, because several processes may open the file at the same time. */
function bringUpToDate(database: SqliteDatabase, parts: readonly CachePart[]): void {
  const versions = versionsIn(database);
  if (!versions) {
    dropTables(database, () => true);
    database.exec(VERSIONS);
    database.exec(`PRAGMA user_version = ${FORMAT}`);
  }
  const kept = parts.filter(({ name, version }) => versions?.get(name) === version);
  dropTables(database, (table) => table !== 'part' && !kept.some(({ name }) => `${table}_`.startsWith(`${name}_`)));
  database.exec('DELETE FROM part');
  const put = database.prepare('INSERT INTO part (name, version) VALUES (?, ?)');
  for (const { name, version, sql } of parts) {
    if (!kept.some((part) => part.name === name)) database.exec(sql);
    put.run(name, version);
  }
  put.run('schema', schemaVersion(database) ?? 0);
}

/** Also views. Virtual tables first: dropping one also drops its internal tables. */
function dropTables(database: SqliteDatabase, isOld: (table: string) => boolean): void {
  const all = "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  for (const kind of ["type = 'view'", "sql LIKE 'CREATE VIRTUAL%'", "type = 'table'"]) {
    for (const { name, type } of database.prepare<{ name: string; type: string }>(`${all} AND ${kind}`).all()) {
      if (isOld(name)) database.exec(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`);
    }
  }
}

/** Without the path of a system error, which the problem names: `EACCES: permission denied`. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { syscall } = error as { readonly syscall?: unknown };
  const [words = message] = typeof syscall === 'string' ? message.split(`, ${syscall}`) : [message];
  return words.replace(/\.$/, '');
}

const FORGOTTEN_MS = 90 * 86_400_000;

function removeUnused(roots: string): void {
  if (roots !== join(userCacheDirectory(), 'roots')) return;
  try {
    for (const name of readdirSync(roots)) {
      const used = statSync(join(roots, name, 'cache.db'), { throwIfNoEntry: false }) ?? statSync(join(roots, name));
      if (Date.now() - used.mtimeMs > FORGOTTEN_MS) rmSync(join(roots, name), { recursive: true });
    }
  } catch {
    // Another process removes them, or there are none.
  }
}
