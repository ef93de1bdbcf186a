import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import { nameKey } from '../history/writer.ts';
import type { Check } from '../inspect/findings.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { fileEditedMessage, proposalNotFound, proposalNotNamed, skillGone } from './errors.ts';
import type { Proposal, ProposalFilter, ProposalState, Recommendation } from './types.ts';

/** Contents are digests of blobs. */
export interface NewProposal
  extends Pick<
    Proposal,
    'id' | 'state' | 'kind' | 'source' | 'path' | 'base' | 'diff' | 'justification' | 'evidence' | 'author' | 'model'
  > {
  readonly skill_id: string;
  /** The key of its location. Named as its column. */
  readonly place: string;
  /** null: the file is removed. */
  readonly proposed: string | null;
  readonly checks: string;
  readonly created: string;
}

export interface ProposalRow extends NewProposal {
  readonly seq: number;
  readonly conflict: string | null;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly decision_reason: string | null;
  readonly revision: number | null;
  readonly version: number;
  /** Of the last written report; two digests with a space between them while it may be either. */
  readonly file_digest: string | null;
  readonly file_due: number;
}

export type EventKind =
  | 'created'
  | 'edited'
  // The report was changed by somebody.
  | 'file-edited'
  // The approving person was refused once because of that.
  | 'told'
  | 'recommended'
  // The file that a stale proposal was last compared with.
  | 'shown'
  | 'stale'
  | 'merged'
  | 'approved'
  | 'rejected'
  | 'purged';

export function insertProposal(database: SqliteDatabase, row: NewProposal): void {
  assertNoNul(row);
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  database.prepare(`INSERT INTO proposal (${names.join(', ')}) VALUES (${marks})`).run(...Object.values(row));
}

/** Some versions of Node read a text from SQLite only up to a NUL character. @throws NOT_TEXT. */
export function assertNoNul(fields: Partial<ProposalRow>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    throw new CodedError('NOT_TEXT', `The ${name} of the proposal holds a NUL character. Leave it out.`);
  }
}

/** Marks the report as due. */
export function updateProposal(database: SqliteDatabase, id: string, fields: Partial<ProposalRow>): void {
  const sets = [...Object.keys(fields).map((name) => `${name} = ?`), 'version = version + 1', 'file_due = 1'];
  database.prepare(`UPDATE proposal SET ${sets.join(', ')} WHERE id = ?`).run(...Object.values(fields), id);
}

/** `digests`: those that the report may have. `due`: it must be written again. */
export function noteReport(
  database: SqliteDatabase,
  id: string,
  { digests, due }: { readonly digests?: string; readonly due: boolean },
): void {
  const sql = 'UPDATE proposal SET file_digest = ifnull(?, file_digest), file_due = ? WHERE id = ?';
  database.prepare(sql).run(digests ?? null, Number(due), id);
}

export function addEvent(
  database: SqliteDatabase,
  proposal: string,
  kind: EventKind,
  { by, at }: { readonly by: string; readonly at: string },
  content: Readonly<Record<string, unknown>> = {},
): void {
  const sql = 'INSERT INTO proposal_event (proposal, kind, at, by, content) VALUES (?, ?, ?, ?, ?)';
  database.prepare(sql).run(proposal, kind, at, by, JSON.stringify(content));
}

/** Newest first. @param state - Default: open and stale. */
export function proposalRows(
  database: SqliteDatabase,
  state?: ProposalState | 'all',
  { author, skillId }: Pick<ProposalFilter, 'author' | 'skillId'> = {},
): readonly ProposalRow[] {
  const states = state === 'all' ? ['open', 'stale', 'approved', 'rejected'] : state ? [state] : ['open', 'stale'];
  const sql = `SELECT * FROM proposal WHERE state IN (${states.map(() => '?').join(', ')})
    AND author = ifnull(?, author) AND skill_id = ifnull(?, skill_id) ORDER BY seq DESC`;
  return database.prepare<ProposalRow>(sql).all(...states, author ?? null, skillId ?? null);
}

export function dueRows(database: SqliteDatabase): readonly ProposalRow[] {
  return database.prepare<ProposalRow>('SELECT * FROM proposal WHERE file_due = 1 ORDER BY seq').all();
}

export function rowsWithEdits(database: SqliteDatabase): readonly ProposalRow[] {
  const sql = "SELECT * FROM proposal WHERE id IN (SELECT proposal FROM proposal_event WHERE kind = 'file-edited')";
  return database.prepare<ProposalRow>(sql).all();
}

export function openDuplicate(database: SqliteDatabase, row: NewProposal): string | undefined {
  const { id, place, path, kind, proposed } = row;
  const sql = `SELECT id FROM proposal WHERE state = 'open' AND id <> ? AND place = ? AND path = ? AND kind = ?
    AND ifnull(proposed, '') = ifnull(?, '')`;
  return database.prepare<{ id: string }>(sql).get(id, place, path, kind, proposed)?.id;
}

/** Open and stale ones of one author for one skill, oldest first. */
export function waitingOf(database: SqliteDatabase, { place, author }: NewProposal): readonly string[] {
  const sql = "SELECT id, author FROM proposal WHERE state IN ('open', 'stale') AND place = ? ORDER BY seq";
  const rows = database.prepare<Pick<ProposalRow, 'id' | 'author'>>(sql).all(place);
  return rows.filter((row) => nameKey(row.author) === nameKey(author)).map(({ id }) => id);
}

/** @throws PROPOSAL_NOT_FOUND, which names the ids that contain `id`. */
export function rowOf(database: SqliteDatabase, id: string): ProposalRow {
  const row = rowIfThere(database, id);
  if (row) return row;
  const { ids, matching } = matchingIds(database, id);
  throw matching.length > 0 ? proposalNotNamed(id, 'part', matching) : proposalNotFound(id, ids);
}

const FEWEST_CHARACTERS = 6;

/** @param idOrPart - An id, or at least six characters of its start or end in any case. @throws PROPOSAL_NOT_FOUND. */
export function findRow(database: SqliteDatabase, idOrPart: string): ProposalRow {
  const part = idOrPart.trim().replace(/\.md$/, '');
  const exact = rowIfThere(database, part);
  if (exact) return exact;
  const { ids, matching } = matchingIds(database, part);
  if (matching[0] === undefined) throw proposalNotFound(idOrPart, ids);
  if (part.length < FEWEST_CHARACTERS) throw proposalNotNamed(idOrPart, 'short', matching);
  if (matching.length > 1) throw proposalNotNamed(idOrPart, 'several', matching);
  return rowOf(database, matching[0]);
}

export function newestSeq(database: SqliteDatabase): number {
  return database.prepare<{ seq: number }>('SELECT ifnull(max(seq), 0) AS seq FROM proposal').get()?.seq ?? 0;
}

export function rowsAfter(database: SqliteDatabase, seq: number): readonly ProposalRow[] {
  return database.prepare<ProposalRow>('SELECT * FROM proposal WHERE seq > ? ORDER BY seq').all(seq);
}

/** null if nobody did. */
export function purgeOf(database: SqliteDatabase, id: string): Proposal['purged'] {
  const sql = "SELECT by, at FROM proposal_event WHERE proposal = ? AND kind = 'purged'";
  return database.prepare<NonNullable<Proposal['purged']>>(sql).get(id) ?? null;
}

export function lastEvent(
  database: SqliteDatabase,
  id: string,
  ...kinds: readonly EventKind[]
): { readonly kind: EventKind; readonly content: Readonly<Record<string, unknown>> } | undefined {
  const marks = kinds.map(() => '?').join(', ');
  const sql = `SELECT kind, content FROM proposal_event WHERE proposal = ? AND kind IN (${marks}) ORDER BY seq DESC LIMIT 1`;
  const row = database.prepare<{ kind: EventKind; content: string }>(sql).get(id, ...kinds);
  return row && { kind: row.kind, content: JSON.parse(row.content) };
}

/** Relative to the data folder. */
export function reportPath({ id }: Pick<ProposalRow, 'id'>): string {
  return `proposals/${id}.md`;
}

/** Changes with the base and with the proposed content. */
export function versionOf({ base, proposed }: Pick<ProposalRow, 'base' | 'proposed'>): string {
  return digestOf(JSON.stringify([base, proposed]));
}

type Edited = Pick<ProposalRow, 'id' | 'state' | 'proposed'>;

/** PROPOSAL_FILE_EDITED while a copy of an edited report exists. */
export function editProblem(database: SqliteDatabase, row: Edited, dataDir: string): Problem | undefined {
  const sql = "SELECT content FROM proposal_event WHERE proposal = ? AND kind = 'file-edited' ORDER BY seq DESC";
  const rows = database.prepare<{ content: string }>(sql).all(row.id);
  const names = rows.map(({ content }) => String((JSON.parse(content) as { file?: unknown }).file));
  const name = names.find((file) => isKeptName(file, row.id) && existsSync(join(dataDir, 'proposals', file)));
  return name === undefined ? undefined : fileEdited(row, join(dataDir, 'proposals', name));
}

export function fileEdited({ id, state, proposed }: Edited, file: string): Problem {
  const message = fileEditedMessage(id, state, file, proposed !== null);
  return { code: 'PROPOSAL_FILE_EDITED', severity: 'warning', file, message };
}

export function proposalOf(database: SqliteDatabase, row: ProposalRow, dataDir: string): Proposal {
  const { id, state, decided_by: by, decided_at: at, decision_reason: reason } = row;
  const problem = editProblem(database, row, dataDir);
  return {
    id,
    state,
    kind: row.kind,
    skillId: row.skill_id,
    source: row.source,
    path: row.path,
    base: row.base,
    version: versionOf(row),
    diff: row.diff,
    editable: isEditable(row),
    justification: row.justification,
    evidence: row.evidence,
    // Earlier releases wrote `warning`.
    checks: JSON.parse(row.checks.replaceAll('"level":"warning"', '"level":"warn"')) as Check[],
    recommendations: recommendationsOf(database, id),
    conflict: row.conflict,
    author: row.author,
    model: row.model,
    created: row.created,
    decision: by === null || at === null ? null : { by, at, reason },
    revision: row.revision,
    purged: state === 'rejected' ? purgeOf(database, id) : null,
    file: join(dataDir, reportPath(row)),
    ...(problem ? { problem } : {}),
  };
}

/** @param n - From 1. */
export function editedCopyName({ id }: Pick<ProposalRow, 'id'>, n: number): string {
  return `${id}.edited${n === 1 ? '' : `-${n}`}.md`;
}

// --- internal ---

/** As `proposals.edit` decides. */
function isEditable({ kind, proposed, state, conflict, skill_id }: ProposalRow): boolean {
  if (kind === 'delete' || proposed === null) return false;
  return state === 'open' || (state === 'stale' && kind === 'update' && conflict !== skillGone(skill_id));
}

/** The history may come from somebody else, so a name in it is checked. */
function isKeptName(name: string, id: string): boolean {
  return name.startsWith(`${id}.edited`) && /^[A-Za-z0-9._-]+$/.test(name);
}

function rowIfThere(database: SqliteDatabase, id: string): ProposalRow | undefined {
  return database.prepare<ProposalRow>('SELECT * FROM proposal WHERE id = ?').get(id);
}

function matchingIds(database: SqliteDatabase, part: string): Readonly<Record<'ids' | 'matching', readonly string[]>> {
  const rows = database.prepare<{ id: string }>('SELECT id FROM proposal ORDER BY seq DESC').all();
  const [ids, wanted] = [rows.map(({ id }) => id), part.toLowerCase()];
  const matching = ids.filter((id) => id.toLowerCase().startsWith(wanted) || id.toLowerCase().endsWith(wanted));
  return { ids, matching };
}

function recommendationsOf(database: SqliteDatabase, id: string): readonly Recommendation[] {
  const sql = "SELECT at, by, content FROM proposal_event WHERE proposal = ? AND kind = 'recommended' ORDER BY seq";
  const rows = database.prepare<Readonly<Record<'at' | 'by' | 'content', string>>>(sql).all(id);
  return rows.map(({ by, at, content }) => ({ by, at, ...JSON.parse(content) }));
}
