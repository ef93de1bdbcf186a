import {
  CHUNK_DOCUMENTS,
  type PostingChunk,
  postingDocument,
  postingSection,
  postingTimes,
} from '../../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';

export interface RankedTerm {
  readonly term: string;
  readonly chunks: readonly PostingChunk[];
  readonly weight: number;
  /** Whether a skill without the term has less of the query. */
  readonly needed: boolean;
  /** Number of sections in the pool that have the term, headers included. */
  readonly frequency: number;
}

export interface Ranking {
  /** By position in the pool: 0 to the sum of the weights. */
  readonly combined: Float64Array;
  /** By position: the part of all that a skill could have of the query, unknown words included. 0 to 1. */
  readonly shares: Float64Array;
  readonly terms: readonly RankedTerm[];
}

/** The constants of BM25. `B` is low: long instructions are detailed, and length must not lower their rank. */
const K1 = 1.2;
const B = 0.4;
const WEIGHTS = { header: 1, all: 1.5, section: 0.5 } as const;

/**
 * The weighted sum of three BM25 rankings, each divided by its maximum: some queries match a header, some a whole text,
 * some one section. Frequencies are counted over sections and headers: a word that every skill has still counts.
 */
export function rankPool(pool: Pool, terms: readonly RankedTerm[]): Ranking {
  const count = pool.skills.length;
  const header = new Float64Array(count);
  const all = new Float64Array(count);
  const sections = new Float32Array(pool.sectionLengths.length);
  let most = 0;
  for (const { chunks, weight, needed, frequency } of terms) {
    const information = weight * inverseFrequency(pool, frequency);
    if (needed) most += information * (K1 + 1);
    if (frequency > 0) add(pool, chunks, information, { header, all, sections });
  }
  const combined = combineRanks(header, all, bestSections(pool, sections, all));
  return { combined, shares: all.map((value) => (most > 0 ? Math.min(1, value / most) : 0)), terms };
}

export function frequencyOf({ positions }: Pool, chunks: readonly PostingChunk[]): number {
  let count = 0;
  for (const { chunk, postings } of chunks) {
    const first = chunk * CHUNK_DOCUMENTS;
    for (let at = 0; at < postings.length; at++) {
      if ((positions[first + postingDocument(postings[at] as number)] ?? -1) >= 0) count++;
    }
  }
  return count;
}

// --- internal ---

function inverseFrequency({ sectionLengths }: Pool, frequency: number): number {
  return Math.log(1 + (sectionLengths.length - frequency + 0.5) / (frequency + 0.5));
}

interface Sums {
  readonly header: Float64Array;
  readonly all: Float64Array;
  readonly sections: Float32Array;
}

function add(pool: Pool, chunks: readonly PostingChunk[], information: number, sums: Sums): void {
  const { header, all, sections } = sums;
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
    }
  }
}

/** @param all - Above 0 for the positions that have a term. */
function bestSections({ sectionStarts }: Pool, sections: Float32Array, all: Float64Array): Float64Array {
  const best = new Float64Array(all.length);
  for (let position = 0; position < all.length; position++) {
    if (all[position] === 0) continue;
    let most = 0;
    const end = sectionStarts[position + 1] as number;
    for (let slot = sectionStarts[position] as number; slot < end; slot++) {
      if ((sections[slot] as number) > most) most = sections[slot] as number;
    }
    best[position] = most;
  }
  return best;
}

function combineRanks(header: Float64Array, all: Float64Array, best: Float64Array): Float64Array {
  const combined = new Float64Array(all.length);
  const [ofHeader, ofAll, ofBest] = [scale(header), scale(all), scale(best)];
  for (let at = 0; at < all.length; at++) {
    const [h, a, b] = [header[at] as number, all[at] as number, best[at] as number];
    if (a > 0) combined[at] = WEIGHTS.header * h * ofHeader + WEIGHTS.all * a * ofAll + WEIGHTS.section * b * ofBest;
  }
  return combined;
}

function scale(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most > 0 ? 1 / most : 0;
}
