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
  scanRough(run, (word) => {
    const term = termOf(word);
    if (term !== undefined) terms.push(term);
  });
  return terms;
}

/** Lower case, not stemmed, without stop words and whole identifiers. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  scan(text, (word, whole) => {
    if (!whole && !STOP_WORDS.has(word)) words.push(word);
  });
  return words;
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
}

/** @param max - Number of terms that are used: a prompt may be a whole file. */
export function queryTerms(text: string, max: number): QueryTerms {
  const words = new Map<string, string>();
  const optional = new Set<string>();
  scan(text, (word, whole) => {
    if (words.size >= max) return;
    const term = termOf(word);
    if (term === undefined) return;
    if (whole) optional.add(term);
    else if (!words.has(term)) words.set(term, word);
  });
  return { terms: [...words.keys()], optional: [...optional].filter((term) => !words.has(term)), words };
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

type Visit = (word: string, whole: boolean) => void;

function scan(text: string, visit: Visit): void {
  for (const run of runsOf(text)) scanRough(run, visit);
}

function scanRough(run: string, visit: Visit): void {
  if (SIMPLE.test(run)) visitWord(run.toLowerCase(), visit);
  else if (ASCII.test(run)) scanRun(run, true, visit);
  else for (const [part] of run.normalize('NFKC').matchAll(RUN)) scanRun(part, ASCII.test(part), visit);
}

function scanRun(run: string, ascii: boolean, visit: Visit): void {
  if (MARKED.test(run)) {
    visit(run.toLowerCase(), false);
    return;
  }
  const boundaries = ascii ? ASCII_CAMEL_CASE : CAMEL_CASE;
  const pieces = run.split(/[._+#]/).filter((piece) => piece !== '');
  const parts = pieces.flatMap((piece) => (SIMPLE.test(piece) ? piece : piece.split(boundaries)));
  for (const part of parts) {
    const word = plain(part);
    if (!ascii && WIDE.test(word)) scanWide(word, visit);
    else visitWord(word, visit);
  }
  if (parts.length < 2) return;
  const whole = plain(parts.join(''));
  if (whole.length <= MAX_WORD && (ascii || !WIDE.test(whole))) visit(whole, true);
}

function visitWord(word: string, visit: Visit): void {
  if (word.length > 0 && word.length <= MAX_WORD) visit(word, false);
}

function plain(word: string): string {
  const lower = word.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}

function scanWide(word: string, visit: Visit): void {
  const characters = [...word];
  if (characters.length === 1) visit(word, false);
  for (let at = 0; at + 1 < characters.length; at++) visit(`${characters[at]}${characters[at + 1]}`, false);
}
