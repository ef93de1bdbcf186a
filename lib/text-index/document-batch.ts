import { batchPosting, MAX_TIMES } from './postings.ts';
import { numberOf, pairOf, plainWordsOf, runsOf, termsOfRun } from './terms.ts';

export interface IndexDocument {
  readonly key: string;
  /** Number of terms of the header, then of each section. */
  readonly lengths: Uint16Array;
  /** Of neighbouring terms (`pairOf`), sorted, each once. */
  readonly pairs: Uint32Array;
}

/** Letters of a word that is corrected: for shorter ones too many words are one edit away. */
export const MIN_CORRECTED = 4;

/** Written together, so that a term takes one row and not one for each document. */
export interface DocumentBatch {
  readonly documents: readonly IndexDocument[];
  /** By term: postings of `batchPosting`, with positions in `documents`. */
  readonly terms: ReadonlyMap<string, { readonly postings: readonly number[] }>;
  /** Of all headers, not stemmed: candidates for corrections. */
  readonly words: ReadonlySet<string>;
}

export interface OpenBatch extends DocumentBatch {
  /** @param body - Markdown; each section is ranked separately. */
  add(key: string, header: string, body: string): void;
  characters(): number;
}

export function createBatch(): OpenBatch {
  const documents: IndexDocument[] = [];
  const terms = new Map<string, TermCount>();
  /** A cache: most runs occur several times. */
  const runs = new Map<string, readonly TermCount[]>();
  const [runsOfHeaders, words] = [new Set<string>(), new Set<string>()];
  let [characters, sections] = [0, 0];
  const countsOfRun = (run: string): readonly TermCount[] => {
    const made = termsOfRun(run).map((term) => {
      const count = terms.get(term) ?? { number: numberOf(term), postings: [], section: 0, times: 0 };
      terms.set(term, count);
      return count;
    });
    runs.set(run, made);
    return made;
  };
  /** Returns the number of terms. @param first - The posting of a term that occurs once in the section. */
  const countTerms = (text: string, first: number, pairs: Set<number>): number => {
    let occurrences = 0;
    let last: number | undefined;
    sections += 1;
    const current = sections;
    for (const run of runsOf(text)) {
      for (const count of runs.get(run) ?? countsOfRun(run)) {
        occurrences += 1;
        if (last !== undefined) pairs.add(pairOf(last, count.number));
        last = count.number;
        if (count.section !== current) {
          count.section = current;
          count.times = 1;
          count.postings.push(first);
        } else if (count.times < MAX_TIMES) {
          count.times += 1;
          (count.postings[count.postings.length - 1] as number) += 1;
        }
      }
    }
    return occurrences;
  };
  return {
    documents,
    terms,
    words,
    add(key, header, body) {
      const parts = [header, ...sectionsOf(body.slice(0, MAX_INDEXED_BODY))];
      const pairs = new Set<number>();
      const first = (section: number): number => batchPosting(documents.length, section);
      const occurrences = parts.map((text, section) => countTerms(text, first(section), pairs));
      characters += parts.reduce((sum, text) => sum + text.length, 0);
      for (const run of runsOf(header)) {
        if (runsOfHeaders.has(run)) continue;
        runsOfHeaders.add(run);
        for (const word of plainWordsOf(run)) if (word.length >= MIN_CORRECTED) words.add(word);
      }
      const lengths = Uint16Array.from(occurrences, (count) => Math.min(count, 0xffff));
      documents.push({ key, lengths, pairs: Uint32Array.from(pairs).sort() });
    },
    characters: () => characters,
  };
}

/** With their headings. A `#` in a code block is not a heading. None for an empty body. */
export function sectionsOf(body: string): readonly string[] {
  const sections: string[] = [];
  let [start, at, fenced] = [0, 0, false];
  const cut = (end: number): void => {
    if (body.slice(start, end).trim() !== '') sections.push(body.slice(start, end));
    start = end;
  };
  while (at < body.length) {
    const end = body.indexOf('\n', at);
    const next = end === -1 ? body.length : end + 1;
    const line = body.slice(at, Math.min(next, at + 20));
    if (FENCE.test(line)) fenced = !fenced;
    else if (!fenced && HEADING.test(line) && sections.length < MAX_SECTIONS - 1) cut(at);
    at = next;
  }
  cut(body.length);
  return sections;
}

// --- internal ---

/** Characters that are indexed. */
const MAX_INDEXED_BODY = 262_144;
/** The last section holds the rest. */
const MAX_SECTIONS = 1000;
const HEADING = /^ {0,3}#{1,6}\s/;
const FENCE = /^\s*(?:```|~~~)/;

interface TermCount {
  readonly number: number;
  readonly postings: number[];
  /** Last counted section that has the term, from 1 over all documents; `times` is for this section. */
  section: number;
  times: number;
}
