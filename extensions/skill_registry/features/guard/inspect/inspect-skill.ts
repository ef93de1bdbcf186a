import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { oneLine, withoutKeys } from '../../../../../lib/text/index.ts';
import type { Finding, InspectedFile } from '../../../core/skill/guard.ts';
import { firstThatFlows } from './flow.ts';
import { foldConstants } from './fold.ts';
import { isAside } from './led-to.ts';
import { createPassageSearch, matchesIn } from './passage-search.ts';
import { passagesOf } from './passages.ts';
import { createReach, REACH_EXPRESSIONS } from './reach.ts';
import type { ClassifiedFile, Inspection, InspectionRule, Match, Passage, Pattern, Rule, Span } from './rule.ts';
import { compareLevels } from './rule-set.ts';
import { SEARCHED_BYTES } from './rules/files.ts';
import { RULES } from './rules/index.ts';
import { stanceOf } from './stance.ts';

export { RULE_SET } from './rule-set.ts';

/**
 * Searches the first 1 MiB of each file (a finding names longer files) in linear time; an `undefined` file is a break.
 * Runs nothing and reads nothing else: the same files give the same findings.
 */
export async function inspectSkill(
  files: Iterable<InspectedFile | undefined>,
  pause: Pause = takeBreak,
): Promise<Inspection> {
  const found = new Map<string, Finding>();
  const mentioned = new Set<Finding>();
  const skill: ClassifiedFile[] = [];
  for (const file of files) {
    await pause();
    if (file) skill.push(await readFile(file, pause));
  }
  const reach = createReach();
  for (const file of skill) {
    for await (const [rule, match] of matchesOfFile(file, skill, reach, pause)) {
      if (!match.stance) reach.addFound(file, rule.id, match.line ?? 1, match.words);
      if (match.stance === 'negated' && rule.level !== 'block') continue;
      const finding = findingOf(rule, file.path, match);
      const key = findingKey(finding);
      const old = found.get(key);
      // Of equal findings the first stays, unless a later one matters more.
      if (old && compareLevels(old.level, finding.level) <= 0 && !mentioned.has(old)) continue;
      found.set(key, finding);
      if (match.stance) mentioned.add(finding);
    }
  }
  const listed = [...found.values()].filter((finding) => !mentioned.has(finding));
  for (const rule of RULES) {
    for (const one of rule.whole?.(skill, reach.all()) ?? []) {
      await pause();
      const finding = one && findingOf(rule, one.file, one);
      if (finding) found.set(findingKey(finding), finding);
    }
  }
  const all = [...found.values(), ...combinedFindings(listed, skill)];
  const blocked = new Set(all.filter(({ level }) => level === 'block').map(({ file }) => file));
  const aside = new Set(skill.filter((file) => blocked.has(file.path) && isAside(file, skill)).map(({ path }) => path));
  const findings = all.map((one) =>
    one.level === 'block' && aside.has(one.file) ? { ...one, level: 'warn' as const } : one,
  );
  findings.sort(byImportance);
  return { verdict: findings[0]?.level ?? 'info', findings, reach: reach.list(skill) };
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

type Pause = () => Promise<void>;

async function readFile({ path, bytes, executable = false }: InspectedFile, pause: Pause): Promise<ClassifiedFile> {
  const searched = bytes.subarray(0, SEARCHED_BYTES);
  const isBinary = searched.subarray(0, 8000).includes(0);
  const text = isBinary ? '' : new TextDecoder().decode(searched);
  const prose = PROSE.test(path);
  const script = isScript(path, text) || executable;
  const folding = foldConstants(prose || script ? text : '');
  let step = folding.next();
  for (; !step.done; step = folding.next()) await pause();
  const kind = isBinary ? 'binary' : 'text';
  return { path, kind, prose, script, executable, bytes, text, folded: step.value };
}

async function* matchesOfFile(
  file: ClassifiedFile,
  skill: readonly ClassifiedFile[],
  reach: ReturnType<typeof createReach>,
  pause: Pause,
): AsyncGenerator<readonly [Rule, Match]> {
  for (const rule of RULES) {
    for (const match of rule.find?.(file, skill) ?? []) {
      await pause();
      if (match) yield [rule, match];
    }
  }
  const searches = SEARCHES.filter(({ where }) => where === undefined || (where === 'prose') === file.prose);
  /** For expressions that may be anywhere in the file: all matches of each. */
  const parts = new Map<RegExp, Match[]>();
  searchPassage ??= createPassageSearch([
    ...SEARCHES.flatMap(({ match, needs }) => (needs ? [...match, needs] : match)),
    ...REACH_EXPRESSIONS,
  ]);
  for (const passage of passagesOfFile(file)) {
    await pause();
    if (!passage) continue;
    const positions = searchPassage(passage.text);
    reach.addPassage(file, passage, positions);
    for (const search of searches) {
      const { rule, match: expressions, needs, scope } = search;
      if (needs && !positions.mayHave(needs)) continue;
      if (scope !== 'file' && !expressions.every(positions.mayHave)) continue;
      await pause();
      const stanceAt = (span: Span) => stanceOf(passage, span, search, file.script);
      const matches = (some: readonly RegExp[]) => matchesIn(passage, positions, some, search, stanceAt);
      if (scope !== 'file') {
        for (const match of matches(expressions)) yield [rule, match];
        continue;
      }
      for (const expression of expressions) {
        const list = parts.get(expression) ?? [];
        for (const match of matches([expression])) list.push(match);
        parts.set(expression, list);
      }
    }
  }
  for (const { rule, match: expressions, scope } of searches) {
    if (scope !== 'file') continue;
    await pause();
    const [heads = [], ...others] = expressions.map((expression) => parts.get(expression) ?? []);
    if (others.some((list) => list.length === 0)) continue;
    const meant = heads.filter(({ stance }) => !stance);
    const apart = meant[0] ? { ...meant[0], stance: 'apart' as const } : heads[0];
    const match = firstThatFlows(file, meant, others) ?? apart;
    if (match) yield [rule, match];
  }
}

function* passagesOfFile({ text, folded, prose }: ClassifiedFile): Generator<Passage | undefined> {
  yield* passagesOf(text, prose);
  if (folded) yield* passagesOf(folded.text, prose);
}

type Search = Pattern & { readonly rule: Rule };

const SEARCHES: readonly Search[] = RULES.flatMap((rule) => (rule.patterns ?? []).map((one) => ({ ...one, rule })));
let searchPassage: ReturnType<typeof createPassageSearch> | undefined;

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

function findingOf(rule: Rule, file: string, { line, words, message, stance }: Match): Finding {
  return {
    rule: rule.id,
    level: stance && rule.level === 'block' ? 'warn' : rule.level,
    file,
    ...(line === undefined ? {} : { line }),
    excerpt: excerptOf(words),
    message: message === undefined ? rule.message : oneLine(withoutKeys(message), 300),
  };
}

/** A person allows a finding by its excerpt, so that of words that are cut has a part of their digest. */
function excerptOf(words: string): string {
  // Cut first, and wider than what is shown, so that no part of a secret is left.
  const shown = oneLine(withoutKeys(words.slice(0, 1000)), 200);
  if (words.length <= 1000 && !shown.endsWith('…')) return shown;
  return `${oneLine(shown, 160)} [${digestOf(withoutKeys(words)).slice(-32)}]`;
}

function findingKey({ rule, file, excerpt }: Finding): string {
  return JSON.stringify([rule, file, excerpt]);
}

function byImportance(left: Finding, right: Finding): number {
  return (
    compareLevels(left.level, right.level) ||
    (left.file < right.file ? -1 : left.file > right.file ? 1 : (left.line ?? 0) - (right.line ?? 0))
  );
}
