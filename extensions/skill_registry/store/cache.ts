import { hash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { futureRealPath } from '../../../lib/files/index.ts';
import { sqliteFailure, whyNoSqlite } from '../../../lib/sqlite/index.ts';
import { userCacheDirectory } from '../../../lib/trust/index.ts';
import { storeUnavailable } from '../skill/errors.ts';
import { openDatabase, type SqliteDatabase } from './open-database.ts';

/** Tables of one kind of content in `cache.db`. */
export interface CachePart {
  /** Name of its table, or the beginning of its tables' names: `search` for `search_document`. */
  readonly name: string;
  /** A whole number, 1 or more. Raise it with anything that changes the tables, or what is kept in them for the same input. */
  readonly version: number;
  /** `CREATE` statements. */
  readonly sql: string;
}

/**
 * Opens `cache.db`: what can be made anew from the skills at any time (headers, the full-text index, vectors, token counts).
 *
 * A part of another version is emptied and filled anew, which processes that still use it survive; a damaged file is
 * removed. Where none can be written, or somebody else holds it, the cache is in memory: everything works, and the next
 * process starts cold. Never touches any other file.
 *
 * @param file - Absolute, or `:memory:`.
 * @param parts - Of everybody who keeps something in it; tables of nobody are dropped.
 * @param onMemory - Told why a file could not be used.
 * @throws `sqliteFailure`: `unavailable`, where SQLite itself cannot be loaded.
 */
export function openCacheDatabase(
  file: string,
  parts: readonly CachePart[],
  onMemory: (reason: string) => void = () => undefined,
): SqliteDatabase {
  if (file === ':memory:') return openAt(file, parts);
  try {
    return openAt(file, parts);
  } catch (error) {
    if (sqliteFailure(error) === 'unavailable') throw error;
    if (isDamage(error)) {
      removeFiles(file);
      try {
        return openAt(file, parts);
      } catch (again) {
        onMemory(reasonOf(again));
      }
    } else onMemory(reasonOf(error));
    return openAt(':memory:', parts);
  }
}

/**
 * Removes a damaged database, so that whoever opens it next makes it anew. Processes that have it open keep what they see.
 *
 * @param inode - Nothing is done when another file has taken its place. Default: whatever is there.
 */
export function removeFiles(file: string, inode?: number): void {
  try {
    if (inode !== undefined && statSync(file).ino !== inode) return;
    for (const end of ['-wal', '-shm', '']) rmSync(`${file}${end}`, { force: true });
  } catch {
    // Then it cannot be opened either, and the cache is in memory.
  }
}

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
 * @param parts - See `openCacheDatabase`.
 */
export function createCache(file: string | undefined, parts: readonly CachePart[]): Cache {
  let database: SqliteDatabase | undefined;
  let inode: number | undefined;
  let opened = 0;
  let trouble: string | undefined;
  let closed = false;

  const open = (): SqliteDatabase => {
    opened += 1;
    if (file !== undefined && !existsSync(dirname(file))) forgetOld(dirname(dirname(file)));
    const place = file === undefined || opened > MAX_FILES ? ':memory:' : file;
    const one = openCacheDatabase(place, parts, (reason) => {
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
  const message = `This file cannot be used (${reason}), so each start reads every skill anew. Remove cache.db and what is called cache.db- (it makes itself anew), and let this user write in its folder.`;
  return [{ code: 'CACHE_UNAVAILABLE', severity: 'warning', file, message }];
}

// --- internal ---

/** Whether an error of a statement says that the file is no sound database. */
function isDamage(error: unknown): boolean {
  return sqliteFailure(error) === 'damaged';
}

/** A cache is not worth waiting for. */
const BUSY_MS = 500;

function openAt(file: string, parts: readonly CachePart[]): SqliteDatabase {
  const database = openDatabase(file, BUSY_MS);
  try {
    // It can be lost: a crash of the machine costs a rebuild.
    database.exec('PRAGMA synchronous = OFF');
    // The file may have come with somebody's repository.
    database.exec('PRAGMA trusted_schema = OFF');
    if (!isCurrent(database, parts)) database.transaction(() => bringUpToDate(database, parts));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Of the file as a whole, as `user_version`; a new file has 0. */
const FORMAT = 2;
const VERSIONS = 'CREATE TABLE part (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;';

function isCurrent(database: SqliteDatabase, parts: readonly CachePart[]): boolean {
  const versions = versionsIn(database);
  return versions?.size === parts.length && parts.every(({ name, version }) => versions.get(name) === version);
}

/** Undefined when the file is new, or of another format. */
function versionsIn(database: SqliteDatabase): ReadonlyMap<string, number> | undefined {
  const { user_version } = database.prepare<{ user_version: number }>('PRAGMA user_version').get() ?? {};
  if (user_version !== FORMAT) return undefined;
  const rows = database.prepare<{ name: string; version: number }>('SELECT name, version FROM part').all();
  return new Map(rows.map(({ name, version }) => [name, version]));
}

/** In a transaction: several processes may find it empty, or old, at once. */
function bringUpToDate(database: SqliteDatabase, parts: readonly CachePart[]): void {
  const versions = versionsIn(database);
  if (!versions) {
    dropTables(database, () => true);
    database.exec(VERSIONS);
    database.exec(`PRAGMA user_version = ${FORMAT}`);
  }
  const kept = parts.filter(({ name, version }) => versions?.get(name) === version);
  dropTables(database, (table) => table !== 'part' && !kept.some(({ name }) => isOf(table, name)));
  database.exec('DELETE FROM part');
  for (const { name, version, sql } of parts) {
    if (!kept.some((one) => one.name === name)) database.exec(sql);
    database.prepare('INSERT INTO part (name, version) VALUES (?, ?)').run(name, version);
  }
}

function isOf(table: string, part: string): boolean {
  return table === part || table.startsWith(`${part}_`);
}

/** Virtual ones first: they take their own tables with them. */
function dropTables(database: SqliteDatabase, isOld: (table: string) => boolean): void {
  const all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  for (const kind of ["AND sql LIKE 'CREATE VIRTUAL%'", '']) {
    for (const { name } of database.prepare<{ name: string }>(`${all} ${kind}`).all()) {
      if (isOld(name)) database.exec(`DROP TABLE IF EXISTS "${name.replaceAll('"', '""')}"`);
    }
  }
}

/** Of the system (`EACCES`) the code, whose message would name the file again; of the database what it says. */
function reasonOf(error: unknown): string {
  const { code, message = String(error) } = error as { readonly code?: unknown; readonly message?: string };
  return typeof code === 'string' && sqliteFailure(error) === undefined ? code : message;
}

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
