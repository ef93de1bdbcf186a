import { createBreaks } from '../../../lib/breaks/index.ts';
import { oneLine, withoutKeys } from '../../../lib/text/index.ts';
import { LEVELS } from './findings.ts';
import { spansOf } from './near.ts';
import { createPassageSearch, type PassageSearch, type SearchPassage } from './passage-search.ts';
import { passagesOf } from './passages.ts';
import type { ClassifiedFile, FileRule, Match, Passage, Pattern, Rule, Span, Stance } from './rule.ts';
import { SEARCHED_BYTES } from './rules/files.ts';
import { RULES } from './rules/index.ts';
import { sentenceAround, stanceOf } from './stance.ts';
import type { Finding, InspectedFile, Inspection, InspectionRule } from './types.ts';

export { RULE_SET } from './rule-set.ts';

/**
 * Looks at the files of a skill. Nothing is run, and nothing but the given bytes is looked at: the same files give the same findings.
 * Takes linear time, with breaks for other work: `undefined` among the files is one. Of one file the first 1 MiB is searched; a finding says where more is.
 */
export async function inspectSkill(files: Iterable<InspectedFile | undefined>): Promise<Inspection> {
  const takeBreak = createBreaks();
  const found = new Map<string, Finding>();
  const mentioned = new Set<Finding>();
  const skill: ClassifiedFile[] = [];
  for (const file of files) {
    await takeBreak();
    if (file) skill.push(readFile(file));
  }
  for (const file of skill) {
    for await (const [rule, match] of matchesOfFile(file, skill, takeBreak)) {
      if (match.stance === 'negated' && rule.level !== 'block') continue;
      const finding = findingOf(rule, file.path, match);
      const key = findingKey(finding);
      const old = found.get(key);
      // The first of those with equal keys is kept, unless it matters less.
      if (old && LEVELS.indexOf(old.level) <= LEVELS.indexOf(finding.level) && !mentioned.has(old)) continue;
      found.set(key, finding);
      if (match.stance) mentioned.add(finding);
    }
  }
  const listed = [...found.values()].filter((finding) => !mentioned.has(finding));
  const findings = [...found.values(), ...combinedFindings(listed)].sort(byImportance);
  return { verdict: findings[0]?.level ?? 'info', findings };
}

/** The rules, in the order of docs/security.md. */
export function inspectionRules(): readonly InspectionRule[] {
  return RULES.map(({ id, level, family, message, why, mend }) => ({ id, level, family, message, why, mend }));
}

/** The findings of `after` that `before` did not have: by rule, file and excerpt. */
export function newFindings(before: Inspection, after: Inspection): readonly Finding[] {
  const old = new Set(before.findings.map(findingKey));
  return after.findings.filter((finding) => !old.has(findingKey(finding)));
}

/** By its folder, its ending or its first line. */
export function isScript(path: string, text: string): boolean {
  if (/\.(?:md|mdx|markdown|txt|rst|adoc|json|ya?ml|toml|csv|svg)$/i.test(path)) return text.startsWith('#!');
  return SCRIPT_PATH.test(path) || text.startsWith('#!');
}

// --- internal ---

const SCRIPT_PATH =
  /(?:^|\/)(?:scripts|bin|hooks)\/|\.(?:sh|bash|zsh|fish|ksh|ps1|psm1|bat|cmd|command|py|pyw|rb|pl|php|[cm]?[jt]s|[jt]sx|lua|awk|tcl|r|jl|go|vbs|applescript|scpt)$/i;

type TakeBreak = () => Promise<void>;

const PROSE = /\.(?:md|mdx|markdown|txt|rst|adoc|html?)$/i;

function readFile({ path, bytes, executable = false }: InspectedFile): ClassifiedFile {
  const searched = bytes.subarray(0, SEARCHED_BYTES);
  const isBinary = searched.subarray(0, 8000).includes(0);
  const text = isBinary ? '' : new TextDecoder().decode(searched);
  return {
    path,
    kind: isBinary ? 'binary' : 'text',
    prose: PROSE.test(path),
    script: isScript(path, text) || executable,
    executable,
    bytes,
    text,
  };
}

async function* matchesOfFile(
  file: ClassifiedFile,
  skill: readonly ClassifiedFile[],
  takeBreak: TakeBreak,
): AsyncGenerator<readonly [Rule, Match]> {
  for (const rule of FILE_RULES) {
    await takeBreak();
    for (const match of rule.find(file, skill)) {
      await takeBreak();
      if (match) yield [rule, match];
    }
  }
  const searches = SEARCHES.filter(
    ({ pattern }) => pattern.where === undefined || (pattern.where === 'prose') === file.prose,
  );
  const parts = new Map<Pattern, FileParts>();
  tables ??= createPassageSearch(
    SEARCHES.flatMap(({ pattern }) => pattern.all),
    takeBreak,
  );
  const searchPassage = await tables;
  for (const passage of passagesOf(file.text, file.prose)) {
    await takeBreak();
    if (!passage) continue;
    const search = searchPassage(passage);
    for (const { rule, pattern } of searches) {
      if (!mayMatch(pattern, passage, search)) continue;
      await takeBreak();
      if (pattern.scope === 'file') {
        const match = completed(parts, pattern, file, passage, search);
        if (match) yield [rule, match];
      } else for (const match of matchesIn(file, passage, search, pattern)) yield [rule, match];
    }
  }
}

const FILE_RULES = RULES.filter((rule): rule is FileRule => 'find' in rule);
const SEARCHES = RULES.flatMap((rule) =>
  'patterns' in rule ? rule.patterns.map((pattern) => ({ rule, pattern })) : [],
);
/** A fast test: false for most patterns in most passages. */
function mayMatch({ all, needs, scope }: Pattern, { words }: Passage, { mayHave }: PassageSearch): boolean {
  if (scope === 'file' ? !all.some(mayHave) : !all.every(mayHave)) return false;
  return !needs?.some((one) => !one.some((word) => words.has(word)));
}

let tables: Promise<SearchPassage> | undefined;

function* matchesIn(file: ClassifiedFile, passage: Passage, search: PassageSearch, pattern: Pattern): Generator<Match> {
  const stance = (span: Span): Stance => {
    if (pattern.unless?.test(sentenceAround(passage.text, span))) return 'negated';
    return file.script ? undefined : stanceOf(passage, span, pattern.unlessBefore);
  };
  for (const { start, end, stance: is } of spansOf(passage.text, search, pattern, stance)) {
    yield { line: passage.lineAt(start), words: passage.shown.slice(start, end), stance: is };
  }
}

/** Where each expression of a pattern was first found in a file. */
type FileParts = (Match | undefined)[];

/** The place of the first expression, once all of them were found in the file. */
function completed(
  parts: Map<Pattern, FileParts>,
  pattern: Pattern,
  file: ClassifiedFile,
  passage: Passage,
  search: PassageSearch,
): Match | undefined {
  const found = parts.get(pattern) ?? pattern.all.map(() => undefined);
  parts.set(pattern, found);
  if (found.every((part) => part)) return undefined;
  for (const [at, expression] of pattern.all.entries()) {
    if (found[at]) continue;
    const matches = [...matchesIn(file, passage, search, { all: [expression] })];
    found[at] = matches.find(({ stance }) => !stance) ?? matches[0];
  }
  return found.every((part) => part) ? found[0] : undefined;
}

function* combinedFindings(found: readonly Finding[]): Generator<Finding> {
  for (const rule of RULES) {
    if (!('near' in rule)) continue;
    const [first, second] = rule.near.map((ids) => found.filter((finding) => ids.includes(finding.rule)));
    const isNear = (left: Finding, right: Finding): boolean =>
      left.file === right.file && Math.abs((left.line ?? 0) - (right.line ?? 0)) <= rule.lines;
    // Each file has few of both, and they are only compared when there are.
    const match = first
      ?.slice(0, MAX_COMPARED)
      .find((one) => second?.slice(0, MAX_COMPARED).some((other) => isNear(one, other)));
    if (match) yield { ...match, rule: rule.id, level: rule.level, message: rule.message };
  }
}

const MAX_COMPARED = 100;

function findingOf(rule: Rule, file: string, { line, words, message, stance }: Match): Finding {
  return {
    rule: rule.id,
    level: stance && rule.level === 'block' ? 'warn' : rule.level,
    file,
    ...(line === undefined ? {} : { line }),
    // Cut first, and wider than what is shown, so that no part of a secret is left.
    excerpt: oneLine(withoutKeys(words.slice(0, 1000)), 200),
    message: message === undefined ? rule.message : oneLine(withoutKeys(message), 300),
  };
}

function findingKey({ rule, file, excerpt }: Finding): string {
  return JSON.stringify([rule, file, excerpt]);
}

function byImportance(left: Finding, right: Finding): number {
  return (
    LEVELS.indexOf(left.level) - LEVELS.indexOf(right.level) ||
    (left.file < right.file ? -1 : left.file > right.file ? 1 : (left.line ?? 0) - (right.line ?? 0))
  );
}
