import type { ProposalFigures, ProposalStats } from '../history/types.ts';
import { type ProposalRow, proposalRows } from '../propose/proposal-store.ts';
import type { SqliteDatabase } from '../store/open-database.ts';

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
