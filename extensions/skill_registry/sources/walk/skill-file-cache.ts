import { existsSync } from 'node:fs';
import type { Problem } from 'skill-registry/kernel';
import type { ParsedSkill, SkillHeader } from '../../skill/parse-skill.ts';
import type { CachePart } from '../../store/cache.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';
import { makeHeader } from '../make-skill.ts';

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
   * @param entries - All of them, by path: what is not among them is forgotten.
   * @param changed - The paths that differ from what was loaded or kept last; the caller's copy.
   */
  keep(place: CachePlace, entries: ReadonlyMap<string, SkillFileEntry>, changed: Iterable<string>): void;
}

export interface CachePlace {
  /** Absolute: the root of a source, or its file. */
  readonly path: string;
  /** What else decides how a file is read there: the profile. */
  readonly readAs: string;
}

/** The part of the cache this needs: see `Cache`. */
export interface CacheUse {
  use<T>(work: (database: SqliteDatabase) => T): T | undefined;
  look<T>(work: (database: SqliteDatabase) => T): T | undefined;
}

/**
 * Many files in a row, because one large text is read several times faster than many small ones. Raise the version with anything
 * that changes what is read of the same SKILL.md, another version of the yaml package included.
 */
export const SKILL_FILES: CachePart = {
  name: 'skill_files',
  version: 2,
  sql: `CREATE TABLE skill_files (
    place TEXT NOT NULL, read_as TEXT NOT NULL, bucket INTEGER NOT NULL, entries TEXT NOT NULL,
    PRIMARY KEY (place, read_as, bucket)
  ) WITHOUT ROWID;`,
};

/** A change writes one of these. */
const BUCKETS = 64;
const SLICE_MS = 8;

export function createSkillFileCache(cache: CacheUse): SkillFileCache & { flush(): void } {
  const waiting = new Map<string, Waiting>();
  let isScheduled = false;
  let isTidied = false;

  const writeUntil = (end: number): void => {
    for (const [key, one] of waiting) {
      for (const bucket of one.buckets) {
        if (performance.now() > end) return;
        one.buckets.delete(bucket);
        // In memory nobody would ever look for it: this process has it already.
        cache.use((database) => database.memory || writeBucket(database, one, bucket));
      }
      waiting.delete(key);
    }
    if (isTidied) return;
    isTidied = true;
    cache.use(tidy);
  };
  const writeSome = (): void => {
    isScheduled = false;
    writeUntil(performance.now() + SLICE_MS);
    if (waiting.size > 0) schedule();
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(writeSome);
  };
  return {
    load: (place, maxBytes) => cache.look((database) => readPlace(database, place, maxBytes)) ?? new Map(),
    keep(place, entries, changed) {
      const key = JSON.stringify([place.path, place.readAs]);
      const buckets = waiting.get(key)?.buckets ?? new Set<number>();
      for (const path of changed) buckets.add(bucketOf(path));
      if (buckets.size === 0) return;
      waiting.set(key, { place, entries, buckets });
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
  readonly entries: ReadonlyMap<string, SkillFileEntry>;
  readonly buckets: Set<number>;
  /** Paths by bucket, sorted out on first use. */
  paths?: ReadonlyMap<number, readonly string[]>;
}

function readPlace(
  database: SqliteDatabase,
  { path, readAs }: CachePlace,
  maxBytes: number,
): Map<string, SkillFileEntry> {
  const rows = database
    .prepare<{ entries: string }>('SELECT entries FROM skill_files WHERE place = ? AND read_as = ?')
    .all(path, readAs);
  const entries = new Map<string, SkillFileEntry>();
  for (const row of rows) {
    for (const packed of JSON.parse(row.entries) as unknown[]) {
      const [file, entry] = unpackEntry(packed);
      if (entry.file.bytes <= maxBytes) entries.set(file, entry);
    }
  }
  return entries;
}

function writeBucket(database: SqliteDatabase, waiting: Waiting, bucket: number): void {
  const { place, entries } = waiting;
  waiting.paths ??= pathsByBucket(entries);
  const packed = (waiting.paths.get(bucket) ?? []).flatMap((path) => {
    const text = packEntry(path, entries.get(path) as SkillFileEntry);
    return text === undefined ? [] : [text];
  });
  if (packed.length === 0) {
    const gone = 'DELETE FROM skill_files WHERE place = ? AND read_as = ? AND bucket = ?';
    database.prepare(gone).run(place.path, place.readAs, bucket);
  } else {
    const put = 'INSERT OR REPLACE INTO skill_files (place, read_as, bucket, entries) VALUES (?, ?, ?, ?)';
    database.prepare(put).run(place.path, place.readAs, bucket, `[${packed.join(',')}]`);
  }
}

/** Forgets folders that are no more. */
function tidy(database: SqliteDatabase): void {
  const places = database.prepare<{ place: string }>('SELECT DISTINCT place FROM skill_files').all();
  const forget = database.prepare('DELETE FROM skill_files WHERE place = ?');
  for (const { place } of places) if (!existsSync(place)) forget.run(place);
}

function pathsByBucket(entries: ReadonlyMap<string, SkillFileEntry>): ReadonlyMap<number, readonly string[]> {
  const paths = new Map<number, string[]>();
  for (const path of entries.keys()) {
    const bucket = bucketOf(path);
    const known = paths.get(bucket);
    if (known) known.push(path);
    else paths.set(bucket, [path]);
  }
  return paths;
}

/** FNV-1a. */
function bucketOf(path: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < path.length; at++) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % BUCKETS;
}

/**
 * One file as JSON: path, stamp, digest, bytes, header without its empty fields, problems without their file.
 *
 * @returns undefined for what must not be kept: what is not settled, what is too large to be worth it, and what JSON would
 *   give back as something else (`.inf`, `-0`).
 */
function packEntry(path: string, { stamp, settled, file }: SkillFileEntry): string | undefined {
  const { header, problems, digest, bytes } = file;
  if (!settled || (header && !(survives(header.metadata) && survives(header.extra)))) return undefined;
  if (!problems.every((problem) => problem.file === path && survives(problem.details))) return undefined;
  const packed: Packed = [path, stamp, digest, bytes, header ? packHeader(header) : null];
  if (problems.length > 0) packed.push(problems.map(({ file: _, ...rest }) => rest));
  const text = JSON.stringify(packed);
  return text.length > MAX_CHARS ? undefined : text;
}

/** @throws TypeError for anything that `packEntry` does not make. */
function unpackEntry(packed: unknown): readonly [string, SkillFileEntry] {
  const [path, stamp, digest, bytes, header, problems = []] = packed as Packed;
  const file = {
    problems: problems.length === 0 ? NO_PROBLEMS : problems.map((problem) => toProblem(problem, path)),
    digest,
    bytes,
  };
  return [path, { stamp, settled: true, file: header ? { header: makeHeader(header), ...file } : file }];
}

/** A header larger than this is rare, and read from its file each time. */
const MAX_CHARS = 64 * 1024;

type Packed = [
  path: string,
  stamp: string,
  digest: string,
  bytes: number,
  header: PackedHeader | null,
  problems?: readonly Omit<Problem, 'file'>[],
];
type PackedHeader = Pick<SkillHeader, 'name' | 'description'> & Partial<SkillHeader>;

const NO_PROBLEMS: readonly Problem[] = Object.freeze([]);

function packHeader(header: SkillHeader): PackedHeader {
  const { modelInvocable, userInvocable, ...rest } = header;
  const kept = Object.entries(rest).filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0);
  return {
    ...(Object.fromEntries(kept) as unknown as PackedHeader),
    ...(modelInvocable ? {} : { modelInvocable }),
    ...(userInvocable ? {} : { userInvocable }),
  };
}

/** `file` stands where it stood. */
function toProblem({ code, severity, ...rest }: Omit<Problem, 'file'>, file: string): Problem {
  return { code, severity, file, ...rest };
}

/** Whether JSON gives it back as it is. YAML has no other values than these. */
function survives(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  return Object.values(value).every(survives);
}
