import {
  CHUNK_DOCUMENTS,
  type PostingChunk,
  postingDocument,
  postingSection,
  postingTimes,
} from '../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';

/** One term of a query, and its occurrences. */
export interface QueryTerm {
  readonly chunks: readonly PostingChunk[];
  /** Weight of an occurrence: lower for a corrected word. */
  readonly weight: number;
  /** Whether the term counts for `coverage` and `confidence`. */
  readonly needed: boolean;
}

export interface Ranking {
  /** The combined rank by position in the pool: 0 to the sum of the weights. 0: no term occurs. */
  readonly combined: Float64Array;
  /** How well a document answers the query, by position: 0 to 1, comparable between queries. */
  readonly confidence: Float64Array;
  /** The part of the query's information that occurs in the document at least once, by position: 0 to 1. */
  readonly coverage: Float64Array;
}

/** The constants of BM25. `B` is low, because long instructions are detailed and must not be ranked low for their length. */
const K1 = 1.2;
const B = 0.4;
/** Weights of the three rankings: by header, by all terms, by the best section. Each is divided by its maximum first. */
const WEIGHTS = { header: 1, all: 1.5, section: 0.5 } as const;
/** Confidence is computed as if the query had this many more words without occurrences: one word alone is little evidence. */
const UNSEEN_WORDS = 3;

/**
 * Ranks a pool by the weighted sum of three BM25 rankings, each divided by its maximum. Queries differ: one matches the header of a
 * skill, another one the whole text, another one a single section.
 *
 * The inverse frequency of a term is counted over sections, headers included, so that a word that every skill has still counts.
 */
export function rankPool(pool: Pool, terms: readonly QueryTerm[]): Ranking {
  const count = pool.skills.length;
  const header = new Float64Array(count);
  const all = new Float64Array(count);
  const sections = new Float32Array(pool.sectionLengths.length);
  const covered = new Float64Array(count);
  const touched = new Uint8Array(count);
  let mass = 0;
  for (const { chunks, weight, needed } of terms) {
    const frequency = sectionsWith(pool, chunks);
    const information = weight * idf(pool.sectionLengths.length, frequency);
    if (needed) mass += information;
    if (frequency > 0) add(pool, chunks, information, needed, { header, all, sections, covered, touched });
  }
  const best = bestSections(pool, sections, touched);
  const { combined, confidence } = combineRanks({ header, all, best }, mass, idf(pool.sectionLengths.length, 0));
  return { combined, confidence, coverage: covered.map((value) => (mass > 0 ? Math.min(1, value / mass) : 0)) };
}

/** Whether a term occurs in any skill of the pool. */
export function occursIn(pool: Pool, chunks: readonly PostingChunk[]): boolean {
  return sectionsWith(pool, chunks) > 0;
}

// --- internal ---

interface Sums {
  readonly header: Float64Array;
  readonly all: Float64Array;
  readonly sections: Float32Array;
  readonly covered: Float64Array;
  readonly touched: Uint8Array;
}

function idf(total: number, frequency: number): number {
  return Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
}

function sectionsWith({ positions }: Pool, chunks: readonly PostingChunk[]): number {
  let count = 0;
  for (const { chunk, postings } of chunks) {
    const first = chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < postings.length; at++) {
      if ((positions[first + postingDocument(postings[at] as number)] ?? -1) >= 0) count++;
    }
  }
  return count;
}

/** Adds the scores of one term. The postings of a document are adjacent, so its total is known when the next document begins. */
function add(
  pool: Pool,
  chunks: readonly PostingChunk[],
  information: number,
  needed: boolean,
  { header, all, sections, covered, touched }: Sums,
): void {
  const { positions, headerLengths, totalLengths, sectionStarts, sectionLengths, means } = pool;
  const perHeader = (K1 * B) / means.header;
  const perTotal = (K1 * B) / means.total;
  const perSection = (K1 * B) / means.section;
  const base = K1 * (1 - B);
  const gain = information * (K1 + 1);
  for (const { chunk, postings } of chunks) {
    const first = chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < postings.length; ) {
      const document = postingDocument(postings[at] as number);
      const position = positions[first + document] ?? -1;
      let sum = 0;
      for (; at < postings.length; at++) {
        const posting = postings[at] as number;
        if (postingDocument(posting) !== document) break;
        if (position < 0) continue;
        const times = postingTimes(posting);
        const section = postingSection(posting);
        sum += times;
        if (section === 0) {
          header[position] =
            (header[position] as number) +
            (gain * times) / (times + base + perHeader * (headerLengths[position] as number));
        } else {
          const slot = (sectionStarts[position] as number) + section;
          sections[slot] =
            (sections[slot] as number) +
            (gain * times) / (times + base + perSection * (sectionLengths[slot] as number));
        }
      }
      if (position < 0) continue;
      all[position] =
        (all[position] as number) + (gain * sum) / (sum + base + perTotal * (totalLengths[position] as number));
      if (needed) covered[position] = (covered[position] as number) + information;
      touched[position] = 1;
    }
  }
}

function bestSections({ sectionStarts }: Pool, sections: Float32Array, touched: Uint8Array): Float64Array {
  const best = new Float64Array(touched.length);
  for (let position = 0; position < touched.length; position++) {
    if (touched[position] === 0) continue;
    let most = 0;
    const end = sectionStarts[position + 1] as number;
    for (let slot = sectionStarts[position] as number; slot < end; slot++) {
      if ((sections[slot] as number) > most) most = sections[slot] as number;
    }
    best[position] = most;
  }
  return best;
}

function combineRanks(
  { header, all, best }: { readonly header: Float64Array; readonly all: Float64Array; readonly best: Float64Array },
  mass: number,
  unseen: number,
): Pick<Ranking, 'combined' | 'confidence'> {
  const combined = new Float64Array(all.length);
  const confidence = new Float64Array(all.length);
  const [ofHeader, ofAll, ofBest] = [scale(header), scale(all), scale(best)];
  const sum = WEIGHTS.header + WEIGHTS.all + WEIGHTS.section;
  const ideal = (K1 + 1) * sum * (mass + UNSEEN_WORDS * unseen);
  for (let at = 0; at < all.length; at++) {
    const [h, a, b] = [header[at] as number, all[at] as number, best[at] as number];
    if (a === 0) continue;
    combined[at] = WEIGHTS.header * h * ofHeader + WEIGHTS.all * a * ofAll + WEIGHTS.section * b * ofBest;
    confidence[at] = (WEIGHTS.header * h + WEIGHTS.all * a + WEIGHTS.section * b) / ideal;
  }
  return { combined, confidence };
}

function scale(values: Float64Array): number {
  let most = 0;
  for (let at = 0; at < values.length; at++) if ((values[at] as number) > most) most = values[at] as number;
  return most > 0 ? 1 / most : 0;
}
