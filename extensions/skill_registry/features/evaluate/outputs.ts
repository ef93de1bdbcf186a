import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { listContained, readContained, relativeSegments } from '../../../../lib/files/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import { isRecord } from '../../core/config/readers.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { readJson } from './suite.ts';
import type { Claim, EvaluationCase } from './types.ts';

export interface StoredOutput {
  /** null without `output.md` and `output.txt`. */
  readonly text: string | null;
  /** A sentence; empty when there is a text. */
  readonly why: string;
  /** `yes`, or why the path is no file of the outputs. */
  fileAt(path: string): 'yes' | string;
  readonly grading: Pick<Claim, 'text' | 'summary'> | null;
  readonly digest: string;
}

const MAX_TEXT = 1_048_576;
const MAX_CLAIM = 4_000;
const TEXTS = ['output.md', 'output.txt'];

/**
 * By case id. Case folders are named `<id>` or `eval-<id>` and have `output.md` or `output.txt`, files, and
 * `grading.json`; the first two also below `outputs/`, all also below `with_skill/`. Links are not followed.
 * @param report - Called with what is wrong in a `grading.json`. @throws INVALID_ARGUMENT.
 */
export function outputsIn(
  given: string,
  cases: readonly EvaluationCase[],
  report: (path: string, what: string) => void,
): ReadonlyMap<string, StoredOutput> {
  const base = folderAt(given);
  const folders = foldersIn(base, '');
  const found = cases.flatMap((one) => {
    const name = [one.id, `eval-${one.id}`].find((candidate) => folders.includes(candidate));
    if (name === undefined) return [];
    const run = foldersIn(base, name).includes('with_skill') ? `${name}/with_skill` : name;
    const below = foldersIn(base, run).includes('outputs') ? [`${run}/outputs`, run] : [run];
    return [[one.id, storedOutput(base, run, below, one, report)] as const];
  });
  return new Map(found);
}

// --- internal ---

function folderAt(given: string): string {
  const path = resolve(given);
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(existsSync(path) ? 'it is a file' : 'there is no such folder');
    const base = realpathSync(path);
    listContained(base, '');
    return base;
  } catch (error) {
    throw invalidArgument(
      `No outputs can be read from ${path}: ${describeError(error)}. Expected a folder with one folder for each case, called as its id, and output.md or output.txt in it. Whoever runs the cases writes them; docs/evidence.md of the package shows how.`,
    );
  }
}

function foldersIn(base: string, path: string): readonly string[] {
  return listContained(base, path)
    .filter(({ kind }) => kind === 'directory')
    .map(({ name }) => name);
}

function storedOutput(
  base: string,
  run: string,
  below: readonly string[],
  { assertions }: EvaluationCase,
  report: (path: string, what: string) => void,
): StoredOutput {
  const { text, why } = textIn(base, below);
  const file = `${run}/grading.json`;
  const wrong = (what: string): void => report(file, what);
  const grading = gradingOf(
    readJson(file, (path, maxBytes) => readContained(base, path, maxBytes), wrong),
    wrong,
  );
  const fileAt = (path: string): string => {
    const found = below.map((folder) => fileIn(base, folder, path));
    return found.find((one) => one === 'yes') ?? found[0] ?? 'is not there';
  };
  const paths = assertions.filter(({ type }) => type === 'file_exists').map(({ value }) => [value, fileAt(value)]);
  return { text, why, fileAt, grading, digest: digestOf(JSON.stringify([text, why, grading, paths])) };
}

function textIn(base: string, below: readonly string[]): Pick<StoredOutput, 'text' | 'why'> {
  for (const path of below.flatMap((folder) => TEXTS.map((name) => `${folder}/${name}`))) {
    try {
      return { text: readContained(base, path, MAX_TEXT).toString('utf8'), why: '' };
    } catch (error) {
      if (isCodedError(error, 'RESOURCE_NOT_FOUND')) continue;
      return { text: null, why: oneLine(describeError(error), 300) };
    }
  }
  const folders = below.map((path) => oneLine(path, 100)).join(' or ');
  return { text: null, why: `There is no ${TEXTS.join(' and no ')} in ${folders}/.` };
}

function fileIn(base: string, folder: string, path: string): string {
  try {
    // Checked before joining, which would hide an absolute path.
    const below = relativeSegments(path).join('/');
    // With this limit nothing is read.
    readContained(base, `${folder}/${below}`, 0);
    return 'yes';
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return 'yes';
    return isCodedError(error, 'PATH_TRAVERSAL') ? 'leads out of the outputs' : 'is not there';
  }
}

/** The registry checks nothing in it, so it is a claim. */
function gradingOf(data: unknown, report: (what: string) => void): StoredOutput['grading'] {
  if (data === undefined) return null;
  if (!isRecord(data) || !Array.isArray(data.expectations)) {
    report(
      'Expected { "expectations": [{ "text", "passed", "evidence" }], "summary": { "passed", "failed", "total", "pass_rate" } }.',
    );
    return null;
  }
  const lines = data.expectations.filter(isRecord).map(({ text, passed, evidence }) => {
    const because = typeof evidence === 'string' && evidence !== '' ? ` (${oneLine(evidence, 300)})` : '';
    return `${passed === true ? 'passed' : 'failed'}: ${oneLine(String(text), 300)}${because}`;
  });
  return { text: lines.join('\n').slice(0, MAX_CLAIM), summary: summaryIn(data.summary) };
}

function summaryIn(summary: unknown): Claim['summary'] {
  const { passed, failed, total } = isRecord(summary) ? summary : {};
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  return isCount(passed) && isCount(failed) && isCount(total) ? { passed, failed, total } : null;
}
