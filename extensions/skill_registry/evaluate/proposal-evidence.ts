import { describeError, isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../lib/breaks/index.ts';
import { comparePresent, filesAfter } from '../decide/apply-or-stale.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { rowOf } from '../propose/proposal-store.ts';
import type { Proposal } from '../propose/types.ts';
import { runCases } from './run-cases.ts';
import { type EvaluatedContent, evaluateContent } from './run-checks.ts';
import { changedSubject, type EvaluationSource, newSubject, presentSubject } from './subject.ts';
import type { Claim, EvaluationResult, ProposalEvidence, QueryChange } from './types.ts';

/** Per content. */
const MAX_MS = 5_000;

/** Stores nothing, because a rejected content may be purged. */
export async function proposalEvidence(
  context: ChangeContext,
  source: EvaluationSource,
  proposal: Proposal,
): Promise<ProposalEvidence> {
  const ran = await runBoth(context, source, proposal);
  const changes = ran.before && ran.after ? changesOf(ran.before, ran.after) : [];
  return { proposalId: proposal.id, skillId: proposal.skillId, ...ran, changes, claims: claimsOfProposal(proposal) };
}

export function claimsOfProposal(proposal: Pick<Proposal, 'id' | 'author' | 'created' | 'evidence'>): readonly Claim[] {
  const { id: about, author: by, created: at, evidence: text } = proposal;
  return text === null ? [] : [{ kind: 'proposal', by, at, about, digest: null, text, summary: null }];
}

// --- internal ---

type Ran = Pick<ProposalEvidence, 'before' | 'after' | 'notRun' | 'takenOver'>;

async function runBoth(context: ChangeContext, source: EvaluationSource, proposal: Proposal): Promise<Ran> {
  const nothing = (notRun: string): Ran => ({ before: null, after: null, notRun, takenOver: null });
  if (proposal.state === 'stale') return nothing('the proposal does not apply to the present content');
  if (proposal.state !== 'open') return nothing('the proposal is decided');
  try {
    const contents = await contentsOf(context, source, proposal);
    if (contents === undefined) return nothing('the proposal does not apply to the present content');
    const { present, changed, after } = contents;
    await takeBreak();
    const bytes = Buffer.from(present?.text ?? '');
    const { heldBecause: held } = present
      ? await context.admit({ skill: present.skill, kind: 'derived', audience: 'model', bytes })
      : {};
    const [block] = changed ? await source.heldSkills.blocksIn(after.skill, after.files) : [];
    await takeBreak();
    const text = changed?.isProposed ? changed.text : undefined;
    const isBeforeRun = present !== undefined && held === undefined;
    return {
      takenOver: text === undefined ? null : await source.takenOver(proposal.skillId, text),
      before: isBeforeRun ? await run(present, context, source) : null,
      after: changed && !block ? await run(changed, context, source) : null,
      notRun: block
        ? `the new content would be held: ${block.rule} in ${block.file}`
        : held === undefined
          ? null
          : `the present content is held: ${held}`,
    };
  } catch (error) {
    if (isCodedError(error)) return nothing(describeError(error));
    throw error;
  }
}

/** undefined when the proposal has become stale; `changed` is undefined for a deletion. */
async function contentsOf(context: ChangeContext, source: EvaluationSource, proposal: Proposal) {
  const { id, kind, path } = proposal;
  const database = context.writer.database();
  const row = rowOf(database, id);
  const plan = comparePresent(context, database, row);
  if ('stale' in plan) return undefined;
  const after = filesAfter(context, row, plan);
  if (kind === 'create') {
    const changed = plan.after ? await newSubject(context, proposal, plan.after) : undefined;
    return { present: undefined, changed, after };
  }
  if (!after.skill) return undefined;
  const present = await presentSubject(context, source, after.skill);
  const changed = kind === 'delete' ? undefined : await changedSubject(context, present, { path, after: plan.after });
  return { present, changed, after };
}

/** Without outputs, which belong to at most one of the two contents. */
async function run(subject: EvaluatedContent, { writer }: ChangeContext, { firstHits }: EvaluationSource) {
  const cases = await runCases(subject.suite.cases, () => undefined);
  return evaluateContent(subject, cases, { firstHits, at: writer.now(), maxMs: MAX_MS });
}

function changesOf(before: EvaluationResult, after: EvaluationResult): readonly QueryChange[] {
  const found = new Map(before.triggers?.queries.map((one) => [one.query, one.found]));
  return (after.triggers?.queries ?? []).flatMap(({ query, shouldTrigger, found: now }) => {
    const then = found.get(query);
    return then === undefined || then === now ? [] : [{ query, shouldTrigger, before: then, after: now }];
  });
}
