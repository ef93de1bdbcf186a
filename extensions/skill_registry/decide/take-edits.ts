import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from 'skill-registry/kernel';
import { applyDiff } from '../../../lib/diff/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { proposalNotFound } from '../history/errors.ts';
import { bytesAt, checkSize, checkValid } from '../history/places.ts';
import { getBlob, putBlob } from '../history/revisions.ts';
import { digestOf } from '../history/skill-tree.ts';
import type { Passing, Writer } from '../history/writer.ts';
import { type ProposalEdit, readProposalFile } from '../propose/proposal-file.ts';
import { documentOf, isEdited, proposalPath, readProposalText } from '../propose/proposal-files.ts';
import {
  addEvent,
  findRow,
  markFileDue,
  openDuplicate,
  type ProposalRow,
  purgeOf,
  updateProposal,
} from '../propose/proposal-store.ts';
import { checksOf } from '../propose/propose.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { placeOfRow } from './still-applies.ts';

/** A proposal after what people have written into its file. */
export interface Taken {
  readonly row: ProposalRow;
  /** What the file said then; undefined when there was none. */
  readonly text: string | undefined;
  /** Why the file cannot be used; then `row` is as it was. */
  readonly problem?: string;
}

/**
 * Takes over what a person has changed in the file of an open or stale proposal: diff, justification, evidence. The texts
 * before and after are kept, and the checks are computed anew.
 *
 * @param inPassing - Whoever asks only reads: what cannot be taken over now is in `row` all the same, since it is what a decision
 *   would be about.
 */
export async function takeEdits(context: ChangeContext, id: string, inPassing = false): Promise<Taken> {
  const { writer } = context;
  if (!writer.hasHistory()) throw proposalNotFound(id, []);
  const put = async <T>(use: () => T): Promise<Passing<T>> =>
    inPassing ? writer.inPassing(use) : { result: await writer.exclusively(use) };
  for (;;) {
    const database = writer.database();
    const row = findRow(database, id);
    const found = readProposalText(realpathSync(writer.dataDir), row);
    const isUndecided = row.state === 'open' || row.state === 'stale';
    if ('problem' in found) return { row, text: undefined, ...(isUndecided ? found : {}) };
    const { text } = found;
    if (text === undefined) {
      // Somebody has removed it: as long as it waits, it is written again.
      if (isUndecided && row.file_due === 0) await put(() => markFileDue(writer.database(), row.id));
      return { row, text };
    }
    if (!isEdited(database, row, text)) return { row, text };
    if (!isUndecided) {
      // Of what was purged nothing is kept again.
      if (purgeOf(database, row.id)) return { row, text };
      // Too late: what was written is kept, and the file says again what was decided.
      await put(() => markFileDue(writer.database(), row.id));
      return { row, text };
    }
    const read = readProposalFile(text, documentOf(database, row));
    if ('problem' in read) return { row, text, problem: read.problem };
    const isSame = sameEdit(read.edit, row);
    let fields: Fields = {};
    if (!isSame) {
      try {
        fields = await fieldsOf(context, database, row, read.edit);
      } catch (error) {
        return { row, text, problem: describeError(error) };
      }
    }
    const taken = await put(() =>
      isAsSeen(writer, { row, text }) ? keep(writer.database(), row, text, isSame, fields, writer.now()) : undefined,
    );
    if ('reason' in taken) {
      const { kept: _, ...edited } = fields;
      return { row: { ...row, ...edited }, text };
    }
    if (taken.result?.problem !== undefined) return taken.result;
  }
}

/** Whether nobody has changed the proposal or its file since; inside `exclusively`. */
export function isAsSeen(writer: Writer, { row, text }: Taken): boolean {
  if (findRow(writer.database(), row.id).version !== row.version) return false;
  const present = readProposalText(realpathSync(writer.dataDir), row);
  return !('problem' in present) && present.text === text;
}

/** The file as a person finds it. */
export function fileOf(writer: Writer, row: ProposalRow): string {
  return join(writer.dataDir, proposalPath(row));
}

// --- internal ---

function sameEdit(edit: ProposalEdit, row: ProposalRow): boolean {
  return edit.diff === row.diff && edit.justification === row.justification && edit.evidence === row.evidence;
}

/** `kept`: the contents that the digests are of. */
type Fields = Partial<ProposalRow> & { readonly kept?: readonly Buffer[] };

/** What the edited diff makes of the text it was made against; of a stale proposal, or where that fails, of the present one. */
async function fieldsOf(
  context: ChangeContext,
  database: SqliteDatabase,
  row: ProposalRow,
  edit: ProposalEdit,
): Promise<Fields> {
  const words = { diff: edit.diff, justification: edit.justification, evidence: edit.evidence };
  if (edit.diff === row.diff) return words;
  if (row.kind === 'delete') throw new Error('a deletion has no diff; reject it if it is not what you want.');
  const place = placeOfRow(context, row);
  const base = row.base === null ? null : getBlob(database, row.base);
  const current = row.kind === 'create' ? null : bytesAt(place, row.path, context.limits);
  const reasons: string[] = [];
  for (const before of row.state === 'stale' ? [current, base] : [base, current]) {
    const outcome = applyDiff(before?.toString('utf8') ?? '', edit.diff, row.path, row.skill_id);
    if (!outcome.applied) {
      reasons.push(outcome.reason);
      continue;
    }
    const after = Buffer.from(outcome.text);
    if (before?.equals(after)) throw new Error('its diff changes nothing.');
    checkSize(place, row.path, after, context.limits);
    checkValid(place, row.path, before, after);
    const { kind, path } = row;
    const checks = await checksOf(context, { place, kind, path, before, after });
    const contents = { base: before && digestOf(before), proposed: digestOf(after) };
    const kept = before ? [before, after] : [after];
    return { ...words, ...contents, kept, checks: JSON.stringify(checks), state: 'open', conflict: null };
  }
  throw new Error(`its diff does not apply: ${reasons[0] ?? ''}`);
}

function keep(
  database: SqliteDatabase,
  row: ProposalRow,
  text: string,
  isSame: boolean,
  { kept = [], ...fields }: Fields,
  at: string,
): Taken {
  const next = { ...row, ...fields };
  const twin = next.state === 'open' ? openDuplicate(database, next) : undefined;
  if (twin !== undefined && twin !== row.id)
    return { row, text, problem: `the open proposal ${twin} asks for the same change.` };
  database.transaction(() => {
    const before = putBlob(database, Buffer.from(JSON.stringify(documentOf(database, row))));
    const after = putBlob(database, Buffer.from(text));
    for (const content of kept) putBlob(database, content);
    // What the person wrote is what is known now; it is replaced when the proposal changes.
    updateProposal(database, row.id, { ...fields, file_digest: digestOf(text) });
    if (!isSame) addEvent(database, row.id, 'edited', { by: 'person', at }, { before, after });
  });
  return { row: findRow(database, row.id), text };
}
