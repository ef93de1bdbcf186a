import type { ChangeContext } from '../history/change-context.ts';
import { proposalDecided, proposalFileInvalid, proposalStale } from '../history/errors.ts';
import type { Operation } from '../history/journal-entries.ts';
import type { Actor, Revision } from '../history/types.ts';
import type { Writer } from '../history/writer.ts';
import { addEvent, type ProposalRow, updateProposal } from '../propose/proposal-store.ts';
import type { Decision, Recommendation } from '../propose/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { applyPlan, type Plan, planOf } from './still-applies.ts';
import { fileOf, isAsSeen, type Taken, takeEdits } from './take-edits.ts';

/** @throws as `Proposals.approve`. */
export async function approve(context: ChangeContext, id: string, actor: Actor): Promise<Decision> {
  const { writer } = context;
  for (;;) {
    const seen = await decidable(context, id);
    const { row } = seen;
    const outcome = await writer.exclusively((database): Decision | Extract<Plan, { stale: string }> | undefined => {
      // Whoever was faster has decided, or somebody has edited the file in the meantime.
      if (!isAsSeen(writer, seen)) return undefined;
      writer.assertSettled(row.place);
      const plan = planOf(context, database, row);
      if ('stale' in plan) {
        database.transaction(() => {
          updateProposal(database, row.id, { state: 'stale', conflict: plan.conflict || plan.stale });
          addEvent(database, row.id, 'stale', { by: actor.by, at: writer.now() }, { reason: plan.stale });
        });
        return plan;
      }
      const { number } = applyPlan(writer, row, plan, actor);
      const { skill_id } = row;
      return { proposal_id: row.id, state: 'approved', skill_id, revision: number, merged: plan.merged };
    });
    if (outcome === undefined) continue;
    await context.refresh();
    if ('stale' in outcome) throw proposalStale(row.id, outcome.stale, outcome.conflict);
    return outcome;
  }
}

/** @throws as `Proposals.reject`. */
export async function reject(
  context: ChangeContext,
  id: string,
  { by, reason }: Actor & { readonly reason: string },
): Promise<Decision> {
  const { writer } = context;
  if (reason.trim() === '') throw invalidArgument('A rejection needs a reason: whoever proposed it learns from it.');
  return whileUndecided(context, id, (row, database) => {
    const decision = { state: 'rejected', decided_by: by, decided_at: writer.now(), decision_reason: reason } as const;
    database.transaction(() => {
      updateProposal(database, row.id, { ...decision, conflict: null });
      addEvent(database, row.id, 'rejected', { by, at: decision.decided_at }, { reason });
    });
    return { proposal_id: row.id, state: 'rejected', skill_id: row.skill_id, revision: null, merged: false };
  });
}

/** @throws as `Proposals.recommend`. */
export async function recommend(
  context: ChangeContext,
  id: string,
  verdict: Recommendation['verdict'],
  { by, reason }: Actor & { readonly reason: string },
): Promise<void> {
  const { writer } = context;
  if (reason.trim() === '') throw invalidArgument('A recommendation needs a reason.');
  await whileUndecided(context, id, (row, database) => {
    database.transaction(() => {
      updateProposal(database, row.id, {});
      addEvent(database, row.id, 'recommended', { by, at: writer.now() }, { verdict, reason });
    });
  });
}

/** Makes a proposal approved in the transaction of its revision. */
export function noteApproved(
  database: SqliteDatabase,
  { proposal, by, at, reason, merged }: Operation,
  { number }: Revision,
): void {
  if (proposal === undefined) return;
  const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason ?? null } as const;
  updateProposal(database, proposal, { ...decision, conflict: null, revision: number });
  addEvent(database, proposal, 'approved', { by, at }, { revision: number });
  if (merged) addEvent(database, proposal, 'merged', { by, at });
}

// --- internal ---

/** With what people have written into its file. @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, PROPOSAL_FILE_INVALID. */
async function decidable(context: ChangeContext, id: string): Promise<Taken> {
  const { writer } = context;
  const taken = await takeEdits(context, id);
  assertUndecided(taken.row);
  if (taken.problem !== undefined) throw proposalFileInvalid(fileOf(writer, taken.row), taken.problem);
  return taken;
}

async function whileUndecided<T>(
  context: ChangeContext,
  id: string,
  use: (row: ProposalRow, database: ReturnType<Writer['database']>) => T,
): Promise<T> {
  const { writer } = context;
  for (;;) {
    const seen = await decidable(context, id);
    const done = await writer.exclusively((database) =>
      isAsSeen(writer, seen) ? { result: use(seen.row, database) } : undefined,
    );
    if (done) return done.result;
  }
}

function assertUndecided({ id, state, decided_by, decided_at }: ProposalRow): void {
  if (state === 'open' || state === 'stale') return;
  throw proposalDecided(id, state, decided_by ?? 'unknown', decided_at ?? 'an unknown time');
}
