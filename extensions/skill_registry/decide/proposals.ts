import type { TurnContext } from 'skill-registry/kernel';
import type { ChangeContext } from '../history/change-context.ts';
import {
  findRow,
  newestSeq,
  type ProposalRow,
  proposalOf,
  proposalRows,
  rowsAfter,
} from '../propose/proposal-store.ts';
import { submit } from '../propose/propose.ts';
import type { Proposal, ProposalFigures, ProposalInput, ProposalStats, Proposals } from '../propose/types.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { approve, recommend, reject } from './decide.ts';
import { purge } from './purge.ts';
import { fileOf, takeEdits } from './take-edits.ts';

export interface OpenProposals extends Proposals {
  /** Tells of proposals that other processes have made since the last look; the first look only takes note. */
  announce(): void;
}

export function createProposals(context: ChangeContext): OpenProposals {
  const { writer } = context;
  const listeners = new Set<(proposal: Proposal) => void>();
  let seen: number | undefined;
  const shown = (row: ProposalRow, problem?: string): Proposal =>
    proposalOf(writer.database(), row, fileOf(writer, row), problem);
  const taken = async (id: string): Promise<Proposal> => {
    const { row, problem } = await takeEdits(context, id, true);
    return shown(row, problem);
  };

  const proposals: OpenProposals = {
    async propose(input: ProposalInput, turn?: TurnContext) {
      seen ??= writer.hasHistory() ? newestSeq(writer.database()) : 0;
      const id = await submit(context, input, turn);
      proposals.announce();
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
  return proposals;
}

const ROLLBACK_DAYS = 30;
const HOUR_MS = 3_600_000;

/** How proposals have fared: all, by who made them, and by skill. @param database - Undefined where there was never one. */
export function proposalStats(database: SqliteDatabase | undefined): ProposalStats {
  const rows = database ? proposalRows(database, 'all') : [];
  const undone = database ? rolledBack(database) : new Set<string>();
  const by = (keyOf: (row: ProposalRow) => string): Readonly<Record<string, ProposalFigures>> => {
    const groups = new Map<string, ProposalRow[]>();
    for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([key, members]) => [key, figuresOf(members, undone)]));
  };
  return { all: figuresOf(rows, undone), by_agent: by(({ author }) => author), by_skill: by((row) => row.skill_id) };
}

// --- internal ---

function figuresOf(rows: readonly ProposalRow[], undone: ReadonlySet<string>): ProposalFigures {
  const count = (state: ProposalRow['state']): number => rows.filter((row) => row.state === state).length;
  const approved = count('approved');
  const decided = approved + count('rejected');
  const hours = rows.flatMap(({ created, decided_at }) =>
    decided_at === null ? [] : [Math.max(0, Date.parse(decided_at) - Date.parse(created)) / HOUR_MS],
  );
  return {
    open: count('open'),
    stale: count('stale'),
    approved,
    rejected: count('rejected'),
    acceptance_rate: decided === 0 ? null : round(approved / decided),
    hours_to_decision: hours.length === 0 ? null : { median: round(medianOf(hours)), mean: round(meanOf(hours)) },
    rolled_back_within_30_days: rows.filter(({ id }) => undone.has(id)).length,
  };
}

/** Ids of proposals whose revision a roll-back went behind, within 30 days of it. */
function rolledBack(database: SqliteDatabase): ReadonlySet<string> {
  const rows = database
    .prepare(
      `SELECT made.proposal AS id FROM revision made
       JOIN revision back ON back.place = made.place AND back.kind = 'rollback'
         AND back.number > made.number AND back.target < made.number
       WHERE made.proposal IS NOT NULL AND julianday(back.at) - julianday(made.at) <= ?`,
    )
    .all(ROLLBACK_DAYS) as { id: string }[];
  return new Set(rows.map(({ id }) => id));
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = sorted.length % 2 === 1 ? [middle, middle] : [middle - 1, middle];
  return ((sorted[low] ?? 0) + (sorted[high] ?? 0)) / 2;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function round(value: number): number {
  return Number(value.toFixed(4));
}
