import { realpathSync } from 'node:fs';
import { describeError, type TurnContext } from 'skill-registry/kernel';
import { unlessCoded } from '../../../../../lib/errors/index.ts';
import { oneLine } from '../../../../../lib/text/index.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import { compareLevels } from '../../guard/inspect/rule-set.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import type { FilesAfter } from '../../history/inspected-change.ts';
import { type Check, type Fact, listChecks } from '../checks/checks.ts';
import { isWaiting } from '../propose/describe.ts';
import type { ProposalRow } from '../propose/proposal-store.ts';
import * as store from '../propose/proposal-store.ts';
import { submit } from '../propose/propose.ts';
import { presentReport, proposalInReport } from '../propose/reports.ts';
import type {
  Proposal,
  ProposalFigures,
  ProposalInput,
  ProposalReceipt,
  ProposalStats,
  Proposals,
  ProposedFile,
  RetrievalChange,
} from '../propose/types.ts';
import { comparePresent, fileAfter, filesAfter, presentState, skillOf, withPresentState } from './apply-or-stale.ts';
import { approve, findUndecided, recommend, reject, whyPlanAlone } from './decide.ts';
import { edit, proposedText } from './edit.ts';
import { purge } from './purge.ts';

export interface OpenProposals extends Omit<Proposals, 'onArrival'> {
  /** As an approval would leave them now; undefined when the proposal does not apply. */
  filesAfter(id: string): Promise<FilesAfter | undefined>;
  fileAfter(id: string): ProposedFile;
  /** Why it is no plain change of the body of SKILL.md; null when it is one, by its texts as they are now. */
  whyAlone(id: string): Promise<string | null>;
  /** The skill that it changes or has changed, even if another one has its id now. */
  skillOf(id: string): Skill | undefined;
  /** Calls the listeners for proposals of other processes since the last call. The first call calls none. */
  announce(): void;
}

/** What is found out by running something. */
export interface ProposalEvidence {
  /** For a person who looks at a proposal that waits. */
  shows(proposalId: string): Promise<string>;
  /** For an agent that reviews it. */
  tells(proposalId: string): Promise<object>;
  /** The trigger queries whose first hit changes when the skill's SKILL.md becomes `text`. */
  retrievalEffect(skillId: string, text: string): Promise<readonly RetrievalChange[]>;
}

/** @param listeners - Called for new proposals. @param retrievalEffect - Default: it is not said. */
export function createProposals(
  context: ChangeContext,
  listeners: ReadonlySet<(proposal: Proposal) => void>,
  retrievalEffect?: ProposalEvidence['retrievalEffect'],
): OpenProposals {
  const { writer } = context;
  let seen: number | undefined;
  const shown = (row: ProposalRow): Proposal => {
    const proposal = store.proposalOf(writer.database(), row, writer.dataDir);
    // From the last write of this process; opening the registry writes a due report.
    const unwritten = writer
      .problems()
      .find(({ code, details }) => code === 'WRITE_FAILED' && details?.proposal === row.id);
    return unwritten && !proposal.problem ? { ...proposal, problem: unwritten } : proposal;
  };
  const look = async (stored: ProposalRow): Promise<Proposal> => {
    const { row, plan } = presentState(context, stored);
    const proposal = shown(row);
    const after = isSkillFileName(row.path) ? plan?.after : undefined;
    return after && retrievalEffect ? withRetrieval(retrievalEffect, proposal, after.toString('utf8')) : proposal;
  };
  const announce = (): void => {
    const database = writer.hasHistory() ? writer.database() : undefined;
    if (database === undefined || seen === undefined) {
      seen = (database && store.rowsWhere(database, 'TRUE ORDER BY seq DESC LIMIT 1')[0]?.seq) ?? 0;
      return;
    }
    for (const row of store.rowsWhere(database, 'seq > ? ORDER BY seq', seen)) {
      seen = row.seq;
      for (const listener of listeners) listener(shown(row));
    }
  };
  const propose = async (input: ProposalInput, turn?: TurnContext): Promise<ProposalReceipt> => {
    if (seen === undefined) announce();
    const receipt = await submit(context, input, turn);
    announce();
    return receipt;
  };
  return {
    propose,
    import: async (report) => propose(proposalInReport(report)),
    async list(state, filter) {
      if (!writer.hasHistory()) return [];
      const isDecided = state === 'approved' || state === 'rejected';
      const { limit = Number.POSITIVE_INFINITY, ...only } = filter ?? {};
      const stored = isDecided || state === 'all' ? state : undefined;
      const rows = store.proposalRows(writer.database(), stored, only);
      if (isDecided) return rows.slice(0, limit).map(shown);
      const isAny = state === 'all' || state === undefined;
      const present = await withPresentState(context, isAny ? rows.slice(0, limit) : rows);
      return present
        .filter((row) => isAny || row.state === state)
        .slice(0, limit)
        .map(shown);
    },
    async get(id) {
      const row = store.findRow(store.historyFor(id, writer), id);
      // If somebody edited or removed the report, it is written again; an edited one is renamed first.
      const dataDir = realpathSync(writer.dataDir);
      if (row.file_due === 1 || store.purgeOf(writer.database(), row.id) || presentReport(dataDir, row)?.isOurs)
        return look(row);
      const noted = await writer.ifPossible((database) => store.noteReport(database, row.id, { due: true }));
      const proposal = await look(store.rowOf(writer.database(), row.id));
      const isLeft = 'reason' in noted && presentReport(dataDir, row)?.isOurs === false;
      return isLeft ? { ...proposal, problem: store.fileEdited(row, proposal.file) } : proposal;
    },
    text: (id) => proposedText(context, id),
    async filesAfter(id) {
      const row = store.rowOf(store.historyFor(id, writer), id);
      if (!isWaiting(row)) return undefined;
      // `approve` throws the reason.
      return unlessCoded(() => {
        const plan = comparePresent(context, row);
        return 'stale' in plan ? undefined : filesAfter(context, row, plan);
      }, undefined);
    },
    fileAfter: (id) => fileAfter(context, findUndecided(writer, id)),
    async whyAlone(id) {
      const row = store.rowOf(store.historyFor(id, writer), id);
      return isWaiting(row) ? whyPlanAlone(row, presentState(context, row).plan) : 'it is decided';
    },
    skillOf: (id) => skillOf(context, store.rowOf(store.historyFor(id, writer), id)),
    edit: (...given) => edit(context, ...given),
    approve: (...given) => approve(context, ...given),
    reject: (...given) => reject(context, ...given),
    recommend: (...given) => recommend(context, ...given),
    purge: (ids, actor) => purge(writer, ids, actor, context.caches),
    async stats() {
      if (!writer.hasHistory()) return proposalStats([], new Set());
      const database = writer.database();
      const rows = await withPresentState(context, store.proposalRows(database, 'all'));
      return proposalStats(rows, rolledBack(database));
    },
    announce,
  };
}

/** Not stored, because it depends on the other skills. @param after - SKILL.md as an approval would leave it. */
export async function withRetrieval<Shown extends Pick<Proposal, 'skillId' | 'checks'>>(
  retrievalEffect: ProposalEvidence['retrievalEffect'],
  proposal: Shown,
  after: string,
): Promise<Shown> {
  // Earlier releases stored it.
  const stored = proposal.checks.filter(({ kind }) => kind !== 'retrieval');
  const found = await retrievalEffect(proposal.skillId, after).then(retrievalChecks, (error: unknown) => {
    const why = `The effect on retrieval could not be computed: ${oneLine(describeError(error), 300)}`;
    return listChecks('retrieval', [{ level: 'warn', what: why }]);
  });
  return { ...proposal, checks: [...stored, ...found].sort((one, other) => compareLevels(one.level, other.level)) };
}

// --- internal ---

function retrievalChecks(changes: readonly RetrievalChange[]): readonly Check[] {
  const facts = changes.map(({ query, skillId, before, after }): Fact => {
    const what = `"${query}", a query of ${skillId}, would find ${after ?? 'nothing'} instead of ${before ?? 'nothing'}`;
    return { level: 'warn', what: oneLine(what, 300) };
  });
  return listChecks('retrieval', facts.length > 0 ? facts : [{ what: 'No stored trigger query changes its top hit' }]);
}

const ROLLBACK_DAYS = 30;
const HOUR_MS = 3_600_000;

function proposalStats(rows: readonly ProposalRow[], undone: ReadonlySet<string>): ProposalStats {
  const by = (keyOf: (row: ProposalRow) => string): Readonly<Record<string, ProposalFigures>> => {
    const groups = new Map<string, ProposalRow[]>();
    for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([key, members]) => [key, figuresOf(members, undone)]));
  };
  return { all: figuresOf(rows, undone), byAgent: by(({ author }) => author), bySkill: by((row) => row.skill_id) };
}

function figuresOf(rows: readonly ProposalRow[], undone: ReadonlySet<string>): ProposalFigures {
  const count = (state: ProposalRow['state']): number => rows.filter((row) => row.state === state).length;
  const approved = count('approved');
  const decided = approved + count('rejected');
  const hours = rows
    .flatMap((row) => (row.decided_at === null ? [] : Date.parse(row.decided_at) - Date.parse(row.created)))
    .map((time) => Math.max(0, time) / HOUR_MS)
    .sort((a, b) => a - b);
  const middle = hours.slice((hours.length - 1) >> 1, (hours.length >> 1) + 1);
  return {
    open: count('open'),
    stale: count('stale'),
    approved,
    rejected: count('rejected'),
    acceptanceRate: decided === 0 ? null : round(approved / decided),
    hoursToDecision: hours.length === 0 ? null : { median: meanOf(middle), mean: meanOf(hours) },
    rolledBackWithin30Days: rows.filter(({ id }) => undone.has(id)).length,
  };
}

function rolledBack(database: SqliteDatabase): ReadonlySet<string> {
  const sql = `SELECT made.proposal AS id FROM revision made
    JOIN revision back ON back.place = made.place AND back.kind = 'rollback'
      AND back.number > made.number AND back.target < made.number
    WHERE made.proposal IS NOT NULL AND julianday(back.at) - julianday(made.at) <= ?`;
  const rows = database.prepare<{ id: string }>(sql).all(ROLLBACK_DAYS);
  return new Set(rows.map(({ id }) => id));
}

function meanOf(values: readonly number[]): number {
  return round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function round(value: number): number {
  return Number(value.toFixed(4));
}
