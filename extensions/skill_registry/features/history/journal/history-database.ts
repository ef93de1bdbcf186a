import { rmSync } from 'node:fs';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { makePrivateFile } from '../../../../../lib/files/index.ts';
import { openSqlite, sqliteFailure } from '../../../../../lib/sqlite/index.ts';
import { storeUnavailable } from '../../../core/skill/errors.ts';
import { openDatabase, type SqliteDatabase, versionOf } from '../../../core/store/open-database.ts';
import { type HistoryRefusal, historyDamaged, historyRefused, quoted, rowRefused } from '../errors.ts';

/**
 * The content exists nowhere else: it is never removed or rebuilt, backed up before a migration, and left as it is when
 * damaged.
 * @throws as `historyError`; HISTORY_NEWER; HISTORY_ROW_REFUSED for a schema that no release makes.
 */
export function openHistoryDatabase(
  file: string,
  migrations: readonly string[] = MIGRATIONS,
  named: string = file,
): SqliteDatabase {
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabase(file);
    // A foreign schema must not call functions that act outside the database.
    database.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
    const found = versionOf(database);
    if (found > migrations.length) {
      const message = `The history in ${named} has version ${found}, and this release can use versions up to ${migrations.length}. Use the release that wrote it.`;
      throw new CodedError('HISTORY_NEWER', message, { file: named, found, known: migrations.length });
    }
    if (found < migrations.length) migrate(database, file, found, migrations);
    assertOurs(database, migrations);
    return database;
  } catch (error) {
    database?.close();
    throw historyError(named, error, file);
  }
}

/** Whether a start has nothing to do. Also false for an unusable history. */
export function isAllFinished(file: string): boolean {
  const database = withFallback(() => openHistoryDatabase(file));
  const isFinished = withFallback(() => database !== undefined && !hasUnfinished(database), false);
  database?.close();
  return isFinished;
}

export function hasUnfinished(database: SqliteDatabase): boolean {
  const sql = 'SELECT 1 FROM operation UNION ALL SELECT 1 FROM proposal WHERE file_due = 1 LIMIT 1';
  return database.prepare(sql).get() !== undefined;
}

export function countWaitingProposals(database: SqliteDatabase): number {
  const sql = "SELECT count(*) AS count FROM proposal WHERE state IN ('open', 'stale')";
  return database.prepare<{ count: number }>(sql).get()?.count ?? 0;
}

export function backupOf(file: string, version: number): string {
  return `${file}.v${version}.backup`;
}

/** undefined for reasons that no user can act on. */
export function sqliteRefusal(error: unknown): Exclude<HistoryRefusal, 'other'> | 'damaged' | undefined {
  const failure = sqliteFailure(error);
  return failure === 'unavailable' || failure === 'constraint' || failure === 'other' ? undefined : failure;
}

/**
 * Other errors than those of a database stay as they are. HISTORY_DAMAGED only after an integrity check.
 * @param opening - The file being opened (history or copy): then every error is about the history.
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

/** Checks every page, once before the first write of a process. @throws HISTORY_DAMAGED, or what SQLite throws. */
export function assertSound(database: SqliteDatabase, file: string): void {
  const verdict = verdictOn(database, 'quick_check');
  if (verdict !== 'ok') throw historyDamaged(file, verdict);
}

// --- internal ---

function migrate(database: SqliteDatabase, file: string, found: number, migrations: readonly string[]): void {
  if (found > 0) backUp(database, backupOf(file, found));
  database.transaction(() => {
    // Another process may have migrated it meanwhile.
    const now = versionOf(database);
    for (const sql of migrations.slice(now)) database.exec(sql);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/** A view, a trigger or a computed column could show one text and apply another. @throws HISTORY_ROW_REFUSED. */
function assertOurs(database: SqliteDatabase, migrations: readonly string[]): void {
  const ours = knownSchemas.get(migrations) ?? schemaMadeBy(migrations);
  knownSchemas.set(migrations, ours);
  const foreign = schemaOf(database).find((row) => !ours.has(schemaRowText(row)));
  if (foreign) throw rowRefused(`the ${foreign.type} ${quoted(foreign.name, 80)}, which no release makes`);
}

const knownSchemas = new WeakMap<readonly string[], ReadonlySet<string>>();

function schemaMadeBy(migrations: readonly string[]): ReadonlySet<string> {
  const database = openSqlite(':memory:');
  try {
    for (const sql of migrations) database.exec(sql);
    return new Set(schemaOf(database).map(schemaRowText));
  } finally {
    database.close();
  }
}

type SchemaRow = Readonly<Record<'type' | 'name' | 'tbl_name', string>> & { readonly sql: string | null };

function schemaOf(database: SqliteDatabase): readonly SchemaRow[] {
  return database.prepare<SchemaRow>('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();
}

function schemaRowText({ type, name, tbl_name, sql }: SchemaRow): string {
  return JSON.stringify([type, name, tbl_name, sql?.replace(/--.*/g, '').replace(/\s+/g, ' ')]);
}

/** A backup of an unfinished migration is replaced: the database has not changed since. A link is removed. */
function backUp(database: SqliteDatabase, backup: string): void {
  rmSync(backup, { force: true });
  makePrivateFile(backup);
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

-- The content of a skill since one moment. tree: [{ path, digest, size, mode, kept }]
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
  -- Digest of the report as last written, or of two while it is written again; file_due: the row has changed since.
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
  `
-- kind: 'result' (what the registry ran on a content; about: digest of the test cases) or 'claim' (what another tool says; about: the case). content: JSON.
CREATE TABLE evidence (
  seq INTEGER PRIMARY KEY,
  place TEXT NOT NULL,
  kind TEXT NOT NULL,
  digest TEXT NOT NULL,
  about TEXT NOT NULL,
  at TEXT NOT NULL,
  content TEXT NOT NULL,
  UNIQUE (place, kind, digest, about)
);
`,
  `
-- Of an installed skill: { name, entry } of skills-lock.json.
ALTER TABLE archived ADD COLUMN lock TEXT;
`,
];

function systemRefusal(error: unknown): HistoryRefusal | undefined {
  const code = String((error as NodeJS.ErrnoException | undefined)?.code);
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return 'full';
  if (['EROFS', 'EACCES', 'EPERM'].includes(code)) return 'readonly';
  if (code === 'EIO') return 'io';
  return /^E[A-Z]+$/.test(code) ? 'cantopen' : undefined;
}

/** undefined: no damage found, or the check cannot run. */
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

function verdictOn(database: SqliteDatabase, check: 'quick_check' | 'integrity_check'): string {
  try {
    return String(Object.values(database.prepare<object>(`PRAGMA ${check}(1)`).get() ?? {})[0]);
  } catch (error) {
    if (sqliteRefusal(error) === 'damaged') return describeError(error);
    throw error;
  }
}
