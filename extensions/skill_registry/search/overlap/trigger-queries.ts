import { isCodedError, type Problem, z } from 'skill-registry/kernel';
import type { Skill } from '../../skill/skill.ts';
import type { Searcher } from '../searcher.ts';
import type { StolenQuery } from '../types.ts';

/** A query its author says a skill should, or should not, be chosen for. */
export interface TriggerQuery {
  readonly skill: Skill;
  readonly query: string;
  readonly shouldTrigger: boolean;
}

/** A trigger query that would find another skill first. */
export interface RetrievalChange {
  readonly query: string;
  /** Whose query it is. */
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  readonly before: string | null;
  readonly after: string | null;
}

const FILE = 'evals/trigger-eval.json';
const MAX_BYTES = 262_144;
const MAX_ROWS = 500;

/**
 * The trigger queries that skills carry: the rows of `evals/trigger-eval.json`, and their trigger keywords. A file that is not
 * as it must be is a TRIGGER_EVAL_INVALID problem.
 *
 * @param readFile - A file of a skill, contained, of at most so many bytes; throws as `readContained` of the kernel.
 */
export async function triggerQueries(
  skills: readonly Skill[],
  readFile: (skill: Skill, path: string, maxBytes: number) => Buffer,
  takeBreak: () => Promise<void>,
): Promise<{ readonly queries: readonly TriggerQuery[]; readonly problems: readonly Problem[] }> {
  // Made here: to load zod takes longer than most commands have to work.
  const row = z.object({ query: z.string().trim().min(1).max(2000), should_trigger: z.boolean() });
  const rows = z.array(row).max(MAX_ROWS);
  const queries: TriggerQuery[] = [];
  const problems: Problem[] = [];
  for (const skill of skills) {
    await takeBreak();
    for (const query of skill.triggerKeywords) queries.push({ skill, query, shouldTrigger: true });
    try {
      const found: unknown = JSON.parse(readFile(skill, FILE, MAX_BYTES).toString('utf8'));
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
 * Trigger queries whose best hit is not as their author wants it: another skill's where it should be this one, or this one
 * where it should not.
 */
export function stolenQueries(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly TriggerQuery[],
): readonly StolenQuery[] {
  return queries.flatMap(({ skill, query, shouldTrigger }) => {
    const found = searcher.search(skills, query).hits[0]?.skill.id ?? null;
    if ((found === skill.id) === shouldTrigger) return [];
    return [{ query, skillId: skill.id, shouldTrigger, found }];
  });
}

/**
 * What a new text of one skill would do to search: the trigger queries, of any skill, whose best hit would be another one.
 * Nothing is changed by asking.
 *
 * @param skills - What models see. `skill` need not be among them: it is new, or they do not see it yet.
 * @param text - The whole new SKILL.md; one that says nothing takes the skill away.
 */
export function retrievalEffect(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly TriggerQuery[],
  skill: Skill,
  text: string,
): readonly RetrievalChange[] {
  const proposed = searcher.propose(skill, text);
  // What models would not see is found by none of them.
  const shown = proposed?.modelInvocable ? [proposed] : [];
  const after = skills.includes(skill) ? skills.flatMap((one) => (one === skill ? shown : one)) : [...skills, ...shown];
  const best = (all: readonly Skill[], query: string): string | null =>
    searcher.search(all, query).hits[0]?.skill.id ?? null;
  return queries.flatMap(({ skill: owner, query, shouldTrigger }) => {
    const [now, then] = [best(skills, query), best(after, query)];
    return now === then ? [] : [{ query, skillId: owner.id, shouldTrigger, before: now, after: then }];
  });
}

// --- internal ---

function invalid(skill: Skill, error: unknown): Problem {
  const reason =
    error instanceof z.ZodError
      ? (error.issues[0]?.message ?? 'wrong shape')
      : error instanceof Error
        ? error.message
        : String(error);
  const message = `The trigger queries in ${FILE} are not used (${reason}). It is a list of up to ${MAX_ROWS} { "query": text, "should_trigger": true or false }.`;
  return { code: 'TRIGGER_EVAL_INVALID', severity: 'warning', file: skill.file, message };
}
