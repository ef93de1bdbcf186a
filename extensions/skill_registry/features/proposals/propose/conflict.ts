import { digestOf } from '../../../../../lib/digest/index.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import type { SkillLocation } from '../../history/skill-location.ts';
import { proposalRows } from './proposal-store.ts';
import { newProposal, storeProposal } from './propose.ts';

/** The author of proposals for files that an update could not merge. */
export const UPDATE_AUTHOR = 'origin:update';

export interface UpdateConflict {
  readonly path: string;
  /** The installed text; null when unknown, or when both sides added the file. */
  readonly base: Buffer | null;
  readonly theirs: Buffer;
}

/** Stale from the start; `proposals edit` shows both sides. `store`: inside `Writer.exclusively`, in a transaction. */
export async function prepareConflict(
  { writer }: ChangeContext,
  location: SkillLocation,
  { path, base: before, theirs: after }: UpdateConflict,
  justification: string,
): Promise<{ readonly id: string; store(database: SqliteDatabase): void }> {
  const request = {
    location,
    kind: 'update',
    path,
    before,
    after,
    base: before && digestOf(before),
    notes: [],
  } as const;
  const words = { justification, evidence: null, author: UPDATE_AUTHOR, model: null };
  const row = await newProposal(request, words, writer.now());
  return { id: row.id, store: (database) => storeProposal(database, request, row) };
}

export function waitingConflicts({ writer }: ChangeContext, { skillId, key }: SkillLocation): readonly string[] {
  if (!writer.hasHistory()) return [];
  const rows = proposalRows(writer.database(), undefined, { author: UPDATE_AUTHOR, skillId });
  return rows.filter(({ place }) => place === key).map(({ id }) => id);
}
