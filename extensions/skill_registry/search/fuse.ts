import type { Skill } from '../skill/skill.ts';
import type { Likeness } from './meaning/likeness.ts';
import type { Pool } from './pool.ts';

/**
 * How much meaning counts beside words. Below 1, words are the floor: a skill that shares no word with the query never comes
 * before the best by words, nor before any that has this part of its rank.
 */
const MEANING = 0.3;

/**
 * The ranking by words, its best at 1, and how near skills come by meaning, summed.
 *
 * @param fused - By position.
 * @param best - The best position by words, which is 1; -1: words tell nothing.
 */
export function fuseRanks(pool: Pool, fused: Float64Array, best: number, { near }: Likeness): Float64Array {
  const scale = best >= 0 ? 1 / (fused[best] as number) : 0;
  return fused.map((rank, at) => rank * scale + MEANING * (near.get(pool.skills[at] as Skill) ?? 0));
}
