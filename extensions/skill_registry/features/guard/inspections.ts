import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import type { SqliteStatement } from '../../../../lib/sqlite/index.ts';
import { userCacheDirectory, whyNotTrusted } from '../../../../lib/trust/index.ts';
import { type CachePart, cacheProblems, createCache } from '../../core/store/cache.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import type { FileResult } from './inspect/inspect-file.ts';
import type { FileResults } from './inspect/inspect-skill.ts';
import type { Inspection } from './inspect/rule.ts';
import { RULE_SET } from './inspect/rule-set.ts';

export interface InspectionEntry {
  /** Of SKILL.md. */
  readonly skillDigest: string;
  /** Equal as long as no file has changed; empty when the stats cannot tell. */
  readonly stamp: string;
  /** Of all files. */
  readonly digest: string;
  readonly verdict: Inspection['verdict'];
}

/** This user's inspections by digest and rule set, of skills and of files, and folders. Any may be lost at any time. */
export interface Inspections extends FileResults {
  load(paths: readonly string[]): void;
  entryAt(path: string): InspectionEntry | undefined;
  /** Paths that another process found to be blocked since the last call. */
  blockedByOthers(): ReadonlySet<string>;
  inspectionOf(digest: string): Inspection | undefined;
  /** Digests of the inspected files, by path; undefined when not known. */
  filesOf(digest: string): ReadonlyMap<string, string> | undefined;
  hasBlocked(): boolean;
  /** What was found to be blocked while the inspection ran stays: it may have seen the files as they were before. */
  keep(path: string, entry: InspectionEntry, inspection: Inspection, made: Made): void;
  /** CACHE_UNAVAILABLE. */
  problems(): readonly Problem[];
  close(): void;
}

interface Made {
  /** As of `filesOf`. Default: they are not kept. */
  readonly files?: ReadonlyMap<string, string>;
  /** What was known when the inspection began. */
  readonly before: InspectionEntry | undefined;
}

const MAX_RECENT = 16;
/** Raise it when the tables change. */
const TABLES = 6;
/** In each row, because another version of this package may write into the same tables, by other rules. */
const RULES: number = RULE_SET * 1000 + TABLES;
/** With more skills the file is emptied; skills that still exist are inspected again. */
const MAX_SKILLS = 100_000;
const MAX_RESULTS = 1_000_000;

const INSPECTIONS: CachePart = {
  name: 'inspection',
  version: RULES,
  sql: `CREATE TABLE inspection (
      digest TEXT, rules INTEGER, verdict TEXT NOT NULL, findings TEXT NOT NULL, files TEXT NOT NULL,
      PRIMARY KEY (digest, rules)
    ) WITHOUT ROWID;
    CREATE TABLE inspection_place (
      place TEXT, rules INTEGER, skill TEXT NOT NULL, stamp TEXT NOT NULL, digest TEXT NOT NULL, verdict TEXT NOT NULL,
      PRIMARY KEY (place, rules)
    ) WITHOUT ROWID;
    CREATE TABLE inspection_file (
      file TEXT, rules INTEGER, result TEXT NOT NULL, PRIMARY KEY (file, rules)
    ) WITHOUT ROWID;
    CREATE INDEX inspection_blocked ON inspection_place (rules) WHERE verdict = 'block';`,
};

/** In the user's cache directory, never in a root: it can release skills, and a root may come with such a file. */
export function inspectionsFile(): string {
  return join(userCacheDirectory(), 'inspections', 'inspections.db');
}

/** `file` is not used when another user can write it. Undefined: in memory. */
export function openInspections(file: string | undefined): Inspections {
  const trouble = file && whyNotTrusted(file);
  const cache = createCache(trouble === undefined ? file : undefined, [INSPECTIONS]);
  const entries = new Map<string, InspectionEntry | null>();
  const inspections = new Map<string, Inspection>();
  /** Results that are not in the file yet: a transaction for each skill costs a tenth of its inspection. */
  let waiting: Kept[] = [];
  /** Of single files, by their key; not yet in the file. */
  let results = new Map<string, FileResult>();
  /** Of skills whose files are read now, also when no file can be kept. */
  const recent = new RecentMap<string, ReadonlyMap<string, string>>(MAX_RECENT);
  let asked: ReturnType<typeof versionNow> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFirst = true;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const [rows, files] = [waiting, results];
    [waiting, results] = [[], new Map()];
    if (rows.length === 0 && files.size === 0) return;
    const isWritten = cache.use((database) => {
      database.transaction(() => {
        if (isFirst) emptyWhenFull(database);
        isFirst = false;
        write(database, rows, files);
      });
      return true;
    });
    // Another process may write; it must be told of an attack.
    waiting = isWritten ? [] : rows.slice(-MOST_WAITING);
    if (!isWritten) timer = setTimeout(flush, AGAIN_MS).unref();
  };
  const load = (given: readonly string[]): void => {
    const missing = given.filter((path) => !entries.has(path));
    if (missing.length === 0) return;
    const rows = cache.useIfThere((database) => database.prepare<PlacedEntry>(SELECT).all(JSON.stringify(missing)));
    for (const path of missing) entries.set(path, null);
    for (const { path, ...entry } of rows ?? []) entries.set(path, entry);
  };
  const entryAt = (path: string): InspectionEntry | undefined => {
    if (!entries.has(path)) load([path]);
    return entries.get(path) ?? undefined;
  };
  return {
    load,
    entryAt,
    blockedByOthers() {
      const now = cache.useIfThere(versionNow);
      if (now?.database === asked?.database && now?.version === asked?.version) return new Set();
      // A new file has nothing of what this process has found; somebody may have removed the old one.
      if (asked && now?.database !== asked.database)
        for (const [path, entry] of entries) {
          const inspection = entry?.verdict === 'block' && inspections.get(entry.digest);
          if (entry && inspection) this.keep(path, { ...entry, stamp: '' }, inspection, { before: undefined });
        }
      for (const [path, entry] of entries) if (entry === null) entries.delete(path);
      const rows = cache.useIfThere((database) => database.prepare<PlacedEntry>(SELECT_BLOCKED).all());
      if (!rows) return new Set();
      asked = now;
      const isNews = ({ path, digest }: PlacedEntry): boolean => {
        const known = entries.get(path);
        return known?.verdict !== 'block' || known.digest !== digest;
      };
      const news = rows.filter(isNews);
      // Also where this process has found nothing a moment ago: the next read looks at what is there now.
      for (const { path, ...entry } of news) entries.set(path, entry);
      return new Set(news.map(({ path }) => path));
    },
    inspectionOf(digest) {
      const known =
        inspections.get(digest) ??
        waiting.find(({ entry }) => entry.digest === digest)?.inspection ??
        cache.useIfThere((database) => readInspection(database, digest));
      if (known?.verdict === 'block') inspections.set(digest, known);
      return known;
    },
    filesOf(digest) {
      const files =
        recent.get(digest) ??
        waiting.find(({ entry }) => entry.digest === digest)?.files ??
        cache.useIfThere((database) => readFiles(database, digest));
      if (files) recent.set(digest, files);
      return files;
    },
    resultsOf(keys) {
      const known = new Map<string, FileResult>();
      for (const key of keys) {
        const result = results.get(key);
        if (result) known.set(key, result);
      }
      const missing = JSON.stringify(keys.filter((key) => !known.has(key)));
      const rows = cache.useIfThere((database) => database.prepare<FileRow>(SELECT_FILES).all(missing));
      for (const { file, result } of rows ?? []) known.set(file, JSON.parse(result));
      return known;
    },
    keepResult(key, result) {
      results.set(key, result);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    hasBlocked: () => [...entries.values()].some((entry) => entry?.verdict === 'block'),
    keep(path, entry, inspection, { files = new Map(), before }) {
      const now = entryAt(path);
      const isOld = now?.verdict === 'block' && now.digest !== before?.digest && entry.verdict !== 'block';
      if (!isOld) entries.set(path, entry);
      if (inspection.verdict === 'block') inspections.set(entry.digest, inspection);
      recent.set(entry.digest, files);
      waiting.push({ path, entry, before: before?.digest ?? '', inspection, files });
      // Of an attack, other processes know before anybody is refused.
      if (waiting.length >= AT_ONCE || inspection.verdict === 'block') flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    problems() {
      if (!file || !trouble) return cacheProblems(file, cache, 'inspects');
      const message = `The inspections in this file are not used, because ${trouble}: skills are inspected again by every process. Remove it, or let only this user write it.`;
      return [{ code: 'CACHE_UNAVAILABLE', severity: 'warning', file, message }];
    },
    close() {
      flush();
      clearTimeout(timer);
      cache.close();
    },
  };
}

// --- internal ---

interface PlacedEntry extends InspectionEntry {
  readonly path: string;
}

/** Asked before each answer, so it is prepared once. */
const versions = new WeakMap<SqliteDatabase, SqliteStatement<{ readonly data_version: number }>>();

/** SQLite changes the number with each write of another connection. */
function versionNow(database: SqliteDatabase) {
  const asked = versions.get(database) ?? database.prepare('PRAGMA data_version');
  versions.set(database, asked);
  return { database, version: asked.get()?.data_version };
}

interface FileRow {
  readonly file: string;
  readonly result: string;
}

interface Kept {
  readonly path: string;
  readonly entry: InspectionEntry;
  /** The digest that this process knew, or ''. */
  readonly before: string;
  readonly inspection: Inspection;
  readonly files: ReadonlyMap<string, string>;
}

/** Results in one transaction, and the most milliseconds before it. Results that a crash loses are made again. */
const AT_ONCE = 64;
const FLUSH_MS = 50;
/** Of an attempt in vain, and its results that are kept. */
const AGAIN_MS = 1_000;
const MOST_WAITING = 512;

const SELECT = `SELECT place AS path, skill AS skillDigest, stamp, digest, verdict
  FROM json_each(?) JOIN inspection_place ON place = json_each.value AND rules = ${RULES}`;

const SELECT_FILES = `SELECT file, result
  FROM json_each(?) JOIN inspection_file ON file = json_each.value AND rules = ${RULES}`;

const SELECT_BLOCKED = `SELECT place AS path, skill AS skillDigest, stamp, digest, verdict
  FROM inspection_place WHERE rules = ${RULES} AND verdict = 'block'`;

function readInspection(database: SqliteDatabase, digest: string): Inspection | undefined {
  const select = `SELECT verdict, findings FROM inspection WHERE digest = ? AND rules = ${RULES}`;
  const row = database.prepare<Pick<Inspection, 'verdict'> & { findings: string }>(select).get(digest);
  return row && { verdict: row.verdict, ...JSON.parse(row.findings) };
}

function readFiles(database: SqliteDatabase, digest: string): ReadonlyMap<string, string> | undefined {
  const select = `SELECT files FROM inspection WHERE digest = ? AND rules = ${RULES}`;
  const row = database.prepare<{ files: string }>(select).get(digest);
  return row && new Map(JSON.parse(row.files) as [string, string][]);
}

function emptyWhenFull(database: SqliteDatabase): void {
  const { n = 0 } = database.prepare<{ n: number }>('SELECT count(*) AS n FROM inspection_place').get() ?? {};
  if (n > MAX_SKILLS) database.exec('DELETE FROM inspection_place; DELETE FROM inspection');
  const { results = 0 } =
    database.prepare<{ results: number }>('SELECT count(*) AS results FROM inspection_file').get() ?? {};
  if (results > MAX_RESULTS) database.exec('DELETE FROM inspection_file');
}

function write(database: SqliteDatabase, rows: readonly Kept[], files: ReadonlyMap<string, FileResult>): void {
  const inspected = database.prepare(
    `INSERT OR REPLACE INTO inspection (digest, rules, verdict, findings, files) VALUES (?, ${RULES}, ?, ?, ?)`,
  );
  // What another process found to be blocked meanwhile stays, until this one has seen that, and inspects again.
  const entries = database.prepare(
    `INSERT INTO inspection_place (place, rules, skill, stamp, digest, verdict) VALUES (?, ${RULES}, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET skill = excluded.skill, stamp = excluded.stamp, digest = excluded.digest, verdict = excluded.verdict
     WHERE inspection_place.verdict <> 'block' OR excluded.verdict = 'block' OR inspection_place.digest = ?`,
  );
  for (const { path, entry, before, inspection, files } of rows) {
    const { skillDigest, stamp, digest, verdict } = entry;
    const { findings, reach } = inspection;
    inspected.run(digest, inspection.verdict, JSON.stringify({ findings, reach }), JSON.stringify([...files]));
    entries.run(path, skillDigest, stamp, digest, verdict, before);
  }
  const results = database.prepare(
    `INSERT OR REPLACE INTO inspection_file (file, rules, result) VALUES (?, ${RULES}, ?)`,
  );
  for (const [key, result] of files) results.run(key, JSON.stringify(result));
}
