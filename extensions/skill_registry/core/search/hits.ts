import { foldLine, nearestIds } from '../../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import { fitOf, type QueryFit } from './fit.ts';
import { normalizedName, scoresByName, skillsWithNamePart } from './names.ts';
import type { Pool } from './pool.ts';
import { isMostlyUnknown } from './query.ts';
import type { Ranking } from './rank.ts';
import type { Likeness } from './types.ts';

export interface SearchHit {
  readonly skill: Skill;
  /** 0-1, descending. From 0.85 on the query is a name, the beginning of one, or a trigger keyword. */
  readonly score: number;
  readonly byMeaning?: true;
}

export interface RelevantSkill {
  readonly skill: Skill;
  /** A search for the prompt would find the skill. */
  readonly fits: boolean;
}

export type Accepts = (skill: Skill) => boolean;

/** Words have the weight 1. A skill without a word of the query never comes before the best skill by words. */
const MEANING = 0.3;
/** A skill with less than this part of the best rank does not fit. */
const TAIL = 0.4;
/** A floating-point sum is rarely exactly 1. */
const ALL_WORDS = 0.999;
const MAX_SCORE = 0.84;
const PART_OF_NAME = 0.3;
const PART_OF_TEXT = 0.15;
/** Characters. */
const MIN_SUBSTRING = 3;
const MAX_NEAREST = 3;
/** Coverage from which a skill that does not fit is proposed as near. */
const MIN_NEAR = 0.5;
const MAX_RELEVANT = 1000;
/** Characters; a longer query is not compared with names. */
const MAX_NAME = 80;
/** Characters; longer queries are not searched inside words or compared with ids. */
const MAX_PART = 40;
const MAX_NAME_WORDS = 3;

/** Best first: names that equal the query or begin with it, then equal trigger keywords, then by rank. */
export function hitsOf(
  pool: Pool,
  ranking: Ranking,
  queryName: string,
  accepts?: Accepts,
  likeness?: Likeness,
): readonly SearchHit[] {
  const { combined } = ranking;
  const accepted = accepts ? pool.skills.map(accepts) : undefined;
  const { best, fits, ...fit } = bestFit(pool, ranking, accepted);
  const names = scoresByName(pool.names, queryName.length <= MAX_NAME ? queryName : '');
  const ranks = likeness ? addMeaning(pool, combined, best, likeness) : combined;
  const highest = ranks[bestOf(ranks, accepted)] ?? 0;
  // A skill with every word of the query stays first.
  if (likeness && best >= 0 && (fit.coverage[best] as number) >= ALL_WORDS) ranks[best] = highest;
  const byWords = best >= 0 ? Math.min(MAX_SCORE, fit.scores[best] as number) : 0;
  const topScore = Math.max(byWords, (likeness?.confidence ?? 0) * MAX_SCORE);
  const isByWords = (at: number): boolean => names.has(at) || fits(at);
  const scores = new Float64Array(combined.length);
  const isNear = (at: number): boolean => likeness?.fitting.has(pool.skills[at] as Skill) ?? false;
  const found = positionsWhere(combined, (at) => accepted?.[at] !== false && (isByWords(at) || isNear(at)));
  for (const at of found)
    scores[at] = names.get(at) ?? (highest > 0 ? (topScore * (ranks[at] as number)) / highest : 0);
  // Sorts positions, not hits: there may be thousands.
  const [byScore, byRank] = [byValue(scores), byValue(combined)];
  found.sort((a, b) => byScore(a, b) || byRank(a, b));
  return found.map((at) => {
    const hit = { skill: pool.skills[at] as Skill, score: scores[at] as number };
    return isByWords(at) ? hit : { ...hit, byMeaning: true };
  });
}

/** Skills that share a term with a prompt or are near it by meaning, best first. */
export function relevantOf(pool: Pool, ranking: Ranking, likeness?: Likeness): readonly RelevantSkill[] {
  const { combined } = ranking;
  const { fits } = bestFit(pool, ranking, undefined);
  const ranks = likeness ? addMeaning(pool, combined, bestOf(combined, undefined), likeness) : combined;
  const least = leastOf(ranks, MAX_RELEVANT);
  const positions = positionsWhere(ranks, (at) => (ranks[at] as number) >= least);
  return positions.sort(byValue(ranks)).map((at) => {
    const skill = pool.skills[at] as Skill;
    return { skill, fits: fits(at) || (likeness?.fitting.has(skill) ?? false) };
  });
}

/** For a query without matching words: skills whose names contain it; else, for one word, whose texts contain it. */
export function hitsInsideWords(
  { skills, names }: Pool,
  query: string,
  accepts: Accepts = () => true,
): readonly SearchHit[] {
  const part = foldLine(query).toLowerCase();
  if ((part.length < MIN_SUBSTRING && !/\p{Lo}/u.test(part)) || part.length > MAX_PART) return [];
  const named = [...skillsWithNamePart(names, normalizedName(part))]
    .map((position) => skills[position] as Skill)
    .filter(accepts);
  if (named.length > 0) return named.map((skill) => ({ skill, score: PART_OF_NAME }));
  if (part.includes(' ')) return [];
  return skills
    .filter((skill) => contains(skill, part) && accepts(skill))
    .map((skill) => ({ skill, score: PART_OF_TEXT }));
}

/** First ids that look like the query (when most words are unknown: only for one word), then the best by rank. */
export function nearestTo(pool: Pool, ranking: Ranking, query: string, accepts?: Accepts): readonly string[] {
  const skills = accepts ? pool.skills.filter(accepts) : pool.skills;
  const { combined, terms } = ranking;
  const isStrange = isMostlyUnknown(terms);
  const mostWords = isStrange ? 1 : MAX_NAME_WORDS;
  const sentence = query.length > MAX_PART || query.trim().split(/\s+/).length > mostWords;
  const ids = sentence ? [] : skills.map(({ id }) => id);
  const alike = nearestIds(ids, query.trim(), MAX_NEAREST);
  if (isStrange) return alike;
  const { coverage } = bestFit(pool, ranking, accepts ? pool.skills.map(accepts) : undefined);
  const ranked = positionsWhere(combined, (at) => (coverage[at] as number) >= MIN_NEAR).sort(byValue(combined));
  const shared = ranked.slice(0, MAX_NEAREST).map((at) => (pool.skills[at] as Skill).id);
  return [...new Set([...alike, ...shared])].slice(0, MAX_NEAREST);
}

// --- internal ---

/** @param best - The best position by words, which gets the rank 1; -1: words are not counted. */
function addMeaning(pool: Pool, combined: Float64Array, best: number, { near }: Likeness): Float64Array {
  const scale = best >= 0 ? 1 / (combined[best] as number) : 0;
  return combined.map((rank, at) => rank * scale + MEANING * (near.get(pool.skills[at] as Skill) ?? 0));
}

function contains({ tags, triggerKeywords, description }: Skill, part: string): boolean {
  return [description, ...tags, ...triggerKeywords].some((text) => text.toLowerCase().includes(part));
}

function leastOf(values: Float64Array, most: number): number {
  const above = values.filter((value) => value > 0);
  return above.sort()[Math.max(0, above.length - most)] ?? Number.POSITIVE_INFINITY;
}

/** `best` is -1 when no skill fits. Only skills with a rank near the best are compared. */
function bestFit(
  pool: Pool,
  { combined, terms }: Ranking,
  accepted: readonly boolean[] | undefined,
): QueryFit & { readonly best: number } {
  const best = bestOf(combined, accepted);
  const least = best >= 0 ? (combined[best] as number) * TAIL : Number.POSITIVE_INFINITY;
  const near = positionsWhere(combined, (at) => (combined[at] as number) >= least && accepted?.[at] !== false);
  const fit = fitOf(pool, terms, near, best);
  return { ...fit, best: fit.fits(best) ? best : -1 };
}

function positionsWhere(values: Float64Array, keep: (position: number) => boolean): number[] {
  const positions: number[] = [];
  for (let at = 0; at < values.length; at++) if (keep(at)) positions.push(at);
  return positions;
}

/** For `sort`: the highest first, equal ones in their order. */
function byValue(values: Float64Array): (a: number, b: number) => number {
  return (a, b) => (values[b] as number) - (values[a] as number);
}

function bestOf(values: Float64Array, accepted: readonly boolean[] | undefined): number {
  let best = -1;
  for (let at = 0; at < values.length; at++) {
    if (accepted?.[at] !== false && (values[at] as number) > (best < 0 ? 0 : (values[best] as number))) best = at;
  }
  return best;
}
