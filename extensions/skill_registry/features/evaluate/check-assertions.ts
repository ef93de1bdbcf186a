import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { oneLine } from '../../../../lib/text/index.ts';
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
      const missing = `there are no outputs of it: expected ${oneLine(one.id, 60)}/output.md, which whoever runs it writes`;
      const reason = output || one.assertions.length === 0 ? null : missing;
      results.push({ id: one.id, file: one.file, assertions, notRun, reason });
    }
    return results;
  } finally {
    await matcher.close();
  }
}

// --- internal ---

async function check(
  assertion: Assertion,
  output: StoredOutput,
  matcher: ReturnType<typeof createMatcher>,
): Promise<AssertionResult> {
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
  const around = text.slice(Math.max(0, at - 20), at + Math.min(value.length, 60) + 20);
  const found = `The output has it: ${JSON.stringify(oneLine(around, 100))}`;
  const evidence = at === -1 ? 'The output does not have it.' : found;
  return verdict((at !== -1) === (type === 'output_contains'), evidence);
}

/** A normal pattern takes milliseconds; a malicious one may never end. */
const MAX_MS = 2_000;
const MAX_SLOW = 2;
const MAX_MEMORY_MB = 64;

/** Only ending its thread interrupts a JavaScript regular expression. */
function createMatcher() {
  let worker: Worker | undefined;
  let slow = 0;
  const end = async (): Promise<void> => {
    await worker?.terminate();
    worker = undefined;
  };
  return {
    /** Whether it matches somewhere; a text says why this is unknown. */
    async matches(pattern: string, text: string): Promise<boolean | string> {
      if (slow >= MAX_SLOW)
        return `was not tried, because ${MAX_SLOW} patterns took more than ${MAX_MS / 1000} seconds each`;
      worker ??= startWorker();
      const signal = AbortSignal.timeout(MAX_MS);
      const answered = once(worker, 'message', { signal });
      worker.postMessage({ pattern, text });
      try {
        const [{ matched, failure }] = (await answered) as [{ matched?: boolean; failure?: string }];
        return matched ?? `is no regular expression (${failure})`;
      } catch {
        slow += 1;
        await end();
        return signal.aborted ? `took more than ${MAX_MS / 1000} seconds` : 'needs too much memory';
      }
    },
    close: end,
  };
}

/** A text runs both from the sources and from a build. */
const CODE = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ pattern, text }) => {
  let failure;
  for (const flags of ['u', '']) {
    try {
      return parentPort.postMessage({ matched: new RegExp(pattern, flags).test(text) });
    } catch (error) {
      failure = String(error.message).slice(0, 200);
    }
  }
  parentPort.postMessage({ failure });
});`;

function startWorker(): Worker {
  const worker = new Worker(CODE, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } });
  // Without a listener an error would end the process; `once` hears it too.
  worker.on('error', () => undefined);
  return worker;
}
