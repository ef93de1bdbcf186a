import { batchPosting, MAX_TIMES } from './postings.ts';
import { runsOf, termsOfRun, wordsOf } from './terms.ts';

/** What the index stores of one document beside its postings. */
export interface IndexDocument {
  readonly key: string;
  /** Number of terms of the header, then of each section. */
  readonly lengths: Uint16Array;
  /** Words of the header as they are written: candidates for correcting typing errors. */
  readonly words: readonly string[];
}

/** The fewest letters of a word that is corrected: for shorter ones too many words are one edit away. */
export const MIN_CORRECTED = 4;

/** Documents that are written together, so that a term takes one row and not one for each document. */
export interface DocumentBatch {
  readonly documents: readonly IndexDocument[];
  /** By term: postings made by `batchPosting`, with the position in `documents`. */
  readonly terms: ReadonlyMap<string, { readonly postings: readonly number[] }>;
}

/** A batch that is being filled. */
export interface OpenBatch extends DocumentBatch {
  /**
   * @param key - Unique.
   * @param header - Its words are the candidates for corrections.
   * @param body - Markdown; each of its sections is ranked separately.
   */
  add(key: string, header: string, body: string): void;
  /** Characters of all texts that were added. */
  characters(): number;
}

export function createBatch(): OpenBatch {
  const documents: IndexDocument[] = [];
  const counts: Counts = { terms: new Map(), runs: new Map(), sections: 0 };
  let characters = 0;
  return {
    documents,
    terms: counts.terms,
    add(key, header, body) {
      const parts = [header, ...sectionsOf(body.slice(0, MAX_INDEXED_BODY))];
      const lengths = new Uint16Array(parts.length);
      for (const [section, text] of parts.entries()) {
        const occurrences = countTerms(counts, text, batchPosting(documents.length, section));
        lengths[section] = Math.min(occurrences, 0xffff);
        characters += text.length;
      }
      const words = new Set(wordsOf(header).filter((word) => word.length >= MIN_CORRECTED));
      documents.push({ key, lengths, words: [...words] });
    },
    characters: () => characters,
  };
}

/** The sections of a Markdown body, each with its heading. A `#` in a code block is not a heading. None for an empty body. */
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

/** Characters of a body that are indexed. */
const MAX_INDEXED_BODY = 262_144;
/** Sections of a document; the last one holds the rest. */
const MAX_SECTIONS = 1000;
const HEADING = /^ {0,3}#{1,6}\s/;
const FENCE = /^\s*(?:```|~~~)/;

/** Where one term occurs, and how often in the last counted section that has it. */
interface TermCount {
  readonly postings: number[];
  /** Number of that section, over all documents, from 1. */
  section: number;
  times: number;
}

interface Counts {
  readonly terms: Map<string, TermCount>;
  /** Cache: the counts of the terms of a run, because most runs occur several times. */
  readonly runs: Map<string, readonly TermCount[]>;
  /** Sections counted so far. */
  sections: number;
}

/**
 * Counts the terms of one section.
 *
 * @param first - The posting of a term that occurs once in the section.
 * @returns The number of terms in the section.
 */
function countTerms(counts: Counts, text: string, first: number): number {
  let occurrences = 0;
  counts.sections += 1;
  const { sections, runs } = counts;
  for (const run of runsOf(text)) {
    for (const count of runs.get(run) ?? countsOfRun(counts, run)) {
      occurrences += 1;
      if (count.section !== sections) {
        count.section = sections;
        count.times = 1;
        count.postings.push(first);
      } else if (count.times < MAX_TIMES) {
        count.times += 1;
        (count.postings[count.postings.length - 1] as number) += 1;
      }
    }
  }
  return occurrences;
}

function countsOfRun({ terms, runs }: Counts, run: string): readonly TermCount[] {
  const made = termsOfRun(run).map((term) => {
    const counted = terms.get(term);
    if (counted) return counted;
    const count: TermCount = { postings: [], section: 0, times: 0 };
    terms.set(term, count);
    return count;
  });
  runs.set(run, made);
  return made;
}
