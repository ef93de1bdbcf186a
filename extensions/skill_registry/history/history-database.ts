import { rmSync } from 'node:fs';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { privateFile } from '../../../lib/files/index.ts';
import { openSqlite, sqliteFailure } from '../../../lib/sqlite/index.ts';
import { storeUnavailable } from '../skill/errors.ts';
import { openDatabase, type SqliteDatabase } from '../store/open-database.ts';
import { type HistoryRefusal, historyDamaged, historyNewer, historyRefused, rowRefused } from './errors.ts';

/**
 * Opens `history.db`: revisions, proposals and the journal of changes under way. It cannot be made anew from anything, so it is
 * never removed or rebuilt: it is migrated after a backup, and one that is damaged is left exactly as it is.
 *
 * @param file - Absolute.
 * @param migrations - SQL by version: the first makes version 1 from an empty file. Default: those of this release.
 * @param named - What messages call it. Default: `file`.
 * @throws as `historyError`; HISTORY_NEWER when a later release has migrated it; HISTORY_ROW_REFUSED when something is in it that
 *   no release makes.
 */
export function openHistoryDatabase(
  file: string,
  migrations: readonly string[] = MIGRATIONS,
  named: string = file,
): SqliteDatabase {
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabase(file);
    // A schema that somebody else has made calls no functions that reach out of the database.
    database.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
    const found = versionOf(database);
    if (found > migrations.length) throw historyNewer(named, found, migrations.length);
    if (found < migrations.length) migrate(database, file, found, migrations);
    assertOurs(database, migrations);
    return database;
  } catch (error) {
    database?.close();
    throw historyError(named, error, file);
  }
}

/**
 * Whether no process has died in the middle of a change, and every proposal's report is written: then a start has nothing to do
 * with it. False also for one that cannot be used.
 */
export function isAtRest(file: string): boolean {
  let database: SqliteDatabase | undefined;
  try {
    database = openHistoryDatabase(file);
    return !hasUnfinished(database);
  } catch {
    return false;
  } finally {
    database?.close();
  }
}

/** Whether a process has died in the middle of a change, or a proposal's report is still to be written. */
export function hasUnfinished(database: SqliteDatabase): boolean {
  const sql = 'SELECT 1 FROM operation UNION ALL SELECT 1 FROM proposal WHERE file_due = 1 LIMIT 1';
  return database.prepare(sql).get() !== undefined;
}

/** Where the state before a migration is kept. */
export function backupOf(file: string, version: number): string {
  return `${file}.v${version}.backup`;
}

/** What SQLite refuses, as far as somebody can do something about it. */
export function sqliteRefusal(error: unknown): Exclude<HistoryRefusal, 'other'> | 'damaged' | undefined {
  const failure = sqliteFailure(error);
  return failure === 'unavailable' || failure === 'constraint' || failure === 'other' ? undefined : failure;
}

/**
 * What an error means to somebody who asked for the history. Only an integrity check says that it is damaged. What is no error
 * of the database stays as it is.
 *
 * @param file - Of the history. @param opening - The file that is being opened, it or a copy: then also what the system says is
 *   about it, and anything else.
 * @returns HISTORY_BUSY, WRITE_FAILED, STORE_UNAVAILABLE, HISTORY_DAMAGED; or the error.
 */
export function historyError(file: string, error: unknown, opening?: string): unknown {
  if (isCodedError(error)) return error;
  if (sqliteFailure(error) === 'unavailable') return storeUnavailable(describeError(error));
  const refusal = sqliteRefusal(error) ?? (opening === undefined ? undefined : (systemRefusal(error) ?? 'other'));
  if (refusal === undefined) return error;
  if (refusal !== 'damaged') return historyRefused(refusal, file, error);
  const damage = damageOf(opening ?? file);
  return damage === undefined ? historyRefused('other', file, error) : historyDamaged(file, damage);
}

/** Looks at every page; done once before the first write of a process. @throws HISTORY_DAMAGED, or what SQLite says. */
export function assertSound(database: SqliteDatabase, file: string): void {
  const verdict = verdictOn(database, 'quick_check');
  if (verdict !== 'ok') throw historyDamaged(file, verdict);
}

// --- internal ---

function versionOf(database: SqliteDatabase): number {
  return database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
}

function migrate(database: SqliteDatabase, file: string, found: number, migrations: readonly string[]): void {
  if (found > 0) backUp(database, backupOf(file, found));
  database.transaction(() => {
    // Another process may have been faster.
    const now = versionOf(database);
    for (const sql of migrations.slice(now)) database.exec(sql);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/** A view, a trigger or a column that is computed can show one text and apply another. @throws HISTORY_ROW_REFUSED. */
function assertOurs(database: SqliteDatabase, migrations: readonly string[]): void {
  const ours = knownSchemas.get(migrations) ?? schemaMadeBy(migrations);
  knownSchemas.set(migrations, ours);
  const strange = schemaOf(database).find((one) => !ours.has(textOf(one)));
  if (strange)
    throw rowRefused(`the ${strange.type} ${JSON.stringify(strange.name.slice(0, 80))} as no release makes it`);
}

const knownSchemas = new WeakMap<readonly string[], ReadonlySet<string>>();

function schemaMadeBy(migrations: readonly string[]): ReadonlySet<string> {
  const database = openSqlite(':memory:');
  try {
    for (const sql of migrations) database.exec(sql);
    return new Set(schemaOf(database).map(textOf));
  } finally {
    database.close();
  }
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

function schemaOf(database: SqliteDatabase): readonly SchemaRow[] {
  return database.prepare<SchemaRow>('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
}

/** Comments and blanks count for nothing. */
function textOf({ type, name, tbl_name, sql }: SchemaRow): string {
  return JSON.stringify([type, name, tbl_name, sql?.replace(/--.*/g, '').replace(/\s+/g, ' ')]);
}

/** A backup that is there already was made by a migration that did not finish; the database is still as it was. A link goes, too. */
function backUp(database: SqliteDatabase, backup: string): void {
  rmSync(backup, { force: true });
  privateFile(backup);
  database.prepare('VACUUM INTO ?').run(backup);
}

const MIGRATIONS: readonly string[] = [
  `
-- Every content once. Deflated where that is shorter.
CREATE TABLE blob (
  digest TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  deflated INTEGER NOT NULL,
  bytes BLOB NOT NULL
) WITHOUT ROWID;

-- What a skill was, from a moment on. tree: [{ path, digest, size, mode, kept }]
CREATE TABLE revision (
  seq INTEGER PRIMARY KEY,
  place TEXT NOT NULL,
  number INTEGER NOT NULL,
  skill_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  tree TEXT NOT NULL,
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  by TEXT NOT NULL,
  reason TEXT,
  proposal TEXT,
  target INTEGER,
  UNIQUE (place, number)
);
CREATE INDEX revision_by_id ON revision (skill_id, seq);

-- Changes that have been begun: there is a row only while one is under way, or after a crash.
CREATE TABLE operation (
  id TEXT PRIMARY KEY,
  content TEXT NOT NULL
);

-- Skills that were removed, and the folder that has them.
CREATE TABLE archived (
  seq INTEGER PRIMARY KEY,
  skill_id TEXT NOT NULL,
  place TEXT NOT NULL,
  folder TEXT NOT NULL,
  at TEXT NOT NULL,
  by TEXT NOT NULL,
  restored_at TEXT
);
CREATE INDEX archived_by_id ON archived (skill_id, seq);

CREATE TABLE proposal (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  kind TEXT NOT NULL,
  skill_id TEXT NOT NULL,
  place TEXT NOT NULL,
  source TEXT NOT NULL,
  path TEXT NOT NULL,
  base TEXT,
  proposed TEXT,
  diff TEXT NOT NULL,
  justification TEXT NOT NULL,
  evidence TEXT,
  checks TEXT NOT NULL,
  conflict TEXT,
  author TEXT NOT NULL,
  model TEXT,
  created TEXT NOT NULL,
  decided_by TEXT,
  decided_at TEXT,
  decision_reason TEXT,
  revision INTEGER,
  -- Counts up with every change of the row.
  version INTEGER NOT NULL DEFAULT 1,
  -- Digest of the report as it was written last, or of two it may be; file_due: the row has changed since.
  file_digest TEXT,
  file_due INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX proposal_by_state ON proposal (state, seq);
CREATE UNIQUE INDEX proposal_once ON proposal (place, path, kind, ifnull(proposed, '')) WHERE state = 'open';

-- Everything that happened to a proposal; content: JSON.
CREATE TABLE proposal_event (
  seq INTEGER PRIMARY KEY,
  proposal TEXT NOT NULL REFERENCES proposal (id),
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  by TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX proposal_event_by_proposal ON proposal_event (proposal, seq);
`,
];

function systemRefusal(error: unknown): HistoryRefusal | undefined {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code);
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return 'full';
  if (['EROFS', 'EACCES', 'EPERM'].includes(code)) return 'readonly';
  if (code === 'EIO') return 'io';
  return /^E[A-Z]+$/.test(code) ? 'cantopen' : undefined;
}

/** What an integrity check says against a file; undefined when it finds nothing, or cannot be made. */
function damageOf(file: string): string | undefined {
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabase(file);
    const verdict = verdictOn(database, 'integrity_check');
    return verdict === 'ok' ? undefined : verdict;
  } catch (error) {
    return sqliteRefusal(error) === 'damaged' ? describeError(error) : undefined;
  } finally {
    database?.close();
  }
}

/** `ok`, or what is wrong. A check fails itself where it comes upon what cannot be read as a database at all. */
function verdictOn(database: SqliteDatabase, check: 'quick_check' | 'integrity_check'): string {
  try {
    const row = database.prepare(`PRAGMA ${check}(1)`).get() as Readonly<Record<string, unknown>>;
    return String(Object.values(row)[0]);
  } catch (error) {
    if (sqliteRefusal(error) === 'damaged') return describeError(error);
    throw error;
  }
}
