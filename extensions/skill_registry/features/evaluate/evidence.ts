import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { invalidArgument, skillHeldOrDisabled } from '../../core/skill/errors.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import { type ChangeContext, findSkill } from '../history/change-context.ts';
import { skillKey } from '../history/skill-location.ts';
import { comparePresent, filesAfter } from '../proposals/decide/apply-or-stale.ts';
import { proposalRows, rowOf } from '../proposals/propose/proposal-store.ts';
import type { Proposal, Proposals } from '../proposals/propose/types.ts';
import { runCases } from './check-assertions.ts';
import { type EvaluatedContent, evaluateContent } from './evaluate-content.ts';
import { claimsOf, type KeptResult, keepClaim, keepResult, lastResult, resultOf } from './evidence-store.ts';
import { outputsIn } from './outputs.ts';
import { changedSubject, type EvaluationSource, newSubject, presentSubject, presentSuite } from './subject.ts';
import { invalid } from './suite.ts';
import type { Claim, Evaluation, EvaluationResult, EvaluationSuite, ProposalEvidence, QueryChange } from './types.ts';

/** Increase it when the same content and test cases would give another result. */
const RULES = 2;
/** For trigger queries. */
const MAX_MS = 60_000;
/** For each content of a proposal. */
const MAX_PROPOSAL_MS = 5_000;
const MAX_CLAIMS = 20;

export function createEvaluation(
  context: ChangeContext,
  source: EvaluationSource,
  proposals: Pick<Proposals, 'get'>,
): Evaluation {
  const { writer } = context;
  return {
    async evidence(skillId) {
      const skill = findSkill(context, skillId);
      const { heldBecause = null } = await context.admit({ skill, kind: 'derived', audience: 'person' });
      const { digest, suite } = await presentSuite(context, skill);
      const kept = keptOf(context, skill, { digest, suite: suite.digest });
      return { skillId: skill.id, digest, suite, ...kept, heldBecause };
    },
    async evaluate(skillId, { outputs } = {}) {
      const skill = findSkill(context, skillId);
      const why = skill.remote === 'until-read' ? 'come when it is read' : 'lie on a server, so it is evaluated there';
      if (skill.remote) throw invalidArgument(`The files of "${skill.id}" ${why}.`);
      const subject = await presentSubject(context, source, skill);
      const bytes = Buffer.from(subject.text);
      const { given } = await context.admit({ skill, kind: 'derived', audience: 'model', bytes });
      if (!given) throw skillHeldOrDisabled('SKILL_HELD', skill.id);
      const { digest, suite } = subject;
      const stored = outputs === undefined ? undefined : storedOf(suite, skill, outputs);
      const key = skillKey(skill, context.root);
      const { found: kept } = fromHistory(context, (database) =>
        resultOf(database, key, { digest, suite: suite.digest }),
      );
      const surroundings = surroundingsOf(suite, source);
      if (kept?.surroundings === surroundings && (!stored || stored.digest === kept.outputs))
        return { ...kept.result, reused: true };
      const cases = kept && !stored ? kept.result.cases : await runCases(suite.cases, (one) => stored?.of.get(one.id));
      const at = writer.now();
      const ran = await evaluateContent(subject, cases, { firstHits: source.firstHits, at, maxMs: MAX_MS });
      const result = { ...ran, problems: [...ran.problems, ...(stored?.problems ?? [])] };
      if (suite.digest === null) return result;
      const claims = [...(stored?.of ?? [])].flatMap(([about, { grading }]): Claim | [] =>
        grading ? { kind: 'grading', by: 'grading.json', at, about, digest, ...grading } : [],
      );
      const outputsDigest = stored?.digest ?? kept?.outputs ?? '';
      return { ...result, notKept: await keep(context, key, { result, surroundings, outputs: outputsDigest }, claims) };
    },
    proposalEvidence: async (proposalId) => proposalEvidence(context, source, await proposals.get(proposalId)),
  };
}

// --- internal ---

function storedOf({ cases }: EvaluationSuite, skill: Skill, folder: string) {
  const problems: Problem[] = [];
  const of = outputsIn(folder, cases, (path, what) => problems.push(invalid(skill, path, what)));
  const digests = [...of].map(([id, { digest }]) => [id, digest]);
  return { of, digest: digestOf(JSON.stringify([digests, problems])), problems };
}

/** The answers to trigger queries depend on all skills that models see. */
function surroundingsOf({ queries }: EvaluationSuite, { visible }: EvaluationSource): string {
  const others = queries.length === 0 ? [] : visible().map(({ qualifiedId, digest }) => [qualifiedId, digest]);
  return digestOf(JSON.stringify([RULES, others]));
}

type Of = Pick<EvaluationResult, 'digest' | 'suite'>;

/** Uses nothing from a history that cannot be read. Skills stay readable; the registry reports the problem. */
function fromHistory<T>({ writer }: ChangeContext, read: (database: SqliteDatabase) => T) {
  try {
    return { found: writer.hasHistory() ? read(writer.database()) : undefined, notRead: null };
  } catch (error) {
    return { found: undefined, notRead: reasonOf(writer, error) };
  }
}

function keptOf(context: ChangeContext, skill: Skill, of: Of) {
  const key = skillKey(skill, context.root);
  const { found, notRead } = fromHistory(context, (database) => {
    const kept = resultOf(database, key, of);
    const result = kept ? { ...kept.result, reused: true } : null;
    const proposed = proposalRows(database, 'all', { skillId: skill.id }).filter(({ place }) => place === key);
    const claims = [...claimsOf(database, key), ...proposed.flatMap(claimsOfProposal)];
    claims.sort((a, b) => (a.at > b.at ? -1 : 1));
    const last = kept ? null : (lastResult(database, key) ?? null);
    return { result, last, claims: claims.slice(0, MAX_CLAIMS) };
  });
  return { result: null, last: null, claims: [], ...found, notRead };
}

/** @returns why it could not be kept. */
async function keep(
  { writer }: ChangeContext,
  key: string,
  kept: KeptResult,
  claims: readonly Claim[],
): Promise<string | null> {
  try {
    const written = await writer.ifPossible((database) => {
      for (const claim of claims) keepClaim(database, key, claim);
      keepResult(database, key, kept);
    });
    return 'reason' in written ? written.reason : null;
  } catch (error) {
    return reasonOf(writer, error);
  }
}

function reasonOf(writer: ChangeContext['writer'], error: unknown): string {
  const explained = writer.explain(error);
  if (isCodedError(explained)) return `${explained.code}: ${explained.message}`;
  throw explained;
}

/** Stores nothing, because a rejected content may be purged. */
async function proposalEvidence(
  context: ChangeContext,
  source: EvaluationSource,
  proposal: Proposal,
): Promise<ProposalEvidence> {
  const ran = await runBoth(context, source, proposal);
  const changes = ran.before && ran.after ? changesOf(ran.before, ran.after) : [];
  return { proposalId: proposal.id, skillId: proposal.skillId, ...ran, changes, claims: claimsOfProposal(proposal) };
}

function claimsOfProposal(proposal: Pick<Proposal, 'id' | 'author' | 'created' | 'evidence'>): readonly Claim[] {
  const { id: about, author: by, created: at, evidence: text } = proposal;
  return text === null ? [] : [{ kind: 'proposal', by, at, about, digest: null, text, summary: null }];
}

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
    const [block] = changed ? (await source.heldSkills.inspectAfter(after.skill, after.files())).blocks : [];
    await takeBreak();
    const text = changed?.isProposed ? changed.text : undefined;
    const isBeforeRun = present !== undefined && held === undefined;
    return {
      takenOver: text === undefined ? null : await source.takenOver(proposal.skillId, text),
      before: isBeforeRun ? await run(present, context, source) : null,
      after: changed && !block ? await run(changed, context, source) : null,
      notRun: block
        ? `the new content would be held: ${block.message} (${block.file})`
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
  const plan = comparePresent(context, row);
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
  return evaluateContent(subject, cases, { firstHits, at: writer.now(), maxMs: MAX_PROPOSAL_MS });
}

function changesOf(before: EvaluationResult, after: EvaluationResult): readonly QueryChange[] {
  const found = new Map(before.triggers?.queries.map((one) => [one.query, one.found]));
  return (after.triggers?.queries ?? []).flatMap(({ query, shouldTrigger, found: now }) => {
    const then = found.get(query);
    return then === undefined || then === now ? [] : [{ query, shouldTrigger, before: then, after: now }];
  });
}
