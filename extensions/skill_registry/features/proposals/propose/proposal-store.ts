import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, type Problem } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import { quoted } from '../../history/errors.ts';
import type { Writer } from '../../history/journal/writer.ts';
import { getBlob } from '../../history/revisions.ts';
import type { Check } from '../checks/checks.ts';
import { isWaiting } from './describe.ts';
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

/** @param where - SQL behind WHERE, with a question mark for each of `values`. */
export function rowsWhere(
  database: SqliteDatabase,
  where: string,
  ...values: readonly (string | number | null)[]
): readonly ProposalRow[] {
  return database.prepare<ProposalRow>(`SELECT * FROM proposal WHERE ${where}`).all(...values);
}

/** Newest first. @param state - Default: open and stale. */
export function proposalRows(
  database: SqliteDatabase,
  state?: ProposalState | 'all',
  { author, skillId }: Pick<ProposalFilter, 'author' | 'skillId'> = {},
): readonly ProposalRow[] {
  const states = state === 'all' ? ['open', 'stale', 'approved', 'rejected'] : state ? [state] : ['open', 'stale'];
  const where = `state IN (${states.map(() => '?').join(', ')})
    AND author = ifnull(?, author) AND skill_id = ifnull(?, skill_id) ORDER BY seq DESC`;
  return rowsWhere(database, where, ...states, author ?? null, skillId ?? null);
}

/** @throws PROPOSAL_DUPLICATE when an open proposal asks for the same change. */
export function assertNoDuplicate(database: SqliteDatabase, row: NewProposal): void {
  const { id, place, path, kind, proposed } = row;
  const where = `state = 'open' AND id <> ? AND place = ? AND path = ? AND kind = ?
    AND ifnull(proposed, '') = ifnull(?, '')`;
  const [same] = rowsWhere(database, where, id, place, path, kind, proposed);
  if (!same) return;
  const message = `The open proposal ${same.id} proposes the same change. Wait until it is decided, or propose another change.`;
  throw new CodedError('PROPOSAL_DUPLICATE', message, { id: same.id });
}

/** @throws PROPOSAL_NOT_FOUND without a history. @param id - Of the proposal that is looked for. */
export function historyFor(id: string, writer: Writer): SqliteDatabase {
  if (!writer.hasHistory()) throw notFound(id, []);
  return writer.database();
}

/** @throws PROPOSAL_NOT_FOUND, which names the ids that contain `id`. */
export function rowOf(database: SqliteDatabase, id: string): ProposalRow {
  const [row] = rowsWhere(database, 'id = ?', id);
  if (row) return row;
  const { ids, matching } = matchingIds(database, id);
  throw matching.length > 0 ? notNamed(id, 'part', matching) : notFound(id, ids);
}

const FEWEST_CHARACTERS = 6;

/** @param idOrPart - An id, or at least six characters of its start or end in any case. @throws PROPOSAL_NOT_FOUND. */
export function findRow(database: SqliteDatabase, idOrPart: string): ProposalRow {
  const part = idOrPart.trim().replace(/\.md$/, '');
  const [exact] = rowsWhere(database, 'id = ?', part);
  if (exact) return exact;
  const { ids, matching } = matchingIds(database, part);
  if (matching[0] === undefined) throw notFound(idOrPart, ids);
  if (part.length < FEWEST_CHARACTERS) throw notNamed(idOrPart, 'short', matching);
  if (matching.length > 1) throw notNamed(idOrPart, 'several', matching);
  return rowOf(database, matching[0]);
}

/** null if nobody did. */
export function purgeOf(database: SqliteDatabase, id: string): Proposal['purged'] {
  const [purged] = eventsOf(database, id, 'purged');
  return purged ? { by: purged.by, at: purged.at } : null;
}

export interface ProposalEvent extends Readonly<Record<'by' | 'at', string>> {
  readonly kind: EventKind;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Oldest first. */
export function eventsOf(
  database: SqliteDatabase,
  id: string,
  ...kinds: readonly EventKind[]
): readonly ProposalEvent[] {
  const marks = kinds.map(() => '?').join(', ');
  const sql = `SELECT kind, by, at, content FROM proposal_event WHERE proposal = ? AND kind IN (${marks}) ORDER BY seq`;
  const rows = database.prepare<Omit<ProposalEvent, 'content'> & { readonly content: string }>(sql).all(id, ...kinds);
  return rows.map(({ kind, by, at, content }) => ({ kind, by, at, content: JSON.parse(content) }));
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
  const names = eventsOf(database, row.id, 'file-edited').map(({ content }) => String(content.file));
  // The history may come from somebody else, so a name in it is checked.
  const isKept = (name: string): boolean => name.startsWith(`${row.id}.edited`) && /^[A-Za-z0-9._-]+$/.test(name);
  const name = names.findLast((file) => isKept(file) && existsSync(join(dataDir, 'proposals', file)));
  return name === undefined ? undefined : fileEdited(row, join(dataDir, 'proposals', name));
}

export function fileEdited({ id, state, proposed }: Edited, file: string): Problem {
  const what = `Somebody has edited the report of the proposal ${id}, but the registry never reads a report. The edited text is kept in ${file}. Remove that file when you do not need it, and this message ends.`;
  const textAdvice = `To change the proposal, take its text (\`skill-registry proposals show ${id} --proposed > FILE\`), edit that, and give it back: \`skill-registry proposals edit ${id} --from FILE\`.`;
  const removalAdvice = 'The proposal is a removal, which has no text to change: approve or reject it.';
  const advice = proposed === null ? removalAdvice : textAdvice;
  const message = `${what} ${isWaiting({ state }) ? advice : `The proposal is ${state}, so the edit has no effect.`}`;
  return { code: 'PROPOSAL_FILE_EDITED', severity: 'warning', file, message };
}

export function skillGone(skillId: string): string {
  return `the skill "${skillId}" does not exist any more.`;
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
    recommendations: eventsOf(database, id, 'recommended').map(
      ({ by, at, content }) => ({ by, at, ...content }) as Recommendation,
    ),
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

/** As `proposals.edit` decides. */
export function isEditable({
  kind,
  proposed,
  state,
  conflict,
  skill_id,
}: Pick<ProposalRow, 'kind' | 'proposed' | 'state' | 'conflict' | 'skill_id'>): boolean {
  if (kind === 'delete' || proposed === null) return false;
  return state === 'open' || (state === 'stale' && kind === 'update' && conflict !== skillGone(skill_id));
}

/** For the same file and content, also as it was before a person edited it. @param after - null for a removal. */
export function rejectedBefore(
  database: SqliteDatabase,
  { place, path, base }: Pick<NewProposal, 'place' | 'path' | 'base'>,
  after: Buffer | null,
): ProposalRow | undefined {
  const wanted = after ? contentDigest(after) : removalDigest(base);
  const rows = rowsWhere(database, "state = 'rejected' AND place = ? AND path = ? ORDER BY seq DESC", place, path);
  return rows.find((row) => contentDigestsOf(database, row).includes(wanted));
}

/** Digests of the proposed text and of its versions before edits. No content can be read from them. */
export function contentDigestsOf(
  database: SqliteDatabase,
  { id, proposed, base }: Pick<ProposalRow, 'id' | 'proposed' | 'base'>,
): readonly string[] {
  const events = eventsOf(database, id, 'edited', 'purged');
  const contents = events.map(({ content }) => content as { before?: string; marks?: readonly string[] });
  const digests = [proposed, ...contents.map(({ before }) => before)].filter((digest) => typeof digest === 'string');
  const kept = contents.flatMap(({ marks = [] }) => marks);
  const removed = proposed === null && base !== null ? [removalDigest(base)] : [];
  return [...kept, ...digests.map((digest) => contentDigest(getBlob(database, digest))), ...removed];
}

/** Ignores what nobody sees: line ends, blanks at ends of lines and text, invisible characters, a BOM. */
export function contentDigest(content: Buffer): string {
  const seen = content
    .toString('utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]|\p{Default_Ignorable_Code_Point}/gu, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  return digestOf(`content\n${seen.trimEnd()}`);
}

// --- internal ---

function removalDigest(base: string | null): string {
  return digestOf(`removal\n${base}`);
}

function matchingIds(database: SqliteDatabase, part: string): Readonly<Record<'ids' | 'matching', readonly string[]>> {
  const rows = database.prepare<{ id: string }>('SELECT id FROM proposal ORDER BY seq DESC').all();
  const [ids, wanted] = [rows.map(({ id }) => id), part.toLowerCase()];
  const matching = ids.filter((id) => id.toLowerCase().startsWith(wanted) || id.toLowerCase().endsWith(wanted));
  return { ids, matching };
}

function notFound(wanted: string, known: readonly string[]): CodedError {
  const all = known.length > FEW ? '; all of them: skill-registry proposals list --state all' : '';
  const there = known.length > 0 ? `There are: ${fewOf(known)}${all}` : 'There are none.';
  return new CodedError('PROPOSAL_NOT_FOUND', `No proposal ${quoted(wanted, 100)}. ${there}`, { known });
}

const NOT_NAMED = {
  short: 'is too short. Give the whole id, or at least six characters of its beginning or end',
  part: 'is a part of an id, and only a whole id decides. Give it',
  several: 'is the beginning or end of several ids. Give more characters or the whole id of one',
};

function notNamed(wanted: string, why: keyof typeof NOT_NAMED, matching: readonly string[]): CodedError {
  const message = `${quoted(wanted, 100)} ${NOT_NAMED[why]}: ${fewOf(matching)}`;
  return new CodedError('PROPOSAL_NOT_FOUND', message, { known: matching });
}

const FEW = 5;

function fewOf(ids: readonly string[]): string {
  return ids.slice(0, FEW).join(', ') + (ids.length > FEW ? ' ...' : '');
}
