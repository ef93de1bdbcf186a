import { stemmer } from 'stemmer';

/**
 * Cuts text into the terms that are indexed and searched for, in order: words in lower case without accents, English ones
 * reduced to their stem (Porter). An identifier (camelCase, snake_case, dotted) gives its parts and, behind them, the whole
 * without separators. A run of Chinese, Japanese or Korean gives its pairs of characters. `c++`, `c#` and `f#` stay whole.
 */
export function termsOf(text: string): readonly string[] {
  return runsOf(text).flatMap(termsOfRun);
}

/** The parts of a text that words are cut from, as they are written. */
export function runsOf(text: string): readonly string[] {
  return text.match(ROUGH_RUN) ?? [];
}

/** The terms of one of them: those of a text are those of its runs, in order. */
export function termsOfRun(run: string): readonly string[] {
  const terms: string[] = [];
  scanRough(run, (word) => {
    const term = termOf(word);
    if (term !== undefined) terms.push(term);
  });
  return terms;
}

/** The words themselves, in lower case, each as it is written; stop words and wholes of identifiers are left out. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  scan(text, (word, whole) => {
    if (!whole && !STOP_WORDS.has(word)) words.push(word);
  });
  return words;
}

/** The term of one lower-case word; undefined for a stop word. */
export function termOf(word: string): string | undefined {
  if (STOP_WORDS.has(word)) return undefined;
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (!ENGLISH.test(word)) return word;
  const term = stemmer(word);
  if (word.length > MAX_KEPT_WORD) return term;
  if (stems.size >= MAX_STEMS) stems.clear();
  stems.set(word, term);
  return term;
}

/** What a query says: terms, each once. `optional` ones count when they are found and are not missed when they are not. */
export interface QueryTerms {
  readonly terms: readonly string[];
  readonly optional: readonly string[];
  /** The word a term comes from, for corrections. */
  readonly words: ReadonlyMap<string, string>;
}

/** @param max - Terms at most, the first ones; a prompt may be a whole file. */
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

/** English words that say nothing about what a skill is for; neither indexed nor searched for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about again all also am an and any are as at be because been being both but by can could did do does doing don for ' +
    'from had has have having he her here him his how i if in into is it its just let me more most my myself no not now of ' +
    'off on once only or other our ours out over own please same she should so some such than that the their them then ' +
    'there these they this those through to too up us very want wants was we were what when where which while who whom why ' +
    'will with would yes you your yours s t d m ll re ve'
  ).split(' '),
);

/** Longer ones are no words: hashes, encoded data. */
const MAX_WORD = 48;
const MAX_STEMS = 20_000;
/** A longer one is a piece of its text for the engine, and would keep all of it in memory. */
const MAX_KEPT_WORD = 12;
const ENGLISH = /^[a-z]{3,24}$/;
/** What may be a run; letters beyond ASCII are looked at more closely, which takes ten times as long. */
const ROUGH_RUN = /[A-Za-z0-9\u0080-\uffff]+(?:[._][A-Za-z0-9\u0080-\uffff]+)*(?:\+\+|#)?/g;
const RUN = /[\p{L}\p{N}\p{M}]+(?:[._][\p{L}\p{N}\p{M}]+)*(?:\+\+|#)?/gu;
const ASCII = /^[\0-\x7f]*$/;
const SIMPLE = /^[A-Za-z]?[a-z0-9]*$/;
const MARKED = /^[A-Za-z](?:\+\+|#)$/;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const HUMPS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const ASCII_HUMPS = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

/** Stems cost more than anything else, and the same words come again and again. */
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
  const humps = ascii ? ASCII_HUMPS : HUMPS;
  const pieces = run.split(/[._+#]/).filter((piece) => piece !== '');
  const parts = pieces.flatMap((piece) => (SIMPLE.test(piece) ? piece : piece.split(humps)));
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

/** Lower case without accents. */
function plain(word: string): string {
  const lower = word.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}

function scanWide(word: string, visit: Visit): void {
  const characters = [...word];
  if (characters.length === 1) visit(word, false);
  for (let at = 0; at + 1 < characters.length; at++) visit(`${characters[at]}${characters[at + 1]}`, false);
}
