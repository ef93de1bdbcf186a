import { CodedError } from 'skill-registry/kernel';
import { proposalAmbiguous, proposalNotFound } from '../history/errors.ts';
import type { Check } from '../inspect/findings.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import type { Proposal, ProposalState, Recommendation } from './types.ts';

/** A proposal as the history has it. Contents are digests of blobs. */
export interface ProposalRow {
  readonly seq: number;
  readonly id: string;
  readonly state: ProposalState;
  readonly kind: Proposal['kind'];
  readonly skill_id: string;
  /** Key of the place. */
  readonly place: string;
  readonly source: string;
  readonly path: string;
  readonly base: string | null;
  /** What the file is to be; null: gone. */
  readonly proposed: string | null;
  readonly diff: string;
  readonly justification: string;
  readonly evidence: string | null;
  /** JSON. */
  readonly checks: string;
  readonly conflict: string | null;
  readonly author: string;
  readonly model: string | null;
  readonly created: string;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly decision_reason: string | null;
  readonly revision: number | null;
  readonly version: number;
  readonly file_digest: string | null;
  readonly file_due: number;
}

export type NewProposal = Omit<
  ProposalRow,
  | 'seq'
  | 'conflict'
  | 'decided_by'
  | 'decided_at'
  | 'decision_reason'
  | 'revision'
  | 'version'
  | 'file_digest'
  | 'file_due'
>;

export type EventKind =
  | 'created'
  | 'edited'
  | 'late-edit'
  | 'recommended'
  | 'stale'
  | 'merged'
  | 'approved'
  | 'rejected'
  | 'purged';

/** @throws NOT_TEXT for a NUL character: some versions of Node would show a reviewer only what stands before it. */
export function insertProposal(database: SqliteDatabase, row: NewProposal): void {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    throw new CodedError('NOT_TEXT', `The ${name} of the proposal holds a NUL character. Leave it out.`);
  }
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  database.prepare(`INSERT INTO proposal (${names.join(', ')}) VALUES (${marks})`).run(...Object.values(row));
}

/** Changes fields of a row; its file is due to be written anew. */
export function updateProposal(database: SqliteDatabase, id: string, fields: Partial<ProposalRow>): void {
  const sets = Object.keys(fields).map((name) => `${name} = ?`);
  database
    .prepare(`UPDATE proposal SET ${[...sets, 'version = version + 1', 'file_due = 1'].join(', ')} WHERE id = ?`)
    .run(...Object.values(fields), id);
}

export function noteFileWritten(database: SqliteDatabase, id: string, digest: string): void {
  database.prepare('UPDATE proposal SET file_digest = ?, file_due = 0 WHERE id = ?').run(digest, id);
}

/** Somebody else has written into its file. */
export function markFileDue(database: SqliteDatabase, id: string): void {
  database.prepare('UPDATE proposal SET file_due = 1 WHERE id = ?').run(id);
}

export function addEvent(
  database: SqliteDatabase,
  proposal: string,
  kind: EventKind,
  { by, at }: { readonly by: string; readonly at: string },
  content: Readonly<Record<string, unknown>> = {},
): void {
  database
    .prepare('INSERT INTO proposal_event (proposal, kind, at, by, content) VALUES (?, ?, ?, ?, ?)')
    .run(proposal, kind, at, by, JSON.stringify(content));
}

/** Newest first. @param state - Default: open and stale. */
export function proposalRows(database: SqliteDatabase, state?: ProposalState | 'all'): readonly ProposalRow[] {
  const states = state === 'all' ? [] : state === undefined ? ['open', 'stale'] : [state];
  const where = states.length === 0 ? '' : `WHERE state IN (${states.map(() => '?').join(', ')})`;
  return database.prepare<ProposalRow>(`SELECT * FROM proposal ${where} ORDER BY seq DESC`).all(...states);
}

export function dueRows(database: SqliteDatabase): readonly ProposalRow[] {
  return database.prepare('SELECT * FROM proposal WHERE file_due = 1 ORDER BY seq').all() as ProposalRow[];
}

export function openDuplicate(database: SqliteDatabase, row: NewProposal): string | undefined {
  const { place, path, kind, proposed } = row;
  const found = database
    .prepare(
      "SELECT id FROM proposal WHERE state = 'open' AND place = ? AND path = ? AND kind = ? AND ifnull(proposed, '') = ifnull(?, '')",
    )
    .get(place, path, kind, proposed);
  return (found as { id: string } | undefined)?.id;
}

/** @param wanted - An id, or enough of its beginning or its end. @throws PROPOSAL_NOT_FOUND. */
export function findRow(database: SqliteDatabase, wanted: string): ProposalRow {
  const exact = database.prepare('SELECT * FROM proposal WHERE id = ?').get(wanted) as ProposalRow | undefined;
  if (exact) return exact;
  const ids = (database.prepare('SELECT id FROM proposal ORDER BY seq DESC').all() as { id: string }[]).map(
    ({ id }) => id,
  );
  const part = wanted.trim().replace(/\.md$/, '');
  const matching = part === '' ? [] : ids.filter((id) => id.startsWith(part) || id.endsWith(part));
  const [only] = matching;
  if (only === undefined) throw proposalNotFound(wanted, ids);
  if (matching.length > 1) throw proposalAmbiguous(wanted, matching);
  return findRow(database, only);
}

export function newestSeq(database: SqliteDatabase): number {
  return (database.prepare('SELECT ifnull(max(seq), 0) AS seq FROM proposal').get() as { seq: number }).seq;
}

export function rowsAfter(database: SqliteDatabase, seq: number): readonly ProposalRow[] {
  return database.prepare('SELECT * FROM proposal WHERE seq > ? ORDER BY seq').all(seq) as ProposalRow[];
}

/** Who has taken the texts out of a proposal, and when; null while they are there. */
export function purgeOf(database: SqliteDatabase, id: string): Proposal['purged'] {
  const row = database.prepare("SELECT by, at FROM proposal_event WHERE proposal = ? AND kind = 'purged'").get(id);
  return (row as Proposal['purged'] | undefined) ?? null;
}

export function proposalOf(database: SqliteDatabase, row: ProposalRow, file: string, problem?: string): Proposal {
  const { id, state, kind, skill_id, source, path, base, diff, justification, evidence, conflict } = row;
  const { author, model, created, revision, decided_by: by, decided_at: at, decision_reason: reason } = row;
  return {
    ...{ id, state, kind, skill_id, source, path, base, diff, justification, evidence, conflict },
    ...{ author, model, created, revision, file },
    checks: JSON.parse(row.checks) as Check[],
    recommendations: recommendationsOf(database, id),
    decision: by === null || at === null ? null : { by, at, reason },
    purged: state === 'rejected' ? purgeOf(database, id) : null,
    ...(problem === undefined ? {} : { problem }),
  };
}

// --- internal ---

function recommendationsOf(database: SqliteDatabase, id: string): readonly Recommendation[] {
  const rows = database
    .prepare("SELECT at, by, content FROM proposal_event WHERE proposal = ? AND kind = 'recommended' ORDER BY seq")
    .all(id) as { at: string; by: string; content: string }[];
  return rows.map(({ at, by, content }) => ({
    by,
    at,
    ...(JSON.parse(content) as Pick<Recommendation, 'verdict' | 'reason'>),
  }));
}
