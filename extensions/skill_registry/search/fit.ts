import { CHUNK_DOCUMENTS, postingDocument, postingSection, postingTimes } from '../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';
import { inverseFrequency, type RankedTerm } from './rank.ts';

/** How well skills answer a query, by position in the pool; 0 for a skill that was not asked about. */
export interface QueryFit {
  /** What was found of what was asked: 0 to 1.75, comparable between queries. */
  readonly scores: Float64Array;
  /** The part of the query's words that occur in the skill, each by its importance: 0 to 1. */
  readonly coverage: Float64Array;
  /** A skill with this coverage fits. */
  readonly sufficient: number;
}

/** The best skill fits a query with this score, or with this coverage: few words cannot have a high score. */
const MIN_SCORE = 0.25;
const SUFFICIENT = 0.7;
/**
 * Less is sufficient among few skills, down to this: they know few words, so that a word which none of them has says little. It
 * rises with the logarithm of their number up to 1,000.
 */
const SUFFICIENT_OF_FEW = 0.5;
const MANY = 1000;
/** Beside a skill that fits, another one fits with this score, if it has this part of the score of that one. */
const MIN_SCORE_BESIDE = 0.2;
const MIN_PART = 0.5;
/** A score is computed as if this many more words, which no skill has, had been asked: few words are little evidence. */
const MORE_WORDS = 6;
/** Factor for a word that no skill has: what was asked is probably something else. */
const UNKNOWN = 2;
/** With this many occurrences a word counts half. */
const HALF_TIMES = 3;
/** A word counts this much more when the header has it, and when the skill's best section has it. */
const IN_HEADER = 0.25;
const IN_SECTION = 0.5;

/**
 * Compares skills with what was asked. The ranking tells which skill is better, this tells whether one is good. A word's importance
 * is the square root of its inverse frequency: in a small pool most words are rare, also those that say little.
 *
 * @param asked - Positions of the skills to compare.
 */
export function fitOf(pool: Pool, terms: readonly RankedTerm[], asked: readonly number[]): QueryFit {
  const scores = new Float64Array(pool.skills.length);
  const coverage = new Float64Array(pool.skills.length);
  const part = Math.min(1, Math.log(Math.max(1, pool.skills.length)) / Math.log(MANY));
  const sufficient = SUFFICIENT_OF_FEW + part * (SUFFICIENT - SUFFICIENT_OF_FEW);
  if (asked.length === 0) return { scores, coverage, sufficient };
  const sections = sectionsOf(pool, asked);
  const sums: Sums = { scores, coverage, sufficient, ...sections, together: new Float64Array(sections.count) };
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
  return { scores, coverage, sufficient };
}

/** Which skills fit. @param best - The position that ranks best; when it does not fit, none does. */
export function fittingOf({ scores, coverage, sufficient }: QueryFit, best: number): (position: number) => boolean {
  const least = Math.max(MIN_SCORE_BESIDE, MIN_PART * (scores[best] ?? 0));
  const fits = (position: number, score: number): boolean =>
    (scores[position] as number) >= score || (coverage[position] as number) >= sufficient;
  return best >= 0 && fits(best, MIN_SCORE) ? (position) => fits(position, least) : () => false;
}

// --- internal ---

interface Sums extends QueryFit {
  /** Index in `together` of the first section of a position; -1 for skills that were not asked about. */
  readonly starts: Int32Array;
  readonly together: Float64Array;
}

function importanceOf(pool: Pool, frequency: number, weight: number): number {
  return weight * Math.sqrt(inverseFrequency(pool, frequency));
}

/** Adds what the skills have of one term. The postings of a document are adjacent. */
function addTerm({ positions }: Pool, { chunks }: RankedTerm, importance: number, sums: Sums): void {
  const { scores, coverage, starts, together } = sums;
  for (const { chunk, postings } of chunks) {
    const first = chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < postings.length; at++) {
      const document = postingDocument(postings[at] as number);
      const position = positions[first + document] ?? -1;
      // Most documents were not asked about.
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
