import { describeError, isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../lib/breaks/index.ts';
import { comparePresent, type FilesAfter, filesAfter } from '../decide/apply-or-stale.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { rowOf } from '../propose/proposal-store.ts';
import type { Proposal } from '../propose/types.ts';
import type { Overlap } from '../search/overlap/overlap.ts';
import type { HeldSkills } from '../trust/held-skills.ts';
import { runCases } from './run-cases.ts';
import { type EvaluatedContent, evaluateContent } from './run-checks.ts';
import { changedSubject, newSubject, type PresentSource, presentSubject } from './subject.ts';
import type { Claim, EvaluationResult, ProposalEvidence, QueryChange } from './types.ts';

export interface EvaluationSource extends PresentSource, Pick<Overlap, 'takenOver'> {
  readonly heldSkills: Pick<HeldSkills, 'filesOf' | 'blocksIn'>;
}

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

export function claimsOfProposal({
  id,
  author,
  created,
  evidence,
}: Pick<Proposal, 'id' | 'author' | 'created' | 'evidence'>): readonly Claim[] {
  if (evidence === null) return [];
  return [{ kind: 'proposal', by: author, at: created, about: id, digest: null, text: evidence, summary: null }];
}

/** SKILL.md, for the check whether it may be given out. */
export function textOf({ text }: EvaluatedContent): { readonly bytes: Uint8Array } {
  return { bytes: Buffer.from(text) };
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
    const { heldBecause: held } = present
      ? await context.admit({ skill: present.skill, kind: 'derived', audience: 'model', ...textOf(present) })
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

interface Contents {
  readonly present: EvaluatedContent | undefined;
  /** undefined for a deletion. */
  readonly changed: EvaluatedContent | undefined;
  readonly after: FilesAfter;
}

/** undefined when the proposal has become stale. */
async function contentsOf(
  context: ChangeContext,
  source: EvaluationSource,
  { id, kind, skillId, path, source: sourceId }: Proposal,
): Promise<Contents | undefined> {
  const database = context.writer.database();
  const row = rowOf(database, id);
  const plan = comparePresent(context, database, row);
  if ('stale' in plan) return undefined;
  const after = filesAfter(context, row, plan);
  if (kind === 'create') {
    const made = plan.after && (await newSubject(context, { skillId, source: sourceId }, plan.after));
    return { present: undefined, changed: made ?? undefined, after };
  }
  if (!after.skill) return undefined;
  const present = await presentSubject(context, source, after.skill);
  if (kind === 'delete') return { present, changed: undefined, after };
  return { present, changed: await changedSubject(context, present, { path, after: plan.after }), after };
}

/** Without outputs, which belong to at most one of the two contents. */
async function run(
  subject: EvaluatedContent,
  { writer }: ChangeContext,
  { firstHits }: EvaluationSource,
): Promise<EvaluationResult> {
  const cases = await runCases(subject.suite.cases, () => undefined);
  const ran = await evaluateContent(subject, cases, { firstHits, at: writer.now(), until: performance.now() + MAX_MS });
  return { ...ran, reused: false, notKept: null };
}

function changesOf(before: EvaluationResult, after: EvaluationResult): readonly QueryChange[] {
  const found = new Map(before.triggers?.queries.map((one) => [one.query, one.found]));
  return (after.triggers?.queries ?? []).flatMap(({ query, shouldTrigger, found: now }) => {
    const then = found.get(query);
    return then === undefined || then === now ? [] : [{ query, shouldTrigger, before: then, after: now }];
  });
}
