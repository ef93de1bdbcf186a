import { isCodedError, type Problem, z } from 'skill-registry/kernel';
import type { Skill } from '../../skill/skill.ts';

/** A query its author says a skill should, or should not, be chosen for. */
export interface TriggerQuery {
  readonly skill: Skill;
  readonly query: string;
  readonly shouldTrigger: boolean;
}

const FILE = 'evals/trigger-eval.json';
const MAX_BYTES = 262_144;
const MAX_ROWS = 500;
const rows = z
  .array(z.object({ query: z.string().trim().min(1).max(2000), should_trigger: z.boolean() }))
  .max(MAX_ROWS);

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
