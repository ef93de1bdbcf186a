import { plural, shorten } from '../../../../lib/text/index.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { bodyIfThere } from './document.ts';
import { skillsForFiles } from './for-files.ts';
import type { Elsewhere, SearchHit } from './hits.ts';
import type { Searcher } from './searcher.ts';
import type { ListedSkill, ListQuery, Meaning, SkillList } from './types.ts';
import { meaningReason, reasonFor } from './why.ts';

export interface ListSkillsOptions {
  readonly searcher: Searcher;
  readonly elsewhere: Elsewhere | undefined;
  /** Absent: search uses words only. */
  readonly meaning: Pick<Meaning, 'likeness'> | undefined;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
  readonly root: string;
  /** Of a body that is not inspected a model is not told what it has; that only its words count is no secret. */
  readonly isInspected: (skill: Skill) => boolean;
  readonly inspect: (skill: Skill) => void;
}

/** Characters; a model may receive 200 descriptions. */
const MAX_DESCRIPTION = 1024;
const MAX_QUERY = 2000;
/** By one search. */
const MOST_INSPECTED = 20;

const WITHOUT_MEANING =
  'Search by meaning is off, so only skills that contain words of the query are found: use other words, in the language of the skills.';
const WITH_MEANING = 'Use other words for the query.';
const WEAK = 'These may not fit; they are only the nearest.';
const NO_SKILLS = 'There is none that may be seen.';
const NOT_THERE = 'None that may be seen has this tag or source, whatever the words are: leave it out.';

/** `skills`: what the caller sees. @throws INVALID_ARGUMENT. */
export function listSkills(
  { searcher, elsewhere, meaning, readSkill, root, isInspected, inspect }: ListSkillsOptions,
  skills: readonly Skill[],
  { query, tag, source, paths = [], limit = 20, why = false, audience = 'model' }: ListQuery,
): SkillList {
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw invalidArgument(`limit must be 1-200, got ${limit}.`);
  const accepts = (skill: Skill): boolean =>
    (tag === undefined || skill.tags.includes(tag)) && (source === undefined || skill.source === source);
  const text = query?.trim().slice(0, MAX_QUERY);
  if (!text) {
    const all = skills.filter(accepts);
    const found = withWanted(all, skillsForFiles(all, paths, root), limit);
    return pageOf(found.slice(0, limit).map(rowOf), found.length, {}, []);
  }
  const accepted = tag === undefined && source === undefined ? undefined : accepts;
  const mayTell = audience === 'person' ? undefined : isInspected;
  const here = searcher.search(skills, text, accepted, meaning?.likeness(skills, text), mayTell);
  // Of a body that was not inspected, not even its own source tells a model which phrases it has.
  const mayAdd = (skill: Skill): boolean => accepts(skill) && (!text.includes('"') || mayTell?.(skill) !== false);
  const { terms, untold } = here;
  const { hits: best, total, pending: away } = elsewhere?.add(here, text, skills, mayAdd) ?? { ...here, pending: 0 };
  const nearest = best.length > 0 ? [] : here.nearest;
  // The next answer has them.
  for (const skill of untold.slice(0, MOST_INSPECTED)) inspect(skill);
  const inOrder = paths.length === 0 ? [] : [...best.map(({ skill }) => skill), ...skills.filter(accepts)];
  const forFiles = skillsForFiles(inOrder, paths, root).map(
    (skill): SearchHit => best.find((hit) => hit.skill === skill) ?? { skill, score: 0 },
  );
  const hits = withWanted(best, forFiles, limit);
  // A model gets no quotation of a body that it has not read.
  const body = (skill: Skill): string | undefined =>
    audience === 'person' ? bodyIfThere(skill, readSkill) : undefined;
  const advice = (): string => {
    if (skills.length === 0) return NO_SKILLS;
    if (!skills.some(accepts)) return NOT_THERE;
    return meaning ? WITH_MEANING : WITHOUT_MEANING;
  };
  const listed = hits.slice(0, limit).map(({ skill, score, byMeaning, weak }) => ({
    ...rowOf(skill),
    score: Number(score.toFixed(3)),
    ...(weak ? { weak } : {}),
    ...(why ? { why: byMeaning ? meaningReason(skill) : reasonFor(skill, text, terms, body) } : {}),
  }));
  const unindexed = searcher.unindexed(skills);
  const pending = Math.max(unindexed, untold.length, away);
  // Nothing waits for the whole index: a later answer has it.
  if (unindexed > 0) searcher.prepare(skills).catch(() => undefined);
  if (away > 0) elsewhere?.ready(text, skills).catch(() => undefined);
  const more = {
    ...(nearest.length > 0 ? { nearest } : {}),
    ...(pending > 0 ? ({ provisional: true, pending } as const) : {}),
  };
  const first = hits.length === 0 ? ['No skill fits.', advice()] : hits[0]?.weak ? [WEAK] : [];
  const said = pending > 0 ? [...first, provisionalText(pending)] : first;
  return pageOf(listed, Math.max(total, hits.length), more, said);
}

/** A busy machine takes longer; the next answer then says so. */
export function secondsToIndex(skills: number): number {
  return Math.max(2, Math.ceil(skills / INDEXED_IN_A_SECOND));
}

// --- internal ---

const INDEXED_IN_A_SECOND = 500;

function provisionalText(pending: number): string {
  return `This answer is provisional: of ${plural(pending, 'skill')} only names, descriptions and tags were searched. Ask again in about ${secondsToIndex(pending)} s.`;
}

/** On a page of `limit`, in its last quarter at the latest. */
function withWanted<Item>(items: readonly Item[], wanted: readonly Item[], limit: number): readonly Item[] {
  const first = items.slice(0, limit - Math.floor(limit / 4));
  return wanted.length === 0 ? items : [...new Set([...first, ...wanted, ...items])];
}

function pageOf(
  skills: readonly ListedSkill[],
  total: number,
  more: Pick<SkillList, 'nearest' | 'provisional' | 'pending'>,
  sentences: readonly string[],
): SkillList {
  const message = sentences.filter((sentence) => sentence !== '').join(' ');
  return { skills, total, truncated: total > skills.length, ...more, ...(message === '' ? {} : { message }) };
}

function rowOf({ id, name, description, tags, source }: Skill): ListedSkill {
  return { skillId: id, name, description: shorten(description, MAX_DESCRIPTION), tags, source };
}
