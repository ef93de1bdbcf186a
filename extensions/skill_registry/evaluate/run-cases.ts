import { oneLine } from '../../../lib/text/index.ts';
import { createMatcher, type Matcher } from './matcher.ts';
import type { StoredOutput } from './outputs.ts';
import type { Assertion, AssertionResult, CaseResult, EvaluationCase } from './types.ts';

export async function runCases(
  cases: readonly EvaluationCase[],
  outputOf: (one: EvaluationCase) => StoredOutput | undefined,
): Promise<readonly CaseResult[]> {
  const matcher = createMatcher();
  try {
    const results: CaseResult[] = [];
    for (const one of cases) {
      const output = outputOf(one);
      const assertions: AssertionResult[] = [];
      if (output) for (const assertion of one.assertions) assertions.push(await check(assertion, output, matcher));
      const notRun = (output ? 0 : one.assertions.length) + one.expectations.length;
      results.push({ id: one.id, file: one.file, assertions, notRun, reason: output ? null : whyNotRun(one) });
    }
    return results;
  } finally {
    await matcher.close();
  }
}

// --- internal ---

function whyNotRun({ id, assertions }: EvaluationCase): string | null {
  if (assertions.length === 0) return null;
  return `there are no outputs of it: expected ${oneLine(id, 60)}/output.md, which whoever runs it writes`;
}

async function check(assertion: Assertion, output: StoredOutput, matcher: Matcher): Promise<AssertionResult> {
  const { type, value } = assertion;
  const verdict = (passed: boolean, evidence: string): AssertionResult => ({ ...assertion, passed, evidence });
  if (type === 'file_exists') {
    const found = output.fileAt(value);
    return verdict(found === 'yes', found === 'yes' ? 'The file is there.' : `The file ${found}.`);
  }
  const { text } = output;
  // Without an output every assertion fails, also `output_not_contains`.
  if (text === null) return verdict(false, output.why);
  if (type === 'output_matches') {
    const matched = await matcher.matches(value, text);
    if (typeof matched === 'string') return verdict(false, `The pattern ${matched}.`);
    return verdict(matched, matched ? 'The output matches.' : 'Nothing in the output matches.');
  }
  const at = text.indexOf(value);
  const evidence = at === -1 ? 'The output does not have it.' : `The output has it: ${around(text, at, value.length)}`;
  return verdict((at !== -1) === (type === 'output_contains'), evidence);
}

function around(text: string, at: number, length: number): string {
  return JSON.stringify(oneLine(text.slice(Math.max(0, at - 20), at + Math.min(length, 60) + 20), 100));
}
