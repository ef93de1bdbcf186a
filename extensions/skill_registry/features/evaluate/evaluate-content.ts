import { realpathSync } from 'node:fs';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { countTokensInSlices, loadTokenCounter } from '../../../../lib/text/index.ts';
import { BULLETS, withShortLines } from '../../core/show/formats.ts';
import { bodyOf } from '../../core/skill/frontmatter.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { specViolations } from '../validate/spec-rules.ts';
import { strictViolations } from '../validate/strict-rules.ts';
import type { Overlap } from './overlap/overlap.ts';
import type { CaseResult, EvaluationResult, EvaluationSuite, TriggerResult } from './types.ts';

export interface EvaluatedContent {
  /** With the fields that `text` has. */
  readonly skill: Skill;
  readonly text: string;
  /** Of all files. */
  readonly digest: string;
  readonly suite: EvaluationSuite;
  readonly profile: EvaluationResult['validity']['profile'];
  /** Whether models see it, so that a search can find it. */
  readonly isShown: boolean;
  /** The search runs as if the skill had this text. */
  readonly isProposed: boolean;
}

/** @param maxMs - After it no query is tried. */
export async function evaluateContent(
  subject: EvaluatedContent,
  cases: readonly CaseResult[],
  { firstHits, at, maxMs }: Pick<Overlap, 'firstHits'> & { readonly at: string; readonly maxMs: number },
): Promise<EvaluationResult> {
  const until = performance.now() + maxMs;
  const { skill, digest, suite } = subject;
  const validity = { profile: subject.profile, errors: violations(subject) };
  await takeBreak();
  const triggers = suite.queries.length === 0 ? null : await runQueries(subject, firstHits, until);
  const part = { validity, triggers, cases };
  await takeBreak();
  const result = { totals: totalsOf(part), ...part, tokens: await tokensOf(subject), problems: suite.problems };
  return { skillId: skill.id, digest, suite: suite.digest, at, ...result, reused: false, notKept: null };
}

// --- internal ---

type Checked = Pick<EvaluationResult, 'validity' | 'triggers' | 'cases'>;

function totalsOf({ validity, triggers, cases }: Checked): EvaluationResult['totals'] {
  const verdicts = [
    validity.errors.length === 0,
    ...(triggers?.queries ?? []).map(({ passed }) => passed),
    ...cases.flatMap(({ assertions }) => assertions.map(({ passed }) => passed)),
  ];
  const passed = verdicts.filter(Boolean).length;
  const notRun = cases.reduce((sum, one) => sum + one.notRun, triggers?.notTried ?? 0);
  return { passed, failed: verdicts.length - passed, notRun };
}

/** Other tools apply the rules of the standard, so a lenient source is checked too. */
function violations({ skill, text, profile }: EvaluatedContent): readonly string[] {
  // Without a folder, there is no folder name to compare.
  const name = skill.dir === null ? undefined : skill.id;
  const found =
    profile === 'strict' && skill.dir !== null
      ? strictViolations(text, skill.id, realpathSync(skill.dir)).violations
      : specViolations(text, name);
  return found.map(({ message, line }) => `${message} (line ${line})`);
}

async function tokensOf({ skill, text, isShown }: EvaluatedContent): Promise<EvaluationResult['tokens']> {
  const count = await loadTokenCounter();
  const l1 = isShown ? count(`${withShortLines(BULLETS, count).entry(skill)}\n`) : null;
  return { l1, l2: await countTokensInSlices(bodyOf(text), takeBreak) };
}

async function runQueries(
  { skill, text, suite, isShown, isProposed }: EvaluatedContent,
  firstHits: Overlap['firstHits'],
  until: number,
): Promise<TriggerResult> {
  const queries = suite.queries.map(({ query }) => query);
  const as = isProposed ? { skillId: skill.id, text } : undefined;
  const hits = isShown ? await firstHits(queries, as, until) : [];
  const results = suite.queries.flatMap(({ query, shouldTrigger }, at) => {
    const hit = hits[at];
    if (hit === undefined) return [];
    const isOwn = hit?.qualifiedId === skill.qualifiedId;
    // Another skill may have the same id.
    const found = hit && (hit.id === skill.id && !isOwn ? hit.qualifiedId : hit.id);
    return [{ query, shouldTrigger, found, passed: isOwn === shouldTrigger, isOwn }];
  });
  const right = results.filter(({ isOwn, shouldTrigger }) => isOwn && shouldTrigger).length;
  const share = (of: number): number | null => (of === 0 ? null : Number((right / of).toFixed(4)));
  return {
    queries: results.map(({ isOwn: _, ...result }) => result),
    notTried: queries.length - results.length,
    precision: share(results.filter(({ isOwn }) => isOwn).length),
    recall: share(results.filter(({ shouldTrigger }) => shouldTrigger).length),
  };
}
