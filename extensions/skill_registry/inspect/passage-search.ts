import { matchesOf } from '../../../lib/text/index.ts';
import { type MatchPrefix, matchPrefixesOf } from './match-prefixes.ts';
import type { Passage, Span } from './rule.ts';

/** Where expressions match in one passage. Finds the same as trying each expression at every offset, but in a fraction of the time. */
export interface PassageSearch {
  /** Whether the expression may match: a fast test. */
  mayHave(expression: RegExp): boolean;
  /** All matches, in order. */
  spans(expression: RegExp): readonly Span[];
}

export type SearchPassage = (passage: Pick<Passage, 'text' | 'words'>) => PassageSearch;

/**
 * @param expressions - All expressions that are searched for: with no flag or `g`, for text in lower case.
 * @returns A function that searches one passage.
 */
export async function createPassageSearch(
  expressions: Iterable<RegExp>,
  takeBreak: () => Promise<void>,
): Promise<SearchPassage> {
  const known = new Map<RegExp, Known>();
  const wholes = new Map<string, RegExp[]>();
  const beginnings = new Map<string, RegExp[]>();
  for (const expression of expressions) {
    await takeBreak();
    const prefixes = known.has(expression) ? undefined : matchPrefixesOf(expression.source);
    if (!prefixes) continue;
    const literals: string[] = [];
    for (const prefix of prefixes) {
      const head = headOf(prefix);
      if (head) addTo(head.isWhole ? wholes : beginnings, head.text, expression);
      else literals.push(prefix.text);
    }
    known.set(expression, { sticky: new RegExp(expression.source, 'y'), literals: withoutLonger(literals) });
  }
  const lengths = new Set([...beginnings.keys()].map(({ length }) => length));
  const vocabulary = new Map<string, readonly RegExp[]>();
  const begunBy = (word: string): readonly RegExp[] => {
    const found = vocabulary.get(word);
    if (found) return found;
    const begun = new Set<RegExp>(wholes.get(word));
    for (const length of lengths)
      if (length <= word.length)
        for (const expression of beginnings.get(word.slice(0, length)) ?? NONE) begun.add(expression);
    const list = begun.size === 0 ? NONE : [...begun];
    if (vocabulary.size >= MAX_WORDS) vocabulary.clear();
    // A longer word is a slice of the passage and would keep the whole passage in memory.
    if (word.length <= LONGEST_WORD) vocabulary.set(word, list);
    return list;
  };
  return ({ text, words }) => {
    const begun = new Map<RegExp, number[]>();
    for (const [word, offsets] of words) {
      for (const expression of begunBy(word)) {
        const list = begun.get(expression);
        if (!list) begun.set(expression, [...offsets]);
        else for (const offset of offsets) list.push(offset);
      }
    }
    return {
      mayHave: (expression) => {
        const literals = known.get(expression)?.literals;
        return literals === undefined || begun.has(expression) || literals.some((literal) => text.includes(literal));
      },
      spans(expression) {
        const { sticky, literals } = known.get(expression) ?? {};
        if (!sticky || !literals) return matchesOf(text, expression).map(spanOf);
        const offsets = [...(begun.get(expression) ?? NOWHERE)];
        for (const literal of literals)
          for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) offsets.push(at);
        return spansAt(text, sticky, offsets.sort(byNumber));
      },
    };
  };
}

// --- internal ---

interface Known {
  readonly sticky: RegExp;
  /** Parts that may also be inside a word. */
  readonly literals: readonly string[];
}

/** The beginning of a word, or the whole word. */
interface Head {
  readonly text: string;
  readonly isWhole: boolean;
}

const MAX_WORDS = 20_000;
const LONGEST_WORD = 12;
const NONE: readonly RegExp[] = [];
const NOWHERE: readonly number[] = [];

/** The letters and digits with which a word begins; undefined for what may stand inside a word. */
function headOf({ text, atWord, endsWord }: MatchPrefix): Head | undefined {
  const head = atWord ? (/^[a-z0-9]+/.exec(text)?.[0] ?? '') : '';
  return head === '' ? undefined : { text: head, isWhole: head.length < text.length || endsWord };
}

function addTo(lists: Map<string, RegExp[]>, key: string, expression: RegExp): void {
  const list = lists.get(key);
  if (list) list.push(expression);
  else lists.set(key, [expression]);
}

/** Leaves out each text that begins with another one: where it occurs, the shorter one occurs, too. */
function withoutLonger(literals: readonly string[]): readonly string[] {
  const all = [...new Set(literals)];
  return all.filter((one) => !all.some((other) => other !== one && one.startsWith(other)));
}

function spansAt(text: string, sticky: RegExp, offsets: readonly number[]): readonly Span[] {
  const found: Span[] = [];
  let after = 0;
  for (const start of offsets) {
    if (start < after) continue;
    sticky.lastIndex = start;
    if (!sticky.test(text)) continue;
    after = sticky.lastIndex;
    found.push({ start, end: after });
  }
  return found;
}

function spanOf({ 0: { length }, index }: RegExpExecArray): Span {
  return { start: index, end: index + length };
}

const byNumber = (left: number, right: number): number => left - right;
