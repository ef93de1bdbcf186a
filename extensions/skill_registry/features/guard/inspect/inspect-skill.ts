import { isUtf8 } from 'node:buffer';
import { type Steps, takeSteps } from '../../../../../lib/breaks/index.ts';
import type { Finding, InspectedFile } from '../../../core/skill/guard.ts';
import { type FileResult, findingKey, findingOf, inspectFile, keyOfFile } from './inspect-file.ts';
import { isAside } from './led-to.ts';
import { firstOfEach, listReach } from './reach.ts';
import type { ClassifiedFile, Inspection, InspectionRule, Reached } from './rule.ts';
import { compareLevels } from './rule-set.ts';
import { searchedOf } from './rules/files.ts';
import { RULES } from './rules/index.ts';

export { RULE_SET } from './rule-set.ts';

export interface DigestedFile extends InspectedFile {
  /** Of its bytes. Without it the result of the file is not kept. */
  readonly digest?: string;
}

/** Results of single files, from earlier inspections. */
export interface FileResults {
  resultsOf(keys: readonly string[]): ReadonlyMap<string, FileResult>;
  keepResult(key: string, result: FileResult): void;
}

/**
 * Searches SKILL.md, and 1 MiB of each other file (a finding names longer ones), in linear time; `undefined`: a break.
 * Runs nothing and reads nothing else: the same files give the same findings.
 */
export async function inspectSkill(
  files: Iterable<DigestedFile | undefined>,
  results?: FileResults,
  pause?: () => Promise<void>,
): Promise<Inspection> {
  return takeSteps(inspect(files, results), pause);
}

/** In the order of docs/security.md. */
export function inspectionRules(): readonly InspectionRule[] {
  return RULES.map(({ id, level, family, message, why, mend }) => ({ id, level, family, message, why, mend }));
}

export function newFindings(before: Inspection, after: Inspection): readonly Finding[] {
  const old = new Set(before.findings.map(findingKey));
  return after.findings.filter((finding) => !old.has(findingKey(finding)));
}

export function isScript(path: string, text: string): boolean {
  if (/\.(?:md|mdx|markdown|txt|rst|adoc|json|ya?ml|toml|csv|svg)$/i.test(path)) return text.startsWith('#!');
  return SCRIPT_PATH.test(path) || text.startsWith('#!');
}

// --- internal ---

const SCRIPT_PATH =
  /(?:^|\/)(?:scripts|bin|hooks)\/|(?:^|\/)(?:(?:gnu)?makefile|dockerfile|justfile|rakefile)$|\.mk$|\.(?:sh|bash|zsh|fish|ksh|ps1|psm1|bat|cmd|command|py|pyw|rb|pl|php|[cm]?[jt]s|[jt]sx|lua|awk|tcl|r|jl|go|vbs|applescript|scpt)$/i;

const PROSE = /\.(?:md|mdx|markdown|txt|rst|adoc|html?)$/i;

function* inspect(files: Iterable<DigestedFile | undefined>, results: FileResults | undefined): Steps<Inspection> {
  const skill: ClassifiedFile[] = [];
  const keys = new Map<ClassifiedFile, string>();
  for (const file of files) {
    yield undefined;
    if (!file) continue;
    const classified = classify(file);
    skill.push(classified);
    if (file.digest !== undefined && file.bytes.length >= WORTH_KEEPING)
      keys.set(classified, keyOfFile(classified, file.digest));
  }
  // The result of all files is kept, too, so that of an only file is not needed.
  const known = keys.size > 0 && skill.length > 1 ? results?.resultsOf([...keys.values()]) : undefined;
  const all: Finding[] = [];
  const listed: Finding[] = [];
  const reached: Reached[] = [];
  for (const file of skill) {
    const { path } = file;
    const key = keys.get(file) ?? '';
    let result = known?.get(key);
    if (!result) {
      result = yield* inspectFile(file);
      if (known && key !== '') results?.keepResult(key, result);
    }
    for (const one of result.found) {
      const finding = { ...one.finding, file: path };
      all.push(finding);
      if (!one.isMentioned) listed.push(finding);
    }
    reached.push(...result.reach.map((one) => ({ ...one, file: path })));
  }
  const reach = firstOfEach(reached);
  all.push(...(yield* findingsInAll(skill, reached, all)), ...combinedFindings(listed, skill));
  const blocked = new Set(all.filter(({ level }) => level === 'block').map(({ file }) => file));
  const aside = new Set(skill.filter((file) => blocked.has(file.path) && isAside(file, skill)).map(({ path }) => path));
  const findings = all.map((one) =>
    one.level === 'block' && aside.has(one.file) ? { ...one, level: 'warn' as const } : one,
  );
  findings.sort(byImportance);
  return { verdict: findings[0]?.level ?? 'info', findings, reach: listReach(reach, skill) };
}

/** In bytes: a shorter file is judged in the time of a look into a table. */
const WORTH_KEEPING = 1000;

function classify(file: InspectedFile): ClassifiedFile {
  const { path, bytes, executable = false } = file;
  const searched = searchedOf(file);
  const encoding = /\.(?:ttf|otf|woff2?)$/i.test(path) ? undefined : encodingOf(bytes);
  const kind = encoding ? 'text' : 'binary';
  const decoded = (most?: number) => (encoding ? new TextDecoder(encoding).decode(searched.subarray(0, most)) : '');
  let text: string | undefined;
  return {
    path,
    kind,
    prose: PROSE.test(path),
    script: executable || isScript(path, decoded(SHEBANG)),
    executable,
    bytes,
    // Of a file whose result is known often nobody asks for it.
    get text() {
      text ??= decoded();
      return text;
    },
  };
}

/** Undefined for what is no text. */
function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const start = bytes.subarray(0, 8000);
  // What is UTF-8 is given as a text.
  if (!start.includes(0) || isUtf8(bytes)) return 'utf-8';
  // In UTF-16 without a mark, every second byte of most letters is 0.
  const [even, odd] = [0, 1].map((rest) => start.filter((byte, at) => byte === 0 && at % 2 === rest).length);
  if (Number(odd) > start.length / 4 && Number(even) < start.length / 20) return 'utf-16le';
  return Number(even) > start.length / 4 && Number(odd) < start.length / 20 ? 'utf-16be' : undefined;
}

/** Bytes with which a file says what runs it. */
const SHEBANG = 16;

function* findingsInAll(
  skill: readonly ClassifiedFile[],
  reached: readonly Reached[],
  findings: readonly Finding[],
): Steps<readonly Finding[]> {
  const found = new Map<string, Finding>();
  for (const rule of RULES) {
    for (const one of rule.whole?.(skill, reached, findings) ?? []) {
      const finding = one && findingOf(rule, one.file, one);
      if (finding) found.set(findingKey(finding), finding);
      else yield undefined;
    }
  }
  return [...found.values()];
}

function* combinedFindings(found: readonly Finding[], skill: readonly ClassifiedFile[]): Generator<Finding> {
  for (const rule of RULES) {
    const [first = [], second = []] = (rule.near ?? []).map((ids) =>
      found.filter((finding) => ids.test(finding.rule)).slice(0, MAX_COMPARED),
    );
    const match = first.find((one) => second.some((other) => isNear(one, other)) && !isSearchedFor(one, skill));
    if (match) yield { ...match, rule: rule.id, level: rule.level, message: rule.message };
  }
}

/** In a line of a program that finds such words. */
function isSearchedFor({ file, line = 1 }: Finding, skill: readonly ClassifiedFile[]): boolean {
  const { prose, text } = skill.find(({ path }) => path === file) ?? { prose: true, text: '' };
  return !prose && PATTERN.test(text.split('\n')[line - 1] ?? '');
}

const PATTERN = /\b(?:pattern|regexp?|label)s?["']?\s?[:=]|\bre\.(?:compile|search)\(/i;
const MAX_COMPARED = 100;
const NEAR_LINES = 6;

function isNear(left: Finding, right: Finding): boolean {
  return left.file === right.file && Math.abs((left.line ?? 0) - (right.line ?? 0)) <= NEAR_LINES;
}

function byImportance(left: Finding, right: Finding): number {
  return (
    compareLevels(left.level, right.level) ||
    (left.file < right.file ? -1 : left.file > right.file ? 1 : (left.line ?? 0) - (right.line ?? 0))
  );
}
