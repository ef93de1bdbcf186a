import { digestOf } from '../../../../../lib/digest/index.ts';
import type { ChangeContext, ConflictProposals } from '../../history/change-context.ts';
import { proposalRows } from './proposal-store.ts';
import { newProposal, storeProposal } from './propose.ts';

/** The author of proposals for files that an update could not merge. */
const UPDATE_AUTHOR = 'origin:update';

/** Stale from the start; `proposals edit` shows both sides. */
export function conflictProposals({ writer }: Pick<ChangeContext, 'writer'>): ConflictProposals {
  return {
    waiting({ skillId, key }) {
      if (!writer.hasHistory()) return [];
      const rows = proposalRows(writer.database(), undefined, { author: UPDATE_AUTHOR, skillId });
      return rows.filter(({ place }) => place === key).map(({ id }) => id);
    },
    async prepare(location, { path, base: before, theirs: after }, justification) {
      const base = before && digestOf(before);
      const request = { location, kind: 'update', path, before, after, base, notes: [] } as const;
      const words = { justification, evidence: null, author: UPDATE_AUTHOR, model: null };
      const row = await newProposal(request, words, writer.now());
      return { id: row.id, store: (database) => storeProposal(database, request, row) };
    },
  };
}
