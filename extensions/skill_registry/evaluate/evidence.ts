import { isCodedError, type Problem } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { findSkill } from '../history/change-context.ts';
import { skillKey } from '../history/skill-location.ts';
import { proposalRows } from '../propose/proposal-store.ts';
import type { Proposals } from '../propose/types.ts';
import { invalidArgument, skillHeldOrDisabled } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { claimsOf, type KeptResult, keepClaim, keepResult, lastResult, resultOf } from './evidence-store.ts';
import { openOutputs, type StoredOutput } from './outputs.ts';
import { claimsOfProposal, type EvaluationSource, proposalEvidence, textOf } from './proposal-evidence.ts';
import { runCases } from './run-cases.ts';
import { evaluateContent } from './run-checks.ts';
import { presentSubject, presentSuite } from './subject.ts';
import { invalid } from './suite.ts';
import type { Claim, Evaluation, EvaluationResult, EvaluationSuite, SkillEvidence } from './types.ts';

/** Increase it when the same content and test cases would give another result. */
const RULES = 2;
/** For trigger queries. */
const MAX_MS = 60_000;
const MAX_CLAIMS = 20;

export function createEvaluation(
  context: ChangeContext,
  source: EvaluationSource,
  proposals: Pick<Proposals, 'get'>,
): Evaluation {
  const { writer } = context;
  const historyKeyOf = (skill: Skill): string => skillKey(skill, context.root);
  return {
    async evidence(skillId) {
      const skill = findSkill(context, skillId);
      const { heldBecause = null } = await context.admit({ skill, kind: 'derived', audience: 'person' });
      const { digest, suite } = await presentSuite(context, skill);
      return {
        skillId: skill.id,
        digest,
        suite,
        ...keptOf(context, skill, { digest, suite: suite.digest }),
        heldBecause,
      };
    },
    async evaluate(skillId, { outputs } = {}) {
      const skill = findSkill(context, skillId);
      if (skill.remote) throw invalidArgument(`The files of "${skill.id}" lie on a server, so it is evaluated there.`);
      const subject = await presentSubject(context, source, skill);
      const { given } = await context.admit({ skill, kind: 'derived', audience: 'model', ...textOf(subject) });
      if (!given) throw skillHeldOrDisabled('SKILL_HELD', skill.id);
      const { suite } = subject;
      const stored = outputs === undefined ? undefined : storedOf(suite, skill, outputs);
      const before = readKept(context, historyKeyOf(skill), { digest: subject.digest, suite: suite.digest });
      const surroundings = surroundingsOf(suite, source);
      const isSame = before.kept?.surroundings === surroundings;
      if (before.kept && isSame && (stored === undefined || stored.digest === before.kept.outputs)) {
        return { ...before.kept.result, reused: true, notKept: null };
      }
      const isOld = stored === undefined && before.kept !== undefined;
      const cases = isOld ? before.kept.result.cases : await runCases(suite.cases, (one) => stored?.of.get(one.id));
      const at = writer.now();
      const options = { firstHits: source.firstHits, at, until: performance.now() + MAX_MS };
      const ran = await evaluateContent(subject, cases, options);
      const result: EvaluationResult = {
        ...ran,
        problems: [...ran.problems, ...(stored?.problems ?? [])],
        reused: false,
        notKept: null,
      };
      const claims = [...(stored?.of ?? [])].flatMap(([about, { grading }]) =>
        grading
          ? [{ kind: 'grading', by: 'grading.json', at, about, digest: subject.digest, ...grading } satisfies Claim]
          : [],
      );
      const outputsDigest = stored?.digest ?? before.kept?.outputs ?? '';
      const notKept =
        suite.digest === null
          ? null
          : await keep(context, historyKeyOf(skill), { result, surroundings, outputs: outputsDigest }, claims);
      return { ...result, notKept };
    },
    proposalEvidence: async (proposalId) => proposalEvidence(context, source, await proposals.get(proposalId)),
  };
}

// --- internal ---

interface Stored {
  readonly of: ReadonlyMap<string, StoredOutput>;
  readonly digest: string;
  readonly problems: readonly Problem[];
}

function storedOf(suite: EvaluationSuite, skill: Skill, folder: string): Stored {
  const outputs = openOutputs(folder);
  const problems: Problem[] = [];
  const found = suite.cases.flatMap((one) => {
    const output = outputs.of(one, (path, what) => problems.push(invalid(skill, path, what)));
    return output ? [[one.id, output] as const] : [];
  });
  const digest = digestOf(JSON.stringify([found.map(([id, output]) => [id, output.digest]), problems]));
  return { of: new Map(found), digest, problems };
}

/** The answers to trigger queries depend on all skills that models see. */
function surroundingsOf({ queries }: EvaluationSuite, { visible }: EvaluationSource): string {
  const others = queries.length === 0 ? [] : visible().map(({ qualifiedId, digest }) => [qualifiedId, digest]);
  return digestOf(JSON.stringify([RULES, others]));
}

type Of = Pick<EvaluationResult, 'digest' | 'suite'>;

/** Uses nothing from a history that cannot be read. Skills stay readable; the registry reports the problem. */
function readKept(
  { writer }: ChangeContext,
  key: string,
  of: Of,
): { readonly kept: KeptResult | undefined; readonly notRead: string | null } {
  try {
    return { kept: writer.hasHistory() ? resultOf(writer.database(), key, of) : undefined, notRead: null };
  } catch (error) {
    return { kept: undefined, notRead: reasonOf(writer, error) };
  }
}

function keptOf(
  context: ChangeContext,
  skill: Skill,
  of: Of,
): Pick<SkillEvidence, 'result' | 'last' | 'claims' | 'notRead'> {
  const key = skillKey(skill, context.root);
  const { kept, notRead } = readKept(context, key, of);
  const result = kept ? { ...kept.result, reused: true, notKept: null } : null;
  if (notRead !== null || !context.writer.hasHistory()) return { result, last: null, claims: [], notRead };
  const database = context.writer.database();
  const proposed = proposalRows(database, 'all', { skillId: skill.id })
    .filter(({ place }) => place === key)
    .flatMap(claimsOfProposal);
  const claims = [...claimsOf(database, key), ...proposed].sort((a, b) => (a.at > b.at ? -1 : 1));
  const last = result ? null : (lastResult(database, key) ?? null);
  return { result, last, claims: claims.slice(0, MAX_CLAIMS), notRead };
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
