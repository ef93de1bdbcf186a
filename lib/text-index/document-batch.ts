import { MAX_TIMES, packPosting } from './posting-codec.ts';
import { sectionsOf } from './sections.ts';
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
  /** By term, each posting: the place in `documents` times `PLACE`, plus section and times packed as of document 0. */
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

/** Of a body, so many characters are indexed; a person does not read further either. */
export const MAX_INDEXED_BODY = 262_144;
export const PLACE: number = 2 ** 23;

export function createBatch(): OpenBatch {
  const documents: IndexDocument[] = [];
  const terms = new Map<string, Tally>();
  const known = new Map<string, readonly Tally[]>();
  let characters = 0;
  let sections = 0;

  const tallyOf = (term: string): Tally => {
    const found = terms.get(term);
    if (found) return found;
    const tally = { postings: [], section: 0, times: 0 };
    terms.set(term, tally);
    return tally;
  };
  const talliesOf = (run: string): readonly Tally[] => {
    const made = termsOfRun(run).map(tallyOf);
    known.set(run, made);
    return made;
  };
  /** @returns how many terms it has. */
  const count = (text: string, place: number, section: number): number => {
    let occurrences = 0;
    sections += 1;
    const first = place * PLACE + packPosting(0, section, 1);
    for (const run of runsOf(text)) {
      for (const tally of known.get(run) ?? talliesOf(run)) {
        occurrences += 1;
        if (tally.section !== sections) {
          tally.section = sections;
          tally.times = 1;
          tally.postings.push(first);
        } else if (tally.times < MAX_TIMES) {
          tally.times += 1;
          (tally.postings[tally.postings.length - 1] as number) += 1;
        }
      }
    }
    return occurrences;
  };
  return {
    documents,
    terms,
    add(key, header, body) {
      const parts = [header, ...sectionsOf(body.slice(0, MAX_INDEXED_BODY))];
      const lengths = new Uint16Array(parts.length);
      for (const [section, text] of parts.entries()) {
        lengths[section] = Math.min(count(text, documents.length, section), 0xffff);
        characters += text.length;
      }
      const words = new Set(wordsOf(header).filter((word) => word.length >= MIN_CORRECTED));
      documents.push({ key, lengths, words: [...words] });
    },
    characters: () => characters,
  };
}

// --- internal ---

/** Where one term occurs, and how often in the section that was counted last. */
interface Tally {
  readonly postings: number[];
  /** Counted over all documents, from 1. */
  section: number;
  times: number;
}
