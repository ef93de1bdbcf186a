import { existsSync } from 'node:fs';
import type { ParsedSkill, SkillHeader } from '../../skill/parse-skill.ts';
import type { Cache, CachePart } from '../../store/cache.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';

/** One SKILL.md as it was read last. */
export interface ReadSkillFile extends ParsedSkill {
  readonly digest: string;
  readonly bytes: number;
}

/** What is remembered of a file. */
export interface SkillFileEntry {
  /** Equal as long as nothing was changed. */
  readonly stamp: string;
  /** It had been quiet when it was read, so an equal stamp means an equal file. */
  readonly settled: boolean;
  /** The verdict depends on other files as well: it is read again each time. */
  readonly fleeting?: true;
  readonly file: ReadSkillFile;
  /** What the file said when it was whole, unless `file` says it. */
  readonly whole?: SkillHeader | undefined;
}

/** What was read of SKILL.md files, kept for the next process. It may lose anything at any time. */
export interface SkillFileCache {
  /** What is kept of the files below a folder, or of one file, by path; without those larger than `maxBytes`. */
  load(place: CachePlace, maxBytes: number): Map<string, SkillFileEntry>;
  /**
   * Keeps what was read there. The work is done later, in slices.
   *
   * @param changed - By path; undefined for a file that is no more.
   */
  keep(place: CachePlace, changed: ReadonlyMap<string, SkillFileEntry | undefined>): void;
}

export interface CachePlace {
  /** Absolute: the root of a source, or its file. */
  readonly path: string;
  /** What else decides how a file is read there: the profile. */
  readonly readAs: string;
}

/**
 * Raise the version with anything that changes what is read of the same SKILL.md, another version of the yaml package included.
 */
export const SKILL_FILES: CachePart = {
  name: 'skill_files',
  version: 3,
  sql: `CREATE TABLE skill_files (
    place TEXT NOT NULL, read_as TEXT NOT NULL, path TEXT NOT NULL, entry TEXT NOT NULL,
    PRIMARY KEY (place, read_as, path)
  ) WITHOUT ROWID;`,
};

const SLICE_MS = 8;

export function createSkillFileCache(cache: Pick<Cache, 'look' | 'use'>): SkillFileCache & { flush(): void } {
  const waiting = new Map<string, Waiting>();
  let isScheduled = false;
  let isTidied = false;

  const writeUntil = (end: number): void => {
    const isWritten = cache.use((database) => {
      // In memory nobody would ever look for it: this process has it already.
      if (database.memory) return false;
      database.transaction(() => writeRows(database, waiting, end));
      if (!isTidied) forgetPlaces(database);
      isTidied = true;
      return true;
    });
    // Else it is tried for ever.
    if (!isWritten) waiting.clear();
  };
  const schedule = (): void => {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      writeUntil(performance.now() + SLICE_MS);
      schedule();
    });
  };
  return {
    load: (place, maxBytes) => cache.look((database) => readPlace(database, place, maxBytes)) ?? new Map(),
    keep(place, changed) {
      for (const [path, entry] of changed) waiting.set(JSON.stringify([place, path]), { place, path, entry });
      schedule();
    },
    flush: () => {
      if (waiting.size > 0) writeUntil(Number.POSITIVE_INFINITY);
    },
  };
}

// --- internal ---

interface Waiting {
  readonly place: CachePlace;
  readonly path: string;
  readonly entry: SkillFileEntry | undefined;
}

function readPlace(
  database: SqliteDatabase,
  { path, readAs }: CachePlace,
  maxBytes: number,
): Map<string, SkillFileEntry> {
  const rows = database
    .prepare<{ path: string; entry: string }>('SELECT path, entry FROM skill_files WHERE place = ? AND read_as = ?')
    .all(path, readAs);
  const entries = new Map<string, SkillFileEntry>();
  for (const row of rows) {
    const entry = JSON.parse(row.entry) as SkillFileEntry;
    if (entry.file.bytes <= maxBytes) entries.set(row.path, entry);
  }
  return entries;
}

function writeRows(database: SqliteDatabase, waiting: Map<string, Waiting>, end: number): void {
  const put = database.prepare('INSERT OR REPLACE INTO skill_files (place, read_as, path, entry) VALUES (?, ?, ?, ?)');
  const forget = database.prepare('DELETE FROM skill_files WHERE place = ? AND read_as = ? AND path = ?');
  for (const [key, { place, path, entry }] of waiting) {
    const text = entry && textOf(entry);
    if (text === undefined) forget.run(place.path, place.readAs, path);
    else put.run(place.path, place.readAs, path, text);
    waiting.delete(key);
    if (performance.now() > end) return;
  }
}

/** Forgets folders that are no more. */
function forgetPlaces(database: SqliteDatabase): void {
  const after = database.prepare<{ place: string | null }>(
    'SELECT min(place) AS place FROM skill_files WHERE place > ?',
  );
  const forget = database.prepare('DELETE FROM skill_files WHERE place = ?');
  for (let place = after.get('')?.place; place; place = after.get(place)?.place) {
    if (!existsSync(place)) forget.run(place);
  }
}

/** A header larger than this is rare, and read from its file each time. */
const MAX_CHARS = 64 * 1024;

/**
 * @returns undefined for what must not be kept: what is not settled, what is too large to be worth it, and what JSON would
 *   give back as something else (`.inf`, `-0`).
 */
function textOf({ stamp, settled, file }: SkillFileEntry): string | undefined {
  if (!settled || !survives(file)) return undefined;
  const text = JSON.stringify({ stamp, settled, file });
  return text.length > MAX_CHARS ? undefined : text;
}

/** Whether JSON gives it back as it is. YAML has no other values than these. */
function survives(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Object.values(value).every(survives);
}
