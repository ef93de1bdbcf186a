import { realpathSync } from 'node:fs';
import type { TurnContext } from 'skill-registry/kernel';
import type { ChangeContext } from '../history/change-context.ts';
import { proposalNotFound } from '../history/errors.ts';
import {
  fileEdited,
  findRow,
  newestSeq,
  noteReport,
  type ProposalRow,
  proposalOf,
  proposalRows,
  purgeOf,
  rowsAfter,
} from '../propose/proposal-store.ts';
import { submit } from '../propose/propose.ts';
import { isReportEdited, isReportThere } from '../propose/reports.ts';
import type { Proposal, ProposalFigures, ProposalInput, ProposalStats, Proposals } from '../propose/types.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { approve, recommend, reject } from './decide.ts';
import { edit, proposedText } from './edit.ts';
import { purge } from './purge.ts';

export interface OpenProposals extends Proposals {
  /** Tells of proposals that other processes have made since the last look; the first look only takes note. */
  announce(): void;
}

export function createProposals(context: ChangeContext): OpenProposals {
  const { writer } = context;
  const listeners = new Set<(proposal: Proposal) => void>();
  let seen: number | undefined;
  const shown = (row: ProposalRow): Proposal => proposalOf(writer.database(), row, writer.dataDir);
  const announce = (): void => {
    const database = writer.hasHistory() ? writer.database() : undefined;
    if (database === undefined || seen === undefined) {
      seen = database ? newestSeq(database) : 0;
      return;
    }
    for (const row of rowsAfter(database, seen)) {
      seen = row.seq;
      for (const listener of listeners) listener(shown(row));
    }
  };
  return {
    async propose(input: ProposalInput, turn?: TurnContext) {
      if (seen === undefined) announce();
      const id = await submit(context, input, turn);
      announce();
      const { file, state } = shown(findRow(writer.database(), id));
      return { proposalId: id, file, state };
    },
    list: async (state) => (writer.hasHistory() ? proposalRows(writer.database(), state).map(shown) : []),
    async get(id) {
      if (!writer.hasHistory()) throw proposalNotFound(id, []);
      const row = findRow(writer.database(), id);
      // Somebody has edited or removed its report: it is kept, and written again.
      const dataDir = realpathSync(writer.dataDir);
      if (row.file_due === 1 || purgeOf(writer.database(), row.id) || isReportThere(dataDir, row)) return shown(row);
      const noted = await writer.ifPossible((database) => noteReport(database, row.id, { due: true }));
      const proposal = shown(findRow(writer.database(), row.id));
      const isLeft = 'reason' in noted && isReportEdited(dataDir, row);
      return isLeft ? { ...proposal, problem: fileEdited(row, proposal.file) } : proposal;
    },
    text: (id) => proposedText(context, id),
    edit: (id, change) => edit(context, id, change),
    approve: (id, actor) => approve(context, id, actor),
    reject: (id, actor) => reject(context, id, actor),
    recommend: (id, verdict, actor) => recommend(context, id, verdict, actor),
    purge: (ids, actor) => purge(writer, ids, actor, context.caches),
    stats: async () => proposalStats(writer.hasHistory() ? writer.database() : undefined),
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce,
  };
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
  return { all: figuresOf(rows, undone), byAgent: by(({ author }) => author), bySkill: by((row) => row.skill_id) };
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
    acceptanceRate: decided === 0 ? null : round(approved / decided),
    hoursToDecision: hours.length === 0 ? null : { median: round(medianOf(hours)), mean: round(meanOf(hours)) },
    rolledBackWithin30Days: rows.filter(({ id }) => undone.has(id)).length,
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
