import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import { isRecord } from '../../core/config/readers.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { parseMapping } from '../../core/skill/yaml-fields.ts';
import { triggerQueries } from './overlap/trigger-queries.ts';
import type { Assertion, AssertionType, EvaluationCase, EvaluationSuite } from './types.ts';

/** At most `maxBytes`; throws as `readContained`. */
export type ReadSkillFile = (path: string, maxBytes: number) => Buffer;

const EVALS = 'evals/evals.json';
/** The YAML parser is slow, so its limit is lower. */
const MAX_BYTES = { json: 262_144, yaml: 65_536 } as const;
const MAX_CASES = 200;
const MAX_ASSERTIONS = 100;
const MAX_ID = 100;
const ASSERTION_TYPES: readonly AssertionType[] = [
  'output_contains',
  'output_not_contains',
  'output_matches',
  'file_exists',
];

/** Each invalid part becomes a problem; the rest is used. @param skill - With the header of the read content. */
export async function readSuite(skill: Skill, read: ReadSkillFile): Promise<EvaluationSuite> {
  const used = new Map<string, string>();
  const noting: ReadSkillFile = (path, maxBytes) => {
    const bytes = read(path, maxBytes);
    used.set(path, digestOf(bytes));
    return bytes;
  };
  const triggers = await triggerQueries([skill], (_, path, maxBytes) => noting(path, maxBytes));
  const problems: Problem[] = [...triggers.problems];
  const report = (path: string) => (what: string) => problems.push(invalid(skill, path, what));
  const cases = [
    ...evalsIn(EVALS, noting, report(EVALS)),
    ...['eval.yaml', 'evals/eval.yaml'].flatMap((path) => scenariosIn(path, noting, report(path))),
  ];
  const ids = new Set<string>();
  const own = cases.filter(({ id, file }) => {
    const isFirst = !ids.has(id);
    if (!isFirst) report(file)(`The id ${quotedValue(id)} occurs twice; give each case its own.`);
    return isFirst && ids.add(id);
  });
  const { triggerKeywords } = skill;
  const isEmpty = used.size === 0 && triggerKeywords.length === 0;
  return {
    digest: isEmpty ? null : digestOf(JSON.stringify([[...used].sort(), triggerKeywords])),
    files: [...used.keys()].sort(),
    cases: own,
    queries: triggers.queries.map(({ query, shouldTrigger }) => ({ query, shouldTrigger })),
    problems,
  };
}

/** @param what - Sentences: what is wrong, and what was expected. */
export function invalid({ file }: Pick<Skill, 'file'>, path: string, what: string): Problem {
  return { code: 'EVALS_INVALID', severity: 'warning', file, message: `${path}: ${what}` };
}

/** undefined when there is no file, or no valid JSON, which is reported. */
export function readJson(path: string, read: ReadSkillFile, report: (what: string) => void): unknown {
  const text = readText(path, MAX_BYTES.json, read, report);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    report(`It is no JSON (${oneLine(describeError(error), 200)}), so it is not used.`);
    return undefined;
  }
}

// --- internal ---

type Report = (what: string) => void;

function readText(path: string, maxBytes: number, read: ReadSkillFile, report: Report): string | undefined {
  try {
    return read(path, maxBytes).toString('utf8');
  } catch (error) {
    if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) report(`It is not used: ${oneLine(describeError(error), 300)}`);
    return undefined;
  }
}

function evalsIn(file: string, read: ReadSkillFile, report: Report): readonly EvaluationCase[] {
  const data = readJson(file, read, report);
  if (data === undefined) return [];
  const format = { file, list: 'evals', id: 'id', expected: EXPECTED_EVALS } as const;
  return casesIn(isRecord(data) ? data.evals : undefined, format, report, (row, at) => {
    const { expected_output: expected, files } = row;
    const own = ['assertions', 'expectations'].flatMap((field) => listIn(row[field], `${at}.${field}`, report));
    for (const path of listIn(files, `${at}.files`, report)) checkFile(path, at, read, report);
    const others = own.filter((one) => !isText(one));
    return {
      expectedOutput: isText(expected) ? expected : null,
      expectations: own.filter(isText),
      assertions: assertionsIn(others, at, report),
    };
  });
}

function scenariosIn(file: string, read: ReadSkillFile, report: Report): readonly EvaluationCase[] {
  const text = readText(file, MAX_BYTES.yaml, read, report);
  if (text === undefined) return [];
  const parsed = parseMapping(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'));
  if ('message' in parsed)
    return refuse(report, `Line ${parsed.line}: ${oneLine(parsed.message, 200)}; it is not used.`);
  const format = { file, list: 'scenarios', id: 'name', expected: EXPECTED_SCENARIOS } as const;
  return casesIn(parsed.data.scenarios, format, report, ({ rubric, assertions }, at) => ({
    expectedOutput: null,
    expectations: isText(rubric) ? [rubric] : listIn(rubric, `${at}.rubric`, report).filter(isText),
    assertions: assertionsIn(listIn(assertions, `${at}.assertions`, report), at, report),
  }));
}

const EXPECTED_EVALS = '{ "skill_name": text, "evals": [{ "id", "prompt", "expected_output" }] }';
const EXPECTED_SCENARIOS = 'scenarios: a list of { name, prompt, assertions: [{ type, value }] }';

interface CaseFormat {
  readonly file: string;
  readonly list: string;
  /** A number, too, where it is `id`. */
  readonly id: 'id' | 'name';
  readonly expected: string;
}

function casesIn(
  given: unknown,
  { file, list, id: key, expected }: CaseFormat,
  report: Report,
  checksOf: (
    row: Readonly<Record<string, unknown>>,
    at: string,
  ) => Pick<EvaluationCase, 'expectedOutput' | 'expectations' | 'assertions'>,
): readonly EvaluationCase[] {
  if (!Array.isArray(given)) return refuse(report, `Expected ${expected}, so it is not used.`);
  return listIn(given, list, report, MAX_CASES).flatMap((row, index) => {
    const at = `${list}[${index}]`;
    if (!isRecord(row)) return refuse(report, `${at} must be an object, got ${quotedValue(row)}.`);
    const { [key]: id, prompt } = row;
    if (!isText(id) && !(key === 'id' && Number.isSafeInteger(id))) {
      const what = key === 'id' ? 'a text or a number' : 'a text';
      return refuse(report, `${at}.${key} must be ${what}, got ${quotedValue(id)}.`);
    }
    if (!isText(prompt)) return refuse(report, `${at}.prompt must be a text, got ${quotedValue(prompt)}.`);
    return [{ id: String(id).slice(0, MAX_ID), file, prompt, ...checksOf(row, at) }];
  });
}

function assertionsIn(given: readonly unknown[], at: string, report: Report): readonly Assertion[] {
  return given.flatMap((one) => {
    const { type: given, value } = isRecord(one) ? one : {};
    const type = ASSERTION_TYPES.find((known) => known === given);
    const expected = `an assertion is { type: ${ASSERTION_TYPES.join(' | ')}, value }`;
    if (!type) return refuse(report, `${at}: ${expected}, got ${quotedValue(one)}.`);
    if (typeof value === 'string' || typeof value === 'number') return [{ type, value: String(value) }];
    return refuse(report, `${at}: the value of ${type} must be a text, got ${quotedValue(value)}.`);
  });
}

/** A file that the prompt needs must be in the skill. */
function checkFile(file: unknown, at: string, read: ReadSkillFile, report: Report): void {
  const path = isText(file) ? file : '';
  try {
    // With this limit nothing is read.
    if (path !== '') read(path, 0);
    else report(`${at}.files has ${quotedValue(file)}, which is no path.`);
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return;
    report(`${at}.files has ${quotedValue(path)}, which is no file of the skill: give a path relative to SKILL.md.`);
  }
}

function listIn(value: unknown, name: string, report: Report, most = MAX_ASSERTIONS): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return refuse(report, `${name} must be a list, got ${quotedValue(value)}.`);
  if (value.length > most) report(`${name} has ${value.length} entries; the first ${most} are used.`);
  return value.slice(0, most);
}

/** A stranger's text, for a message. */
function quotedValue(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? 'nothing', 80);
}

function refuse(report: Report, what: string): [] {
  report(what);
  return [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
