import { CHUNK_DOCUMENTS, postingDocument, postingSection, postingTimes } from '../../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';
import { inverseFrequency, type RankedTerm } from './rank.ts';

/** How well skills answer a query, by position in the pool; 0 for a skill that was not compared. */
export interface QueryFit {
  /** How much of the query was found: 0 to 1.75, comparable between queries. */
  readonly scores: Float64Array;
  /** The part of the query's words that the skill has, each by its importance: 0 to 1. */
  readonly coverage: Float64Array;
  /** False for all when `best` does not fit. */
  readonly fits: (position: number) => boolean;
}

/** The best skill fits with this score, or with this coverage: a query of few words cannot have a high score. */
const MIN_SCORE = 0.25;
const SUFFICIENT = 0.7;
/** Sufficient among few skills, where an unknown word says less; rises with the logarithm of their number to `MANY`. */
const SUFFICIENT_OF_FEW = 0.5;
const MANY = 1000;
/** When the best skill fits, another one needs only this score, and this part of the best skill's score. */
const MIN_SCORE_BESIDE = 0.2;
const MIN_PART = 0.5;
/** Scores are computed as if the query had this many more unknown words: few words are little evidence. */
const MORE_WORDS = 6;
/** Factor for an unknown word: the query probably means something else. */
const UNKNOWN = 2;
const HALF_TIMES = 3;
const IN_HEADER = 0.25;
const IN_SECTION = 0.5;

/**
 * Says whether a skill is good; the ranking says which one is better. A word counts by the square root of its inverse
 * frequency: in a small pool most words are rare, also those that say little.
 */
export function fitOf(pool: Pool, terms: readonly RankedTerm[], asked: readonly number[], best: number): QueryFit {
  const scores = new Float64Array(pool.skills.length);
  const coverage = new Float64Array(pool.skills.length);
  if (asked.length === 0) return { scores, coverage, fits: () => false };
  const sections = sectionsOf(pool, asked);
  const sums: Sums = { scores, coverage, ...sections, together: new Float64Array(sections.count) };
  let [mass, unknown] = [0, 0];
  for (const term of terms) {
    if (!term.needed) continue;
    const importance = importanceOf(pool, term.frequency, term.weight);
    mass += importance;
    if (term.frequency === 0) unknown += importance;
    else addTerm(pool, term, importance, sums);
  }
  const all = mass + (UNKNOWN - 1) * unknown + MORE_WORDS * importanceOf(pool, 0, 1);
  for (const position of asked) {
    let together = 0;
    const first = sections.starts[position] as number;
    for (let at = first; at < first + sectionCount(pool, position); at++) {
      together = Math.max(together, sums.together[at] as number);
    }
    scores[position] = ((scores[position] as number) + IN_SECTION * together) / all;
    coverage[position] = mass > 0 ? (coverage[position] as number) / mass : 0;
  }
  return { scores, coverage, fits: fittingOf({ scores, coverage }, best) };
}

// --- internal ---

interface Sums extends Omit<QueryFit, 'fits'> {
  /** Index in `together` of the first section of a position; -1 for skills that are not compared. */
  readonly starts: Int32Array;
  readonly together: Float64Array;
}

function fittingOf({ scores, coverage }: Omit<QueryFit, 'fits'>, best: number): QueryFit['fits'] {
  const part = Math.min(1, Math.log(Math.max(1, scores.length)) / Math.log(MANY));
  const sufficient = SUFFICIENT_OF_FEW + part * (SUFFICIENT - SUFFICIENT_OF_FEW);
  const least = Math.max(MIN_SCORE_BESIDE, MIN_PART * (scores[best] ?? 0));
  const fits = (position: number, score: number): boolean =>
    (scores[position] as number) >= score || (coverage[position] as number) >= sufficient;
  return best >= 0 && fits(best, MIN_SCORE) ? (position) => fits(position, least) : () => false;
}

function importanceOf(pool: Pool, frequency: number, weight: number): number {
  return weight * Math.sqrt(inverseFrequency(pool, frequency));
}

function addTerm({ positions }: Pool, { chunks }: RankedTerm, importance: number, sums: Sums): void {
  const { scores, coverage, starts, together } = sums;
  for (const { chunk, postings } of chunks) {
    const first = chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < postings.length; at++) {
      const document = postingDocument(postings[at] as number);
      const position = positions[first + document] ?? -1;
      if (position < 0 || (starts[position] as number) < 0) continue;
      const start = starts[position] as number;
      let times = 0;
      let inHeader = 0;
      let next = at;
      for (; next < postings.length; next++) {
        const posting = postings[next] as number;
        if (postingDocument(posting) !== document) break;
        const section = postingSection(posting);
        times += postingTimes(posting);
        if (section === 0) inHeader = IN_HEADER;
        together[start + section] = (together[start + section] as number) + importance;
      }
      at = next - 1;
      scores[position] = (scores[position] as number) + importance * (times / (times + HALF_TIMES) + inHeader);
      coverage[position] = (coverage[position] as number) + importance;
    }
  }
}

function sectionsOf(pool: Pool, asked: readonly number[]): { readonly starts: Int32Array; readonly count: number } {
  const starts = new Int32Array(pool.skills.length).fill(-1);
  let count = 0;
  for (const position of asked) {
    starts[position] = count;
    count += sectionCount(pool, position);
  }
  return { starts, count };
}

function sectionCount({ sectionStarts }: Pool, position: number): number {
  return (sectionStarts[position + 1] as number) - (sectionStarts[position] as number);
}
