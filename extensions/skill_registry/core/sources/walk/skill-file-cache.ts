import { existsSync } from 'node:fs';
import type { ParsedSkill, SkillHeader } from '../../skill/parse-skill.ts';
import type { Skill } from '../../skill/skill.ts';
import type { Cache, CachePart } from '../../store/cache.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';

export interface SkillFileEntry {
  readonly stamp: string;
  /** An equal stamp means an equal file, see `FileStamp`. */
  readonly settled: boolean;
  readonly file: ParsedSkill & { readonly digest: string; readonly bytes: number };
  /** Made in this process; not stored. */
  skill?: Skill | undefined;
  /** The header of the last complete version, unless `file` has it. */
  readonly whole?: SkillHeader | undefined;
}

export type KnownFiles = Pick<ReadonlyMap<string, SkillFileEntry>, 'get' | 'keys' | 'size'>;

/** Keeps results of reading SKILL.md files for the next process. Any row may be lost at any time. */
export interface SkillFileCache {
  /** The results of one source by path, without files over `maxBytes`. Each is parsed on demand. */
  load(key: CacheKey, maxBytes: number): KnownFiles;
  /** Stores results later, in slices of 8 ms. @param changed - By path; undefined for a removed file. */
  keep(key: CacheKey, changed: ReadonlyMap<string, SkillFileEntry | undefined>): void;
}

export interface CacheKey {
  readonly path: string;
  readonly readAs: string;
}

/**
 * `place` is `CacheKey.path`. Rows are only replaced, so the trigger removes rows that somebody edits by hand. Raise
 * the version when the same SKILL.md can give another result, also after an update of the yaml package.
 */
export const SKILL_FILES: CachePart = {
  name: 'skill_files',
  version: 7,
  sql: `CREATE TABLE skill_files (
    place TEXT NOT NULL, read_as TEXT NOT NULL, path TEXT NOT NULL, entry TEXT NOT NULL,
    PRIMARY KEY (place, read_as, path)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER skill_files_changed AFTER UPDATE ON skill_files
  BEGIN DELETE FROM skill_files WHERE place = new.place AND read_as = new.read_as AND path = new.path; END;`,
};

const SLICE_MS = 8;

export function createSkillFileCache(cache: Pick<Cache, 'useIfThere' | 'use'>): SkillFileCache & { flush(): void } {
  const waiting = new Map<string, Waiting>();
  let isScheduled = false;
  let isTidied = false;

  const writeUntil = (end: number): void => {
    const isWritten = cache.use((database) => {
      // A database in memory is useless here: no other process can read it.
      if (database.memory) return false;
      database.transaction(() => writeRows(database, waiting, end));
      if (!isTidied) forgetRemoved(database);
      isTidied = true;
      return true;
    });
    // Otherwise a failing write would be repeated forever.
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
    load: (key, maxBytes) => cache.useIfThere((database) => readSource(database, key, maxBytes)) ?? new Map(),
    keep(key, changed) {
      for (const [path, entry] of changed) waiting.set(JSON.stringify([key, path]), [key, path, entry]);
      schedule();
    },
    flush: () => {
      if (waiting.size > 0) writeUntil(Number.POSITIVE_INFINITY);
    },
  };
}

// --- internal ---

type Waiting = readonly [key: CacheKey, path: string, entry: SkillFileEntry | undefined];

function readSource(database: SqliteDatabase, { path, readAs }: CacheKey, maxBytes: number): KnownFiles {
  const rows = database
    .prepare<{ path: string; entry: string }>('SELECT path, entry FROM skill_files WHERE place = ? AND read_as = ?')
    .all(path, readAs);
  const texts = new Map(rows.map((row) => [row.path, row.entry]));
  return {
    size: texts.size,
    keys: () => texts.keys(),
    get(file) {
      const entry = entryIn(texts.get(file));
      return entry && entry.file.bytes <= maxBytes ? entry : undefined;
    },
  };
}

/** Undefined for a row that is missing or damaged. */
function entryIn(text: string | undefined): SkillFileEntry | undefined {
  try {
    const { stamp, settled, file } = JSON.parse(text ?? '') as SkillFileEntry;
    const { header, digest, bytes, problems } = file;
    const isEntry =
      settled === true &&
      [stamp, digest].every((one) => typeof one === 'string') &&
      typeof bytes === 'number' &&
      Array.isArray(problems) &&
      (header === undefined || isHeader(header));
    if (!isEntry) return undefined;
    return { stamp, settled, skill: undefined, file, whole: undefined };
  } catch {
    return undefined;
  }
}

function isHeader(header: SkillHeader): boolean {
  const { name, description } = header;
  const isNamed = typeof name === 'string' && typeof description === 'string';
  return isNamed && LISTS.every((field) => Array.isArray(header[field]));
}

const LISTS = ['tags', 'requires', 'arguments', 'triggerKeywords', 'paths', 'allowedTools'] as const;

function writeRows(database: SqliteDatabase, waiting: Map<string, Waiting>, end: number): void {
  const put = database.prepare('INSERT OR REPLACE INTO skill_files (place, read_as, path, entry) VALUES (?, ?, ?, ?)');
  const forget = database.prepare('DELETE FROM skill_files WHERE place = ? AND read_as = ? AND path = ?');
  for (const [waitingKey, [key, path, entry]] of waiting) {
    const text = entry && entryText(entry);
    if (text === undefined) forget.run(key.path, key.readAs, path);
    else put.run(key.path, key.readAs, path, text);
    waiting.delete(waitingKey);
    if (performance.now() > end) return;
  }
}

function forgetRemoved(database: SqliteDatabase): void {
  const after = database.prepare<{ place: string | null }>(
    'SELECT min(place) AS place FROM skill_files WHERE place > ?',
  );
  const forget = database.prepare('DELETE FROM skill_files WHERE place = ?');
  for (let path = after.get('')?.place; path; path = after.get(path)?.place) {
    if (!existsSync(path)) forget.run(path);
  }
}

/** Longer headers are rare, and are read from the file each time. */
const MAX_CHARS = 64 * 1024;

/** @returns undefined for an entry that is not settled, too large, or has values that JSON changes (`.inf`, `-0`). */
function entryText({ stamp, settled, file }: SkillFileEntry): string | undefined {
  if (!settled || !survives(file)) return undefined;
  const text = JSON.stringify({ stamp, settled, file });
  return text.length > MAX_CHARS ? undefined : text;
}

function survives(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Object.values(value).every(survives);
}
