import type { Problem } from 'skill-registry/kernel';
import { oneLine } from '../../../lib/text/index.ts';
import type { Check, CheckInput } from './findings.ts';
import { type Finding, listChecks } from './findings.ts';

/** Problems the change brings, and those it mends. */
export function validationChecks({ before, after, isSkillFile, problemsOf }: CheckInput): readonly Check[] {
  if (!isSkillFile || after === null) return [];
  const old = before === null ? [] : problemsOf(before);
  const now = problemsOf(after);
  const added = beyond(now, old).map(
    (problem): Finding => ({
      key: keyOf(problem),
      level: 'warning',
      what: `New ${say(problem)}`,
      ...(problem.line === undefined ? {} : { line: problem.line }),
    }),
  );
  const removed = beyond(old, now).map(
    (problem): Finding => ({ key: keyOf(problem), level: 'info', what: `No longer there: ${say(problem)}` }),
  );
  return listChecks('validation', [...added, ...removed]);
}

// --- internal ---

/** A problem is the same one when its line or a number in its message has changed. */
function keyOf({ code, severity, details }: Problem): string {
  return JSON.stringify([code, severity, details?.field ?? null]);
}

/** Those of `problems` that `others` has not, counting repeated ones. */
function beyond(problems: readonly Problem[], others: readonly Problem[]): readonly Problem[] {
  const left = new Map<string, number>();
  for (const other of others) left.set(keyOf(other), (left.get(keyOf(other)) ?? 0) + 1);
  return problems.filter((problem) => {
    const count = left.get(keyOf(problem)) ?? 0;
    left.set(keyOf(problem), count - 1);
    return count <= 0;
  });
}

function say({ severity, code, message }: Problem): string {
  return `${severity} ${code}: ${oneLine(message, 300)}`;
}
