import { foldLine } from '../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import type { Likeness } from './meaning/likeness.ts';
import { asName, namedBy, namesWith, nearestIds } from './names.ts';
import type { Pool } from './pool.ts';
import type { Ranking } from './rank.ts';

export interface SearchHit {
  readonly skill: Skill;
  /** 0-1, falling within one answer. From 0.85: the query is a name, the beginning of one, or a trigger keyword. */
  readonly score: number;
  /** No word found it, only what it means. */
  readonly byMeaning?: true;
}

/**
 * How much meaning counts beside words. Below 1, words are the floor: a skill that shares no word with the query never comes
 * before the best by words, nor before any that has this part of its rank.
 */
const MEANING = 0.3;
/** With less confidence and less coverage a query is taken to be about something that no skill is for. */
const LEAST_CONFIDENCE = 0.12;
const ENOUGH_COVERAGE = 0.6;
/** A hit with less than this part of the best one's rank is left out. */
const TAIL = 0.4;
/** Confidence is seldom above a half: doubled it fills the scale below the names. */
const SCALE = 2;
/** A sum of parts is seldom exactly 1. */
const ALL_WORDS = 0.999;
const MAX_SCORE = 0.84;
const PART_OF_NAME = 0.3;
const PART_OF_TEXT = 0.15;
/** Characters of a query that is looked for inside words. */
const MIN_SUBSTRING = 3;
const MAX_NEAREST = 3;
const MAX_RELEVANT = 1000;
/** A name has no more characters. */
const MAX_NAME = 80;
/** Nor has a part of a word, or what was meant to be an id. */
const MAX_PART = 40;
const MAX_NAME_WORDS = 3;

/**
 * What fits a query, best first: names that it is or begins, then trigger keywords that it is, then by rank.
 *
 * @param wanted - The query, by `asName`.
 * @param likeness - Added to the ranking by words; see `MEANING`.
 */
export function hitsOf(
  pool: Pool,
  ranking: Ranking,
  wanted: string,
  accepts?: (skill: Skill) => boolean,
  likeness?: Likeness,
): readonly SearchHit[] {
  const { fused } = ranking;
  const accepted = accepts ? pool.skills.map(accepts) : undefined;
  const best = bestOf(fused, accepted);
  const fitting = best >= 0 && isAnswer(ranking, best);
  const top = best >= 0 ? (fused[best] as number) : 0;
  const confidence = best >= 0 ? Math.min(MAX_SCORE, (ranking.confidence[best] as number) * SCALE) : 0;
  const names = namedBy(pool.names, wanted.length <= MAX_NAME ? wanted : '');
  const hits: (SearchHit & { readonly rank: number })[] = [];
  const least = fitting ? top * TAIL : Number.POSITIVE_INFINITY;
  const scores = scoresOf(pool, ranking, { best: fitting ? best : -1, accepted, confidence, likeness });
  for (let position = 0; position < fused.length; position++) {
    const rank = fused[position] as number;
    const named = names.get(position);
    const skill = pool.skills[position] as Skill;
    const byWords = named !== undefined || rank >= least;
    if ((!byWords && !likeness?.fitting.has(skill)) || accepted?.[position] === false) continue;
    const score = named ?? (scores[position] as number);
    hits.push({ skill, score, rank, ...(byWords ? {} : { byMeaning: true }) });
  }
  return hits.sort((a, b) => b.score - a.score || b.rank - a.rank).map(({ rank: _, ...hit }) => hit);
}

/**
 * Those that share a term with a prompt, or come near it, best first, so many as a prompt can ever show.
 */
export function relevantOf(
  pool: Pool,
  ranking: Ranking,
  likeness?: Likeness,
): readonly (SearchHit & { readonly fits: boolean })[] {
  const { fused, confidence } = ranking;
  const best = bestOf(fused, undefined);
  const fitting = best >= 0 && isAnswer(ranking, best);
  const tail = best >= 0 ? (fused[best] as number) * TAIL : 0;
  const ranks = likeness ? addMeaning(pool, fused, best, likeness) : fused;
  const least = leastOf(ranks, MAX_RELEVANT);
  const positions: number[] = [];
  for (let at = 0; at < ranks.length; at++) if ((ranks[at] as number) >= least) positions.push(at);
  positions.sort((a, b) => (ranks[b] as number) - (ranks[a] as number) || a - b);
  return positions.map((at) => {
    const skill = pool.skills[at] as Skill;
    const near = likeness?.fitting.has(skill) ?? false;
    return {
      skill,
      score: Math.min(MAX_SCORE, (confidence[at] as number) * SCALE),
      fits: near || (fitting && (fused[at] as number) >= tail),
    };
  });
}

/** For a query that no word matches: the names it is a part of; else, when it is one word, what says it within another. */
export function insideWords(
  { skills, names }: Pool,
  query: string,
  accepts: (skill: Skill) => boolean = () => true,
): readonly SearchHit[] {
  const wanted = foldLine(query).toLowerCase();
  if ((wanted.length < MIN_SUBSTRING && !/\p{Lo}/u.test(wanted)) || wanted.length > MAX_PART) return [];
  const named = [...namesWith(names, asName(wanted))].map((position) => skills[position] as Skill).filter(accepts);
  if (named.length > 0) return named.map((skill) => ({ skill, score: PART_OF_NAME }));
  if (wanted.includes(' ')) return [];
  return skills
    .filter((skill) => contains(skill, wanted) && accepts(skill))
    .map((skill) => ({ skill, score: PART_OF_TEXT }));
}

/** Ids for somebody whose query found nothing: those that look like it, then those that share most of it. */
export function nearestTo(
  pool: Pool,
  { fused }: Ranking,
  query: string,
  accepts?: (skill: Skill) => boolean,
): readonly string[] {
  const skills = accepts ? pool.skills.filter(accepts) : pool.skills;
  // A sentence looks like no id.
  const sentence = query.length > MAX_PART || query.trim().split(/\s+/).length > MAX_NAME_WORDS;
  const ids = sentence ? [] : skills.map(({ id }) => id);
  const alike = nearestIds(ids, query.trim(), MAX_NEAREST);
  const least = leastOf(fused, MAX_RELEVANT);
  const ranked: number[] = [];
  for (let at = 0; at < fused.length; at++) {
    if ((fused[at] as number) >= least && (!accepts || accepts(pool.skills[at] as Skill))) ranked.push(at);
  }
  ranked.sort((a, b) => (fused[b] as number) - (fused[a] as number));
  const shared = ranked.slice(0, MAX_NEAREST).map((at) => (pool.skills[at] as Skill).id);
  return [...new Set([...alike, ...shared])].slice(0, MAX_NEAREST);
}

// --- internal ---

/**
 * The ranking by words, its best at 1, and how near skills come by meaning, summed.
 *
 * @param fused - By position.
 * @param best - The best position by words, which is 1; -1: words tell nothing.
 */
function addMeaning(pool: Pool, fused: Float64Array, best: number, { near }: Likeness): Float64Array {
  const scale = best >= 0 ? 1 / (fused[best] as number) : 0;
  return fused.map((rank, at) => rank * scale + MEANING * (near.get(pool.skills[at] as Skill) ?? 0));
}

/** Whether the text, in lower case, stands anywhere in what the skill says about itself beside its names. */
function contains({ tags, triggerKeywords, description }: Skill, wanted: string): boolean {
  return [description, ...tags, ...triggerKeywords].some((text) => text.toLowerCase().includes(wanted));
}

/** The least value above 0 of the `most` highest. */
function leastOf(values: Float64Array, most: number): number {
  const above = values.filter((value) => value > 0);
  return above.length === 0 ? Number.POSITIVE_INFINITY : nthSmallest(above, Math.max(0, above.length - most));
}

/** Quickselect: to sort ten thousand for one of them would take longer than to rank them. Reorders `values`. */
function nthSmallest(values: Float64Array, n: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const pivot = values[(low + high) >>> 1] as number;
    let [left, right] = [low, high];
    while (left <= right) {
      while ((values[left] as number) < pivot) left++;
      while ((values[right] as number) > pivot) right--;
      if (left > right) break;
      const moved = values[left] as number;
      values[left++] = values[right] as number;
      values[right--] = moved;
    }
    if (n <= right) high = right;
    else if (n >= left) low = left;
    else break;
  }
  return values[n] as number;
}

interface Scoring {
  /** Of those that fit by words; -1: none does, and their rank tells nothing. */
  readonly best: number;
  readonly accepted: readonly boolean[] | undefined;
  /** Of the best one. */
  readonly confidence: number;
  readonly likeness: Likeness | undefined;
}

/** By position, 0 to `MAX_SCORE` for those that are accepted. */
function scoresOf(
  pool: Pool,
  { fused, coverage }: Ranking,
  { best, accepted, confidence, likeness }: Scoring,
): Float64Array {
  const ranks = likeness ? addMeaning(pool, fused, best, likeness) : fused;
  const highest = ranks[bestOf(ranks, accepted)] ?? 0;
  // What has every word of the query keeps its place.
  if (likeness && best >= 0 && (coverage[best] as number) >= ALL_WORDS) ranks[best] = highest;
  const surety = Math.max(best >= 0 ? confidence : 0, (likeness?.confidence ?? 0) * MAX_SCORE);
  return ranks.map((rank) => (highest > 0 ? (surety * rank) / highest : 0));
}

function bestOf(values: Float64Array, accepted: readonly boolean[] | undefined): number {
  let best = -1;
  for (let at = 0; at < values.length; at++) {
    if (accepted?.[at] !== false && (values[at] as number) > (best < 0 ? 0 : (values[best] as number))) best = at;
  }
  return best;
}

function isAnswer({ confidence, coverage }: Ranking, best: number): boolean {
  return (confidence[best] as number) >= LEAST_CONFIDENCE || (coverage[best] as number) >= ENOUGH_COVERAGE;
}
