import { digestOf } from '../../../lib/digest/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { putBlob } from '../history/revisions.ts';
import type { SkillLocation } from '../history/skill-location.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { addEvent, insertProposal, type NewProposal, proposalRows } from './proposal-store.ts';
import { checksOf, diffOf, proposalId } from './propose.ts';

/** The author of proposals for files that an update could not merge. */
export const UPDATE_AUTHOR = 'origin:update';

/** A text file with changes in the same lines, here and at its origin. */
export interface UpdateConflict {
  readonly path: string;
  /** The installed text; null when it is not known, or when both sides added the file. */
  readonly base: Buffer | null;
  /** The text at the origin. */
  readonly theirs: Buffer;
}

/**
 * Prepares a proposal that replaces the file with the text of the origin. The file was also changed here in the same lines, so the
 * proposal is stale from the beginning, and `proposals edit` shows both sides with conflict marks.
 *
 * @returns its id, and a function that stores it; call that inside `Writer.exclusively`, in a transaction.
 */
export async function prepareConflict(
  context: ChangeContext,
  location: SkillLocation,
  { path, base, theirs }: UpdateConflict,
  justification: string,
): Promise<{ readonly id: string; store(database: SqliteDatabase): void }> {
  const change = { location, kind: 'update', path, before: base, after: theirs } as const;
  const created = context.writer.now();
  const row: NewProposal = {
    id: proposalId(location.skillId, created),
    ...{
      state: 'open',
      kind: 'update',
      skill_id: location.skillId,
      place: location.key,
      source: location.source,
      path,
    },
    ...{
      base: base && digestOf(base),
      proposed: digestOf(theirs),
      diff: diffOf(change),
      justification,
      evidence: null,
    },
    ...{ checks: JSON.stringify(await checksOf(change)), author: UPDATE_AUTHOR, model: null, created },
  };
  return {
    id: row.id,
    store(database) {
      for (const bytes of base ? [base, theirs] : [theirs]) putBlob(database, bytes);
      insertProposal(database, row);
      addEvent(database, row.id, 'created', { by: row.author, at: created });
    },
  };
}

/** Ids of the undecided proposals from earlier updates of a skill. */
export function waitingConflicts({ writer }: ChangeContext, { skillId, key }: SkillLocation): readonly string[] {
  if (!writer.hasHistory()) return [];
  const rows = proposalRows(writer.database(), undefined, { author: UPDATE_AUTHOR, skillId });
  return rows.filter(({ place }) => place === key).map(({ id }) => id);
}
