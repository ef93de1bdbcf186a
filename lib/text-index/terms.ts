import { stemmer } from 'stemmer';

/**
 * In order: lower case, without accents, without stop words, English words as stems (Porter). An identifier (camelCase,
 * snake_case, dotted) gives its parts and then the whole without separators. Chinese, Japanese and Korean text gives
 * pairs of characters. `c++`, `c#` and `f#` are one term.
 */
export function termsOf(text: string): readonly string[] {
  return runsOf(text).flatMap(termsOfRun);
}

/** The parts of a text between separators; each has one or more words. */
export function runsOf(text: string): readonly string[] {
  return text.match(ROUGH_RUN) ?? [];
}

export function termsOfRun(run: string): readonly string[] {
  const terms: string[] = [];
  for (const { word } of wordsOfRun(run)) {
    const term = termOf(word);
    if (term !== undefined) terms.push(term);
  }
  return terms;
}

/** Lower case, not stemmed, without stop words and whole identifiers. */
export function plainWordsOf(run: string): readonly string[] {
  return wordsOfRun(run).flatMap(({ word, isWhole }) => (isWhole || STOP_WORDS.has(word) ? [] : word));
}

/** Undefined for a stop word. @param word - Lower case. */
export function termOf(word: string): string | undefined {
  if (STOP_WORDS.has(word)) return undefined;
  const cached = stems.get(word);
  if (cached !== undefined) return cached;
  if (!ENGLISH.test(word)) return word;
  const term = stemmer(word);
  if (word.length > MAX_CACHED_WORD) return term;
  if (stems.size >= MAX_STEMS) stems.clear();
  stems.set(word, term);
  return term;
}

/** Each once. An `optional` term raises the rank of a skill; a skill without it does not rank lower. */
export interface QueryTerms {
  readonly terms: readonly string[];
  readonly optional: readonly string[];
  /** By term, for corrections. */
  readonly words: ReadonlyMap<string, string>;
  /** Of neighbouring terms, as `pairOf` gives them; each once. */
  readonly pairs: ReadonlySet<number>;
}

/** @param max - Number of terms that are used: a prompt may be a whole file. */
export function queryTerms(text: string, max: number): QueryTerms {
  const words = new Map<string, string>();
  const optional = new Set<string>();
  const pairs = new Set<number>();
  let last: number | undefined;
  for (const run of runsOf(text)) {
    if (words.size >= max) break;
    for (const { word, isWhole } of wordsOfRun(run)) {
      const term = words.size < max ? termOf(word) : undefined;
      if (term === undefined) continue;
      const number = numberOf(term);
      if (last !== undefined) pairs.add(pairOf(last, number));
      last = number;
      if (isWhole) optional.add(term);
      else if (!words.has(term)) words.set(term, word);
    }
  }
  return { terms: [...words.keys()], optional: [...optional].filter((term) => !words.has(term)), words, pairs };
}

/** Of a term, for `pairOf`: 32 bits (FNV-1a). */
export function numberOf(term: string): number {
  let number = 0x811c9dc5;
  for (let at = 0; at < term.length; at++) number = Math.imul(number ^ term.charCodeAt(at), 0x01000193);
  return number;
}

/** 32 bits, which a few other pairs have as well. */
export function pairOf(first: number, second: number): number {
  return (Math.imul(first, 0x9e3779b1) ^ second) >>> 0;
}

// --- internal ---

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about again all also am an and any are as at be because been being both but by can could did do does doing don for ' +
    'from had has have having he her here him his how i if in into is it its just let me more most my myself no not now of ' +
    'off on once only or other our ours out over own please same she should so some such than that the their them then ' +
    'there these they this those through to too up us very want wants was we were what when where which while who whom why ' +
    'will with would yes you your yours s t d m ll re ve'
  ).split(' '),
);

/** Characters; longer texts are hashes or encoded data, and are left out. */
const MAX_WORD = 48;
const MAX_STEMS = 20_000;
/** V8 stores a longer word as a slice of its text, and a cached one would keep the whole text in memory. */
const MAX_CACHED_WORD = 12;
const ENGLISH = /^[a-z]{3,24}$/;
/** A fast approximation of `RUN`, which takes ten times as long and is used only for letters beyond ASCII. */
const ROUGH_RUN = /[A-Za-z0-9\u0080-\uffff]+(?:[._][A-Za-z0-9\u0080-\uffff]+)*(?:\+\+|#)?/g;
const RUN = /[\p{L}\p{N}\p{M}]+(?:[._][\p{L}\p{N}\p{M}]+)*(?:\+\+|#)?/gu;
const ASCII = /^[\0-\x7f]*$/;
const SIMPLE = /^[A-Za-z]?[a-z0-9]*$/;
const MARKED = /^[A-Za-z](?:\+\+|#)$/;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const CAMEL_CASE = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const ASCII_CAMEL_CASE = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** A cache: stemming is the slowest step, and most words occur often. */
const stems = new Map<string, string>();

interface Word {
  /** Lower case. */
  readonly word: string;
  /** Whether it is an identifier without its separators. It comes after its parts. */
  readonly isWhole: boolean;
}

function wordsOfRun(run: string): readonly Word[] {
  if (SIMPLE.test(run)) return run.length <= MAX_WORD ? [{ word: run.toLowerCase(), isWhole: false }] : [];
  if (ASCII.test(run)) return wordsOfPart(run, true);
  return [...run.normalize('NFKC').matchAll(RUN)].flatMap(([part]) => wordsOfPart(part, ASCII.test(part)));
}

function wordsOfPart(run: string, ascii: boolean): readonly Word[] {
  if (MARKED.test(run)) return [{ word: run.toLowerCase(), isWhole: false }];
  const boundaries = ascii ? ASCII_CAMEL_CASE : CAMEL_CASE;
  const pieces = run.split(/[._+#]/).filter((piece) => piece !== '');
  const parts = pieces.flatMap((piece) => (SIMPLE.test(piece) ? piece : piece.split(boundaries)));
  const isWide = (word: string): boolean => !ascii && WIDE.test(word);
  const words: Word[] = [];
  for (const part of parts) {
    const word = plain(part);
    if (isWide(word)) for (const pair of pairsOf(word)) words.push({ word: pair, isWhole: false });
    else words.push({ word, isWhole: false });
  }
  const whole = parts.length < 2 ? '' : plain(parts.join(''));
  if (!isWide(whole)) words.push({ word: whole, isWhole: true });
  return words.filter(({ word }) => word.length > 0 && word.length <= MAX_WORD);
}

function plain(word: string): string {
  const lower = word.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}

/** Of neighbours; a character alone is one. */
function pairsOf(word: string): readonly string[] {
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
