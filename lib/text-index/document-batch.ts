import { batchPosting, MAX_TIMES } from './postings.ts';
import { runsOf, termsOfRun, wordsOf } from './terms.ts';

/** What the index keeps of one skill beside its postings. */
export interface IndexDocument {
  readonly key: string;
  /** Terms of the header, then of each section. */
  readonly lengths: Uint16Array;
  /** Words of the header as they are written, which typing errors are corrected to. */
  readonly words: readonly string[];
}

/** Shorter words are not corrected: too many are one edit away. */
export const MIN_CORRECTED = 4;

/** Documents that are written together: each term is then one row, not one for each of them. */
export interface DocumentBatch {
  readonly documents: readonly IndexDocument[];
  /** By term, each posting as `batchPosting` makes it, of the position in `documents`. */
  readonly terms: ReadonlyMap<string, { readonly postings: readonly number[] }>;
}

/** A batch that is being filled. */
export interface OpenBatch extends DocumentBatch {
  /**
   * @param key - Unique.
   * @param header - What typing errors are corrected to.
   * @param body - Markdown; each of its sections is ranked by itself.
   */
  add(key: string, header: string, body: string): void;
  /** Of the texts that came in. */
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
        lengths[section] = Math.min(countTerms(counts, text, batchPosting(documents.length, section)), 0xffff);
        characters += text.length;
      }
      const words = new Set(wordsOf(header).filter((word) => word.length >= MIN_CORRECTED));
      documents.push({ key, lengths, words: [...words] });
    },
    characters: () => characters,
  };
}

/** The parts of a Markdown body, each with its heading; a `#` in a code block is no heading. None for an empty body. */
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

/** Of a body, so many characters are indexed; a person does not read further either. */
const MAX_INDEXED_BODY = 262_144;
/** More are one: a document has so many sections at most. */
const MAX_SECTIONS = 1000;
const HEADING = /^ {0,3}#{1,6}\s/;
const FENCE = /^\s*(?:```|~~~)/;

/** Where one term occurs, and how often in the section that was counted last. */
interface TermCount {
  readonly postings: number[];
  /** Counted over all documents, from 1. */
  section: number;
  times: number;
}

interface Counts {
  readonly terms: Map<string, TermCount>;
  /** The counts of the terms of a run, because most runs come again. */
  readonly runs: Map<string, readonly TermCount[]>;
  /** Sections counted so far. */
  sections: number;
}

/**
 * Counts the terms of one section.
 *
 * @param first - The posting of a term that occurs once in it.
 * @returns how many terms it has.
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
    const known = terms.get(term);
    if (known) return known;
    const count: TermCount = { postings: [], section: 0, times: 0 };
    terms.set(term, count);
    return count;
  });
  runs.set(run, made);
  return made;
}
