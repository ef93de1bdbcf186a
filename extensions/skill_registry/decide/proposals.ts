import type { TurnContext } from 'skill-registry/kernel';
import type { ChangeContext } from '../history/change-context.ts';
import type { Proposal, ProposalInput, Proposals } from '../history/types.ts';
import {
  findRow,
  newestSeq,
  type ProposalRow,
  proposalOf,
  proposalRows,
  rowsAfter,
} from '../propose/proposal-store.ts';
import { submit } from '../propose/propose.ts';
import { approve, recommend, reject } from './decide.ts';
import { purge } from './purge.ts';
import { proposalStats } from './stats.ts';
import { fileOf, takeEdits } from './take-edits.ts';

export interface ProposalDesk extends Proposals {
  /** Tells of proposals that other processes have made since the last look; the first look only takes note. */
  announce(): void;
}

export function createProposals(context: ChangeContext): ProposalDesk {
  const { writer } = context;
  const listeners = new Set<(proposal: Proposal) => void>();
  let seen: number | undefined;
  const shown = (row: ProposalRow, problem?: string): Proposal =>
    proposalOf(writer.database(), row, fileOf(writer, row), problem);
  const taken = async (id: string): Promise<Proposal> => {
    const { row, problem } = await takeEdits(context, id, true);
    return shown(row, problem);
  };

  const desk: ProposalDesk = {
    async propose(input: ProposalInput, turn?: TurnContext) {
      seen ??= writer.hasHistory() ? newestSeq(writer.database()) : 0;
      const id = await submit(context, input, turn);
      desk.announce();
      const row = findRow(writer.database(), id);
      return { proposal_id: id, file: fileOf(writer, row), state: row.state };
    },
    async list(state) {
      if (!writer.hasHistory()) return [];
      const found: Proposal[] = [];
      for (const { id } of proposalRows(writer.database(), state)) found.push(await taken(id));
      return found;
    },
    get: taken,
    approve: (id, actor) => approve(context, id, actor),
    reject: (id, actor) => reject(context, id, actor),
    recommend: (id, verdict, actor) => recommend(context, id, verdict, actor),
    purge: (ids, actor) => purge(writer, ids, actor, context.caches),
    stats: async () => proposalStats(writer.hasHistory() ? writer.database() : undefined),
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce() {
      if (!writer.hasHistory()) {
        seen = 0;
        return;
      }
      const database = writer.database();
      if (seen === undefined) {
        seen = newestSeq(database);
        return;
      }
      for (const row of rowsAfter(database, seen)) {
        seen = row.seq;
        for (const listener of listeners) listener(shown(row));
      }
    },
  };
  return desk;
}
