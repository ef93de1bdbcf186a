import { foldLine, nearestIds } from '../../../../lib/text/index.ts';
import { CHUNK_DOCUMENTS, type PostingChunk, postingDocument, runsOf } from '../../../../lib/text-index/index.ts';
import type { Skill } from '../skill/skill.ts';
import { headerText } from './document.ts';
import { namesOf, normalizedName, scoresByName, skillsWithNamePart } from './names.ts';
import type { Pool } from './pool.ts';
import { isMostlyUnknown } from './query.ts';
import type { Ranking } from './rank.ts';
import type { Likeness } from './types.ts';

export interface SearchHit {
  readonly skill: Skill;
  /** 0-1, descending. From 0.85 on the query is a name, the beginning of one, or a trigger keyword. */
  readonly score: number;
  readonly byMeaning?: true;
  readonly weak?: true;
}

export interface RelevantSkill {
  readonly skill: Skill;
  /** A search for the prompt would find the skill. Of weak hits only the best one fits. */
  readonly fits: boolean;
}

export type Accepts = (skill: Skill) => boolean;

/** Words have the weight 1. A skill without a word of the query never comes before the best skill by words. */
const MEANING = 0.3;
/** When the best skill by words is weak, meaning goes before words. */
const WEAK_WORDS = 0.1;
/** Hits with less than this part of the best rank are left out. */
const TAIL = 0.4;
/** The best skill is weak with less of the query than this, or when so many skills, itself included, are that close. */
const MIN_SHARE = 0.32;
const CROWD = 10;
const CLOSE = 0.785;
const MAX_SCORE = 0.84;
const PART_OF_NAME = 0.3;
const PART_OF_TEXT = 0.15;
/** Characters. */
const MIN_SUBSTRING = 3;
const MAX_NEAREST = 3;
/** Nearly every skill has some of these words. */
const MAX_IN_HEADERS = 5;
const MAX_RELEVANT = 1000;
/** Characters; a longer query is not compared with names. */
const MAX_NAME = 80;
/** Characters; longer queries are not searched inside words or compared with ids. */
const MAX_PART = 40;
const MAX_NAME_WORDS = 3;
const STEPS = 1024;

export interface Found {
  /** Best first: names that equal the query or begin with it, then equal trigger keywords, then by rank. */
  readonly hits: readonly SearchHit[];
  readonly total: number;
}

/** Search of sources that search themselves, because bodies of their skills are not here. */
export interface Elsewhere {
  /** Asks the sources of these skills. Resolves with their answers, at the latest after half a second. */
  ready(query: string, skills: readonly Skill[]): Promise<void>;
  /** Adds what they found. `pending`: skills of sources that have not answered: only their lines were searched. */
  add(found: Found, query: string, skills: readonly Skill[], accepts: Accepts): Found & { readonly pending: number };
}

/** @param most - Number of `hits`: thousands may be found. */
export function hitsOf(
  pool: Pool,
  ranking: Ranking,
  queryName: string,
  most: number,
  accepts?: Accepts,
  likeness?: Likeness,
): Found {
  const { combined } = ranking;
  const accepted = accepts ? pool.skills.map(accepts) : undefined;
  const words = bestByWords(pool, ranking, accepted);
  const { best, least } = words;
  const names = scoresByName(namesOf(pool.skills), queryName.length <= MAX_NAME ? queryName : '');
  const ranks = likeness ? addMeaning(pool, combined, words, likeness) : combined;
  const highest = ranks[bestOf(ranks, accepted)] ?? 0;
  // A skill with every word of the query stays first.
  if (likeness && best >= 0 && hasEveryTerm(pool, ranking, best)) ranks[best] = highest;
  const ofWords = best >= 0 ? ranking.shareOf(best) : 0;
  const topScore = MAX_SCORE * Math.max(ofWords, likeness?.confidence ?? 0);
  const isByWords = (at: number): boolean => (combined[at] as number) >= least || names.has(at);
  const isNear = (at: number): boolean => likeness?.fitting.has(pool.skills[at] as Skill) ?? false;
  const isAccepted = (at: number): boolean => accepted?.[at] !== false;
  const found = positionsWhere(combined, (at) => isAccepted(at) && (isByWords(at) || isNear(at)));
  const scores = new Float64Array(combined.length);
  if (highest > 0) for (const at of found) scores[at] = (topScore * (ranks[at] as number)) / highest;
  for (const [at, score] of names) if (isAccepted(at)) scores[at] = score;
  const lowest = found.length > most ? leastOf(scores, most) : 0;
  const [byScore, byRank] = [byValue(scores), byValue(combined)];
  const wanted = found.filter((at) => (scores[at] as number) >= lowest).sort((a, b) => byScore(a, b) || byRank(a, b));
  const [first = -1] = wanted;
  const weak = words.isWeak && !names.has(first) && !isNear(first) ? { weak: true as const } : {};
  const hits = wanted.slice(0, most).map((at): SearchHit => {
    const hit = { skill: pool.skills[at] as Skill, score: scores[at] as number, ...weak };
    return isByWords(at) ? hit : { ...hit, byMeaning: true };
  });
  return { hits, total: found.length };
}

/** Skills that share a term with a prompt or are near it by meaning, best first. */
export function relevantOf(pool: Pool, ranking: Ranking, likeness?: Likeness): readonly RelevantSkill[] {
  const { combined } = ranking;
  const words = bestByWords(pool, ranking, undefined);
  const ranks = likeness ? addMeaning(pool, combined, words, likeness) : combined;
  const least = leastOf(ranks, MAX_RELEVANT);
  const positions = positionsWhere(ranks, (at) => (ranks[at] as number) >= least);
  return positions.sort(byValue(ranks)).map((at) => {
    const skill = pool.skills[at] as Skill;
    const isFound = words.isWeak ? at === words.best : (combined[at] as number) >= words.least;
    return { skill, fits: isFound || (likeness?.fitting.has(skill) ?? false) };
  });
}

/** For a query without matching words: skills whose names contain it; else, for one word, whose texts contain it. */
export function hitsInsideWords({ skills }: Pool, query: string, accepts: Accepts = () => true): readonly SearchHit[] {
  const part = foldLine(query).toLowerCase();
  if ((part.length < MIN_SUBSTRING && !/\p{Lo}/u.test(part)) || part.length > MAX_PART) return [];
  const named = [...skillsWithNamePart(namesOf(skills), normalizedName(part))]
    .map((position) => skills[position] as Skill)
    .filter(accepts);
  if (named.length > 0) return named.map((skill) => ({ skill, score: PART_OF_NAME }));
  if (part.includes(' ')) return [];
  return skills
    .filter((skill) => contains(skill, part) && accepts(skill))
    .map((skill) => ({ skill, score: PART_OF_TEXT }));
}

/** For words that no index has, as "does": the skills whose lines in the catalog have most of them. */
export function hitsInHeaders({ skills }: Pool, query: string, accepts: Accepts = () => true): readonly SearchHit[] {
  const wordsIn = (text: string): ReadonlySet<string> => new Set(runsOf(text.toLowerCase()));
  const asked = wordsIn(query);
  const found = skills.filter(accepts).flatMap((skill) => {
    const words = wordsIn(headerText(skill));
    const count = [...asked].filter((word) => words.has(word)).length;
    return count > 0 ? [{ skill, score: (PART_OF_TEXT * count) / asked.size, weak: true as const }] : [];
  });
  found.sort((a, b) => b.score - a.score);
  return found.slice(0, MAX_IN_HEADERS).filter(({ score }) => score >= TAIL * (found[0]?.score ?? 0));
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
  const accepted = accepts ? pool.skills.map(accepts) : undefined;
  const { least } = bestByWords(pool, ranking, accepted);
  const isNear = (at: number): boolean => (combined[at] as number) >= least && accepted?.[at] !== false;
  const ranked = positionsWhere(combined, isNear).sort(byValue(combined));
  const shared = ranked.slice(0, MAX_NEAREST).map((at) => (pool.skills[at] as Skill).id);
  return [...new Set([...alike, ...shared])].slice(0, MAX_NEAREST);
}

// --- internal ---

interface WordHits {
  /** Position of the best skill; -1 when no skill has a word of the query. */
  readonly best: number;
  /** The lowest rank of a hit. */
  readonly least: number;
  readonly isWeak: boolean;
}

function bestByWords(pool: Pool, ranking: Ranking, accepted: readonly boolean[] | undefined): WordHits {
  const { combined, shareOf } = ranking;
  const best = bestOf(combined, accepted);
  if (best < 0) return { best, least: Number.POSITIVE_INFINITY, isWeak: true };
  const highest = combined[best] as number;
  const isClose = (at: number): boolean => (combined[at] as number) > highest * CLOSE && accepted?.[at] !== false;
  const hasLittle = shareOf(best) < MIN_SHARE && !hasEveryTerm(pool, ranking, best);
  const isWeak = hasLittle || positionsWhere(combined, isClose).length >= CROWD;
  return { best, least: highest * TAIL, isWeak };
}

function hasEveryTerm({ positions }: Pool, { terms }: Ranking, position: number): boolean {
  const document = positions.indexOf(position);
  const isIn = ({ chunk, postings }: PostingChunk): boolean =>
    postings.some((posting) => chunk * CHUNK_DOCUMENTS + postingDocument(posting) === document);
  return terms.every(({ needed, chunks }) => !needed || chunks.some(isIn));
}

/** The best skill by words gets the rank 1, or `WEAK_WORDS`. */
function addMeaning(pool: Pool, combined: Float64Array, words: WordHits, { near }: Likeness): Float64Array {
  const weight = words.isWeak ? WEAK_WORDS : 1;
  const scale = words.best >= 0 ? weight / (combined[words.best] as number) : 0;
  return combined.map((rank, at) => rank * scale + MEANING * (near.get(pool.skills[at] as Skill) ?? 0));
}

function contains({ tags, triggerKeywords, description }: Skill, part: string): boolean {
  return [description, ...tags, ...triggerKeywords].some((text) => text.toLowerCase().includes(part));
}

/** The lowest of so many highest values, of those above 0. */
function leastOf(values: Float64Array, most: number): number {
  // Sorts only those that share or surpass its step: to sort ten thousand takes longer than all else of a search.
  const step = (values[bestOf(values, undefined)] ?? 0) / STEPS;
  const stepOf = (value: number): number => Math.floor(value / step);
  const counts = new Uint32Array(STEPS + 1);
  for (const value of values) if (value > 0) counts[stepOf(value)] = (counts[stepOf(value)] as number) + 1;
  let [from, above] = [STEPS, counts[STEPS] as number];
  while (above < most && from > 0) above += counts[--from] as number;
  const high = values.filter((value) => value > 0 && stepOf(value) >= from).sort();
  return high[Math.max(0, high.length - most)] ?? Number.POSITIVE_INFINITY;
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
