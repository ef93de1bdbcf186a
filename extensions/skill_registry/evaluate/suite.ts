import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import { oneLine } from '../../../lib/text/index.ts';
import { isRecord } from '../config/readers.ts';
import { triggerQueries } from '../search/overlap/trigger-queries.ts';
import type { Skill } from '../skill/skill.ts';
import { parseMapping } from '../skill/yaml-fields.ts';
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
    ...casesIn(EVALS, noting, report(EVALS)),
    ...['eval.yaml', 'evals/eval.yaml'].flatMap((path) => scenariosIn(path, noting, report(path))),
  ];
  const own = withoutRepeated(cases, (one) =>
    report(one.file)(`The id ${quotedValue(one.id)} occurs twice; give each case its own.`),
  );
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

/** A stranger's text, quoted for a message. */
export function quotedValue(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? 'nothing', 80);
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

function casesIn(path: string, read: ReadSkillFile, report: Report): readonly EvaluationCase[] {
  const data = readJson(path, read, report);
  if (data === undefined) return [];
  if (!isRecord(data) || !Array.isArray(data.evals)) {
    report('Expected { "skill_name": text, "evals": [{ "id", "prompt", "expected_output" }] }, so it is not used.');
    return [];
  }
  return rows(data.evals, 'evals', report).flatMap((row, index) => {
    const at = `evals[${index}]`;
    const { id, prompt, expected_output: expected, files } = row;
    const own = ['assertions', 'expectations'].flatMap((field) => listIn(row[field], `${at}.${field}`, report));
    if (!isText(id) && !Number.isSafeInteger(id))
      return refuse(report, `${at}.id must be a text or a number, got ${quotedValue(id)}.`);
    if (!isText(prompt)) return refuse(report, `${at}.prompt must be a text, got ${quotedValue(prompt)}.`);
    for (const file of listIn(files, `${at}.files`, report)) checkFile(file, at, read, report);
    return [
      {
        id: String(id).slice(0, MAX_ID),
        file: path,
        prompt,
        expectedOutput: isText(expected) ? expected : null,
        expectations: own.filter(isText),
        assertions: assertionsIn(
          own.filter((one) => !isText(one)),
          at,
          report,
        ),
      },
    ];
  });
}

function scenariosIn(path: string, read: ReadSkillFile, report: Report): readonly EvaluationCase[] {
  const text = readText(path, MAX_BYTES.yaml, read, report);
  if (text === undefined) return [];
  const parsed = parseMapping(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'));
  if ('message' in parsed)
    return refuse(report, `Line ${parsed.line}: ${oneLine(parsed.message, 200)}; it is not used.`);
  const { scenarios } = parsed.data;
  if (!Array.isArray(scenarios)) {
    return refuse(
      report,
      'Expected scenarios: a list of { name, prompt, assertions: [{ type, value }] }, so it is not used.',
    );
  }
  return rows(scenarios, 'scenarios', report).flatMap((row, index) => {
    const at = `scenarios[${index}]`;
    const { name, prompt, rubric } = row;
    if (!isText(name)) return refuse(report, `${at}.name must be a text, got ${quotedValue(name)}.`);
    if (!isText(prompt)) return refuse(report, `${at}.prompt must be a text, got ${quotedValue(prompt)}.`);
    return [
      {
        id: name.slice(0, MAX_ID),
        file: path,
        prompt,
        expectedOutput: null,
        expectations: isText(rubric) ? [rubric] : listIn(rubric, `${at}.rubric`, report).filter(isText),
        assertions: assertionsIn(listIn(row.assertions, `${at}.assertions`, report), at, report),
      },
    ];
  });
}

function assertionsIn(given: readonly unknown[], at: string, report: Report): readonly Assertion[] {
  return given.flatMap((one) => {
    const { type, value } = isRecord(one) ? one : { type: undefined, value: undefined };
    const known = ASSERTION_TYPES.find((candidate) => candidate === type);
    if (!known) {
      return refuse(
        report,
        `${at}: an assertion is { type: ${ASSERTION_TYPES.join(' | ')}, value }, got ${quotedValue(one)}.`,
      );
    }
    if (typeof value !== 'string' && typeof value !== 'number') {
      return refuse(report, `${at}: the value of ${known} must be a text, got ${quotedValue(value)}.`);
    }
    return [{ type: known, value: String(value) }];
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

function rows(list: readonly unknown[], name: string, report: Report): readonly Readonly<Record<string, unknown>>[] {
  if (list.length > MAX_CASES) report(`${name} has ${list.length} entries; the first ${MAX_CASES} are used.`);
  return list
    .slice(0, MAX_CASES)
    .flatMap((row, index) =>
      isRecord(row) ? [row] : refuse(report, `${name}[${index}] must be an object, got ${quotedValue(row)}.`),
    );
}

function listIn(value: unknown, name: string, report: Report): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return refuse(report, `${name} must be a list, got ${quotedValue(value)}.`);
  if (value.length > MAX_ASSERTIONS)
    report(`${name} has ${value.length} entries; the first ${MAX_ASSERTIONS} are used.`);
  return value.slice(0, MAX_ASSERTIONS);
}

function withoutRepeated(
  cases: readonly EvaluationCase[],
  report: (repeated: EvaluationCase) => void,
): readonly EvaluationCase[] {
  const seen = new Set<string>();
  return cases.filter((one) => {
    if (seen.has(one.id)) report(one);
    return !seen.has(one.id) && seen.add(one.id);
  });
}

function refuse(report: Report, what: string): [] {
  report(what);
  return [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
