import {
  CHUNK_DOCUMENTS,
  type PostingChunk,
  postingDocument,
  postingSection,
  postingTimes,
} from '../../../../lib/text-index/index.ts';
import { lastUpTo } from './names.ts';
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
  /** The part of all that a skill could have of the query, unknown words included. 0 to 1. */
  readonly shareOf: (position: number) => number;
  readonly terms: readonly RankedTerm[];
}

/** The constants of BM25. `b` is low: long instructions are detailed, and length must not lower their rank. */
const SHORT = { terms: 24, k1: 1.2, b: 0.4 } as const;
/** A long query has some word of nearly every long text. Between the two numbers of terms the constants grow evenly. */
const LONG = { terms: 64, k1: 2, b: 0.75 } as const;
/** A term this many places behind those of a short query counts half: what is asked stands at the beginning. */
const HALF_AFTER = 16;
const WEIGHTS = { header: 1, all: 1.5, section: 0.5 } as const;
/** More changes nothing. */
const REORDERED = 50;
/** Of the best rank, for the skill that has most pairs of the query. */
const PAIRS = 0.1;
/** For each pair: what has the same rank otherwise stays apart. */
const APART = 1e-9;

/** Of a term of a query. @param place - From 0. */
export function placeWeight(place: number): number {
  return 1 / (1 + Math.max(0, place - SHORT.terms) / HALF_AFTER);
}

/**
 * The weighted sum of three BM25 rankings, each divided by its maximum: some queries match a header, some a whole text,
 * some one section. Frequencies are counted over sections and headers: a word that every skill has still counts.
 *
 * @param length - Of the query, in terms.
 */
export function rankPool(pool: Pool, terms: readonly RankedTerm[], length: number): Ranking {
  const constants = constantsFor(length);
  const count = pool.skills.length;
  const header = new Float64Array(count);
  const all = new Float64Array(count);
  const sections = new Float32Array(pool.sectionLengths.length);
  let most = 0;
  for (const { chunks, weight, needed, frequency } of terms) {
    const information = weight * inverseFrequency(pool, frequency);
    if (needed) most += information * (constants.k1 + 1);
    if (frequency > 0) add(pool, chunks, information, constants, { header, all, sections });
  }
  const combined = combineRanks(header, all, bestSections(pool, sections, all));
  const shareOf = (position: number): number => (most > 0 ? Math.min(1, (all[position] as number) / most) : 0);
  return { combined, shareOf, terms };
}

/**
 * The best skills exchange their ranks: those that have more pairs of neighbouring words of the query come first. Which
 * skills are found, and how high their ranks are, stays as it is.
 *
 * @param pairsAt - Of a position, sorted.
 */
export function reorderByPairs(
  ranking: Ranking,
  wanted: ReadonlySet<number>,
  accepts: (position: number) => boolean,
  pairsAt: (position: number) => Uint32Array,
): Ranking {
  if (wanted.size === 0) return ranking;
  const ranks = ranking.combined;
  const best = bestPositions(ranks, REORDERED, accepts);
  const counts = best.map((at) => {
    const pairs = pairsAt(at);
    return [...wanted].filter((pair) => pairs[lastUpTo(pairs, pair)] === pair).length;
  });
  const most = Math.max(0, ...counts);
  if (most === 0) return ranking;
  const more = (PAIRS * (ranks[best[0] as number] as number)) / most;
  const scores = best.map((at, index) => (ranks[at] as number) + more * (counts[index] as number));
  const order = [...best.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number));
  const combined = ranks.slice();
  for (const [place, index] of order.entries()) {
    const rank = ranks[best[place] as number] as number;
    combined[best[index] as number] = rank + APART * (counts[index] as number);
  }
  return { ...ranking, combined };
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

interface Constants {
  readonly k1: number;
  readonly b: number;
}

function constantsFor(length: number): Constants {
  const part = Math.min(1, Math.max(0, length - SHORT.terms) / (LONG.terms - SHORT.terms));
  return { k1: SHORT.k1 + part * (LONG.k1 - SHORT.k1), b: SHORT.b + part * (LONG.b - SHORT.b) };
}

function inverseFrequency({ sectionLengths }: Pool, frequency: number): number {
  return Math.log(1 + (sectionLengths.length - frequency + 0.5) / (frequency + 0.5));
}

interface Sums {
  readonly header: Float64Array;
  readonly all: Float64Array;
  readonly sections: Float32Array;
}

function add(pool: Pool, chunks: readonly PostingChunk[], information: number, { k1, b }: Constants, sums: Sums): void {
  const { header, all, sections } = sums;
  const { positions, headerLengths, totalLengths, sectionStarts, sectionLengths, means } = pool;
  const perHeader = (k1 * b) / means.header;
  const perTotal = (k1 * b) / means.total;
  const perSection = (k1 * b) / means.section;
  const base = k1 * (1 - b);
  const gain = information * (k1 + 1);
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

/** Those with the highest values above 0, the highest first. */
function bestPositions(values: Float64Array, most: number, accepts: (position: number) => boolean): readonly number[] {
  const best: number[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    const least = best.length < most ? 0 : (values[best[most - 1] as number] as number);
    if (value <= least || !accepts(at)) continue;
    let place = best.length;
    while (place > 0 && (values[best[place - 1] as number] as number) < value) place--;
    best.splice(place, 0, at);
    if (best.length > most) best.pop();
  }
  return best;
}

function scale(values: Float64Array): number {
  let most = 0;
  for (let at = 0; at < values.length; at++) if ((values[at] as number) > most) most = values[at] as number;
  return most > 0 ? 1 / most : 0;
}
