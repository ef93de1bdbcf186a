import { isCodedError, type Problem, z } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { TriggerCase } from '../types.ts';

export interface TriggerQuery extends TriggerCase {
  readonly skill: Skill;
}

export type ReadIfThere = (skill: Skill, path: string, maxBytes: number) => Buffer | undefined;

export const TRIGGER_FILE = 'evals/trigger-eval.json';
const MAX_BYTES = 262_144;
const MAX_ROWS = 500;

/** An invalid file is a TRIGGER_EVAL_INVALID problem. `readFile` throws like `readContained`; undefined: no file. */
export async function triggerQueries(
  skills: readonly Skill[],
  readFile: ReadIfThere,
): Promise<{ readonly queries: readonly TriggerQuery[]; readonly problems: readonly Problem[] }> {
  const queries: TriggerQuery[] = [];
  const problems: Problem[] = [];
  for (const skill of skills) {
    await takeBreak();
    for (const query of skill.triggerKeywords) queries.push({ skill, query, shouldTrigger: true });
    try {
      const bytes = readFile(skill, TRIGGER_FILE, MAX_BYTES);
      if (!bytes) continue;
      for (const { query, should_trigger } of triggerRows(bytes.toString('utf8'))) {
        queries.push({ skill, query, shouldTrigger: should_trigger });
      }
    } catch (error) {
      if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) problems.push(invalid(skill, error));
    }
  }
  return { queries, problems };
}

/** @throws for anything else than a list of cases. */
export function triggerRows(text: string): readonly TriggerRow[] {
  const found: unknown = JSON.parse(text);
  const row = z.object({ query: z.string().trim().min(1).max(2000), should_trigger: z.boolean() });
  return z.array(row).max(MAX_ROWS).parse(found);
}

// --- internal ---

interface TriggerRow {
  readonly query: string;
  readonly should_trigger: boolean;
}

function invalid(skill: Skill, error: unknown): Problem {
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  const reason = issue?.message ?? (error instanceof Error ? error.message : String(error));
  const message = `The trigger queries in ${TRIGGER_FILE} are not used (${reason}). Write a list of up to ${MAX_ROWS} { "query": text, "should_trigger": true or false }.`;
  return { code: 'TRIGGER_EVAL_INVALID', severity: 'warning', file: skill.file, message };
}
