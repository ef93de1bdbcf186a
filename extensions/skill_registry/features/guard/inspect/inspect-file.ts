import type { Steps } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { oneLine, withoutKeys } from '../../../../../lib/text/index.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import { firstThatFlows } from './flow.ts';
import { foldConstants } from './fold.ts';
import { createPassageSearch, matchesIn, type PassageSearch } from './passage-search.ts';
import { passagesOf } from './passages.ts';
import { createReach, REACH_EXPRESSIONS } from './reach.ts';
import type { ClassifiedFile, Match, Passage, Pattern, Reached, Rule, Span } from './rule.ts';
import { compareLevels } from './rule-set.ts';
import { RULES } from './rules/index.ts';
import { stanceOf } from './stance.ts';

/** Of one file alone: the same for the same bytes, name and kind, in whatever skill and folder the file lies. */
export interface FileResult {
  /** `file` is the name without folders. `isMentioned`: the text does not ask to do it. */
  readonly found: readonly { readonly finding: Finding; readonly isMentioned: boolean }[];
  readonly reach: readonly Reached[];
}

/** All that the result depends on besides the rules. `digest`: of its bytes. */
export function keyOfFile({ path, script, executable }: ClassifiedFile, digest: string): string {
  return [digest, script, executable, nameOf(path)].join(' ');
}

/** By all rules that look at one file alone. They get no folders, so that none can depend on them. */
export function* inspectFile(given: ClassifiedFile): Steps<FileResult> {
  const isRun = given.prose || given.script;
  const folded = yield* foldConstants(isRun ? given.text : '');
  const file = { ...given, path: nameOf(given.path), folded };
  const found = new Map<string, FileResult['found'][number]>();
  const reach = createReach(file);
  for (const one of matchesOfFile(file, reach)) {
    yield undefined;
    if (!one) continue;
    const [rule, match] = one;
    if (!match.stance || match.stance === 'fact') reach.addFound(rule.id, match.line ?? 1, match.words);
    if (match.stance === 'fact' || (match.stance === 'negated' && rule.level !== 'block')) continue;
    const finding = findingOf(rule, file.path, match);
    const key = findingKey(finding);
    const old = found.get(key);
    // Of equal findings the first stays, unless a later one matters more.
    if (old && compareLevels(old.finding.level, finding.level) <= 0 && !old.isMentioned) continue;
    found.set(key, { finding, isMentioned: match.stance !== undefined });
  }
  return { found: [...found.values()], reach: reach.all() };
}

export function findingOf(rule: Rule, file: string, { line, words, message, stance }: Match): Finding {
  return {
    rule: rule.id,
    level: stance && rule.level === 'block' ? 'warn' : rule.level,
    file,
    ...(line === undefined ? {} : { line }),
    excerpt: excerptOf(words),
    message: message === undefined ? rule.message : oneLine(withoutKeys(message), 300),
  };
}

export function findingKey({ rule, file, excerpt }: Finding): string {
  return JSON.stringify([rule, file, excerpt]);
}

// --- internal ---

type Found = readonly [Rule, Match] | undefined;
type Search = Pattern & { readonly rule: Rule };

const SEARCHES: readonly Search[] = RULES.flatMap((rule) => (rule.patterns ?? []).map((one) => ({ ...one, rule })));
/** Their texts tell agents what tools do. */
const DESCRIBES = /\.(?:jsonc?|ya?ml|toml)$/i;
let searchPassage: ReturnType<typeof createPassageSearch> | undefined;

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function* matchesOfFile(file: ClassifiedFile, reach: ReturnType<typeof createReach>): Generator<Found> {
  for (const rule of RULES) {
    for (const match of rule.find?.(file) ?? []) yield match && [rule, match];
  }
  const describes = !file.script && DESCRIBES.test(file.path);
  const searches = SEARCHES.filter(
    ({ where, rule }) =>
      where === undefined || (where === 'prose') === file.prose || (describes && rule.level !== 'block'),
  );
  /** For expressions that may be anywhere in the file: all matches of each. */
  const parts = new Map<RegExp, Match[]>();
  searchPassage ??= createPassageSearch([
    ...SEARCHES.flatMap(({ match, needs }) => (needs ? [...match, needs] : match)),
    ...REACH_EXPRESSIONS,
  ]);
  for (const passage of passagesOfFile(file)) {
    yield undefined;
    if (!passage) continue;
    const positions = searchPassage(passage.text);
    reach.addPassage(passage, positions);
    for (const search of searches) {
      if (mayMatch(search, positions)) yield* matchesOfSearch(search, file, passage, positions, parts);
    }
  }
  for (const { rule, match: expressions, scope } of searches) {
    if (scope !== 'file') continue;
    const [heads = [], ...others] = expressions.map((expression) => parts.get(expression) ?? []);
    if (others.some((list) => list.length === 0)) continue;
    yield undefined;
    const meant = heads.filter(({ stance }) => !stance);
    const apart = meant[0] ? { ...meant[0], stance: 'apart' as const } : heads[0];
    const match = (yield* firstThatFlows(file, meant, others)) ?? apart;
    if (match) yield [rule, match];
  }
}

function mayMatch({ match, needs, scope }: Search, { mayHave }: PassageSearch): boolean {
  return (!needs || mayHave(needs)) && (scope === 'file' ? match.some(mayHave) : match.every(mayHave));
}

/** Those of an expression that may be anywhere in the file are only added to `parts`. */
function* matchesOfSearch(
  search: Search,
  { script }: ClassifiedFile,
  passage: Passage,
  positions: PassageSearch,
  parts: Map<RegExp, Match[]>,
): Generator<Found> {
  const { rule, match: expressions, scope } = search;
  yield undefined;
  const stanceAt = (span: Span) => stanceOf(passage, span, search, script);
  if (scope !== 'file') {
    for (const match of matchesIn(passage, positions, expressions, search, stanceAt)) yield [rule, match];
    return;
  }
  for (const expression of expressions) {
    const list = parts.get(expression) ?? [];
    list.push(...matchesIn(passage, positions, [expression], search, stanceAt));
    parts.set(expression, list);
  }
}

function* passagesOfFile({ text, folded, prose }: ClassifiedFile): Generator<Passage | undefined> {
  yield* passagesOf(text, prose);
  if (folded) yield* passagesOf(folded.text, prose);
}

/** A person allows a finding by its excerpt, so that of words that are cut has a part of their digest. */
function excerptOf(words: string): string {
  // Cut first, and wider than what is shown, so that no part of a secret is left.
  const shown = oneLine(withoutKeys(words.slice(0, 1000)), 200);
  if (words.length <= 1000 && !shown.endsWith('…')) return shown;
  return `${oneLine(shown, 160)} [${digestOf(withoutKeys(words)).slice(-32)}]`;
}
