import { realpathSync } from 'node:fs';
import { invalidArgument } from '../errors.ts';
import { proposalDecided, proposalFileInvalid, proposalStale } from './errors.ts';
import { applyPlan, type Plan, planOf } from './plan.ts';
import { readProposalText } from './proposal-files.ts';
import { addEvent, findRow, type ProposalRow, updateProposal } from './proposal-store.ts';
import type { RetrievalEffect } from './propose.ts';
import { fileOf, takeEdits } from './take-edits.ts';
import type { Shelf } from './targets.ts';
import type { Actor, Decision, Recommendation } from './types.ts';
import type { Writer } from './writer.ts';

/** @throws as `Proposals.approve`. */
export async function approve(
  shelf: Shelf,
  writer: Writer,
  id: string,
  actor: Actor,
  retrieval: RetrievalEffect | undefined,
): Promise<Decision> {
  for (;;) {
    const row = await decidable(shelf, writer, id, retrieval);
    const text = readProposalText(realpathSync(writer.dataDir), row);
    const outcome = await writer.exclusively((database): Decision | Extract<Plan, { stale: string }> | undefined => {
      // Whoever was faster has decided, or somebody has edited the file in the meantime.
      const now = findRow(database, row.id);
      if (now.version !== row.version || readProposalText(realpathSync(writer.dataDir), now) !== text) return undefined;
      const plan = planOf(shelf, database, now);
      if ('stale' in plan) {
        updateProposal(database, now.id, { state: 'stale', conflict: plan.conflict || plan.stale });
        addEvent(database, now.id, 'stale', { by: actor.by, at: writer.now() }, { reason: plan.stale });
        return plan;
      }
      const { number } = applyPlan(writer, now, plan, actor);
      const { skill_id } = now;
      return { proposal_id: now.id, state: 'approved', skill_id, revision: number, merged: plan.merged };
    });
    if (outcome === undefined) continue;
    await shelf.refresh();
    if ('stale' in outcome) throw proposalStale(row.id, outcome.stale, outcome.conflict);
    return outcome;
  }
}

/** @throws as `Proposals.reject`. */
export async function reject(
  shelf: Shelf,
  writer: Writer,
  id: string,
  { by, reason }: Actor & { readonly reason: string },
  retrieval: RetrievalEffect | undefined,
): Promise<Decision> {
  if (reason.trim() === '') throw invalidArgument('A rejection needs a reason: whoever proposed it learns from it.');
  return whileUndecided(shelf, writer, id, retrieval, (row, database) => {
    const decision = { state: 'rejected', decided_by: by, decided_at: writer.now(), decision_reason: reason } as const;
    database
      .transaction(() => {
        updateProposal(database, row.id, { ...decision, conflict: null });
        addEvent(database, row.id, 'rejected', { by, at: decision.decided_at }, { reason });
      })
      .immediate();
    return { proposal_id: row.id, state: 'rejected', skill_id: row.skill_id, revision: null, merged: false };
  });
}

/** @throws as `Proposals.recommend`. */
export async function recommend(
  shelf: Shelf,
  writer: Writer,
  id: string,
  verdict: Recommendation['verdict'],
  { by, reason }: Actor & { readonly reason: string },
  retrieval: RetrievalEffect | undefined,
): Promise<void> {
  if (reason.trim() === '') throw invalidArgument('A recommendation needs a reason.');
  await whileUndecided(shelf, writer, id, retrieval, (row, database) => {
    database
      .transaction(() => {
        updateProposal(database, row.id, {});
        addEvent(database, row.id, 'recommended', { by, at: writer.now() }, { verdict, reason });
      })
      .immediate();
  });
}

// --- internal ---

/** With what people have written into its file. @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, PROPOSAL_FILE_INVALID. */
async function decidable(
  shelf: Shelf,
  writer: Writer,
  id: string,
  retrieval: RetrievalEffect | undefined,
): Promise<ProposalRow> {
  const { row, problem } = await takeEdits(shelf, writer, id, retrieval);
  assertUndecided(row);
  if (problem !== undefined) throw proposalFileInvalid(fileOf(writer, row), problem);
  return row;
}

async function whileUndecided<T>(
  shelf: Shelf,
  writer: Writer,
  id: string,
  retrieval: RetrievalEffect | undefined,
  use: (row: ProposalRow, database: ReturnType<Writer['database']>) => T,
): Promise<T> {
  for (;;) {
    const row = await decidable(shelf, writer, id, retrieval);
    const text = readProposalText(realpathSync(writer.dataDir), row);
    const done = await writer.exclusively((database) => {
      const now = findRow(database, row.id);
      if (now.version !== row.version || readProposalText(realpathSync(writer.dataDir), now) !== text) return undefined;
      return { result: use(now, database) };
    });
    if (done) return done.result;
  }
}

function assertUndecided({ id, state, decided_by, decided_at }: ProposalRow): void {
  if (state === 'open' || state === 'stale') return;
  throw proposalDecided(id, state, decided_by ?? 'unknown', decided_at ?? 'an unknown time');
}
