import { isCodedError, type Problem, z } from 'skill-registry/kernel';
import type { Skill } from '../../skill/skill.ts';
import type { Searcher } from '../searcher.ts';
import type { StolenQuery } from '../types.ts';

/** A query for which a skill should be found first, or should not, as its author says. */
export interface TriggerQuery {
  readonly skill: Skill;
  readonly query: string;
  readonly shouldTrigger: boolean;
}

/** A trigger query whose first hit changes. */
export interface RetrievalChange {
  readonly query: string;
  /** The skill that has the query. */
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  readonly before: string | null;
  readonly after: string | null;
}

const FILE = 'evals/trigger-eval.json';
const MAX_BYTES = 262_144;
const MAX_ROWS = 500;

/**
 * Reads the trigger queries of skills: the rows of `evals/trigger-eval.json`, and their trigger keywords. An invalid file is a
 * TRIGGER_EVAL_INVALID problem.
 *
 * @param readFile - Reads a file of a skill with at most `maxBytes`; throws as `readContained`, or gives undefined when there is none.
 */
export async function triggerQueries(
  skills: readonly Skill[],
  readFile: (skill: Skill, path: string, maxBytes: number) => Buffer | undefined,
  takeBreak: () => Promise<void>,
): Promise<{ readonly queries: readonly TriggerQuery[]; readonly problems: readonly Problem[] }> {
  let rows: ReturnType<typeof makeRows> | undefined;
  const queries: TriggerQuery[] = [];
  const problems: Problem[] = [];
  for (const skill of skills) {
    await takeBreak();
    for (const query of skill.triggerKeywords) queries.push({ skill, query, shouldTrigger: true });
    try {
      const bytes = readFile(skill, FILE, MAX_BYTES);
      if (!bytes) continue;
      const found: unknown = JSON.parse(bytes.toString('utf8'));
      rows ??= makeRows();
      for (const { query, should_trigger } of rows.parse(found)) {
        queries.push({ skill, query, shouldTrigger: should_trigger });
      }
    } catch (error) {
      if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) problems.push(invalid(skill, error));
    }
  }
  return { queries, problems };
}

/**
 * The first hit of each query; null when nothing is found. In slices, because one search takes milliseconds.
 *
 * @param until - As `performance.now()` gives it: after that the rest is not tried and is undefined. Default: all are tried.
 */
export async function firstHits(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly string[],
  takeBreak: () => Promise<void>,
  until: number = Number.POSITIVE_INFINITY,
): Promise<readonly (Skill | null | undefined)[]> {
  const hits: (Skill | null | undefined)[] = [];
  for (const query of queries) {
    await takeBreak();
    const isTried = performance.now() < until;
    hits.push(isTried ? (searcher.search(skills, query).hits[0]?.skill ?? null) : undefined);
  }
  return hits;
}

/**
 * Trigger queries whose first hit is another skill although it should be this one, or this one although it should not.
 */
export async function stolenQueries(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly TriggerQuery[],
  takeBreak: () => Promise<void>,
): Promise<readonly StolenQuery[]> {
  const texts = queries.map(({ query }) => query);
  const hits = await firstHits(searcher, skills, texts, takeBreak);
  return queries.flatMap(({ skill, query, shouldTrigger }, at) => {
    const found = hits[at]?.id ?? null;
    if ((found === skill.id) === shouldTrigger) return [];
    return [{ query, skillId: skill.id, shouldTrigger, found }];
  });
}

/**
 * What a model would see if a skill had this SKILL.md.
 *
 * @param skills - The skills that models see. `skill` may be missing: it may be new or hidden.
 * @param text - The whole new SKILL.md; a text without a header removes the skill.
 */
export function withText(searcher: Searcher, skills: readonly Skill[], skill: Skill, text: string): readonly Skill[] {
  const proposed = searcher.propose(skill, text);
  // Models cannot find a skill that they do not see.
  const shown = proposed?.modelInvocable ? [proposed] : [];
  return skills.includes(skill) ? skills.flatMap((one) => (one === skill ? shown : one)) : [...skills, ...shown];
}

// --- internal ---

/** Made when a file is there, because loading zod takes longer than most commands. */
function makeRows() {
  const row = z.object({ query: z.string().trim().min(1).max(2000), should_trigger: z.boolean() });
  return z.array(row).max(MAX_ROWS);
}

function invalid(skill: Skill, error: unknown): Problem {
  const reason =
    error instanceof z.ZodError
      ? (error.issues[0]?.message ?? 'wrong shape')
      : error instanceof Error
        ? error.message
        : String(error);
  const message = `The trigger queries in ${FILE} are not used (${reason}). Write a list of up to ${MAX_ROWS} { "query": text, "should_trigger": true or false }.`;
  return { code: 'TRIGGER_EVAL_INVALID', severity: 'warning', file: skill.file, message };
}
