import type { TurnContext } from 'skill-registry/kernel';
import type { ListedSkill, ListQuery, Skill, SkillList } from '../api.ts';
import { invalidArgument } from '../errors.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { shorten } from '../skill/text.ts';
import type { Searcher } from './searcher.ts';
import { reasonFor } from './why.ts';

export interface ListOptions {
  readonly searcher: Searcher;
  /** What is visible to whom, in order of the catalog. */
  readonly skillsFor: (audience: 'model' | 'person', turn: TurnContext) => readonly Skill[];
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
}

/** The model pays for every one of up to 200. */
const MAX_DESCRIPTION = 1024;
/** Of one tool call; a longer query is cut. */
const MAX_QUERY = 2000;

/** Answers `list_skills` and the command's `search`. @throws INVALID_ARGUMENT. */
export function listSkills(
  { searcher, skillsFor, readSkill }: ListOptions,
  { query, tag, source, limit = 20, why = false, audience = 'model' }: ListQuery,
  turn: TurnContext,
): SkillList {
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw invalidArgument(`limit must be 1-200, got ${limit}.`);
  const wanted = (skill: Skill): boolean =>
    (tag === undefined || skill.tags.includes(tag)) && (source === undefined || skill.source === source);
  const skills = skillsFor(audience, turn);
  const text = query?.trim().slice(0, MAX_QUERY);
  if (!text) {
    const found = skills.filter(wanted);
    const listed = found.slice(0, limit).map((skill) => rowOf(skill));
    return { skills: listed, total: found.length, truncated: found.length > listed.length };
  }
  const { hits, total, nearest, terms } = searcher.search(
    skills,
    text,
    tag === undefined && source === undefined ? undefined : wanted,
    limit,
  );
  const body = (skill: Skill): string | undefined => bodyIfThere(skill, readSkill);
  const listed = hits.slice(0, limit).map(({ skill, score }) => ({
    ...rowOf(skill),
    score: Number(score.toFixed(3)),
    ...(why ? { why: reasonFor(skill, text, terms, body) } : {}),
  }));
  return {
    skills: listed,
    total,
    truncated: total > listed.length,
    ...(nearest.length > 0 ? { nearest } : {}),
  };
}

// --- internal ---

function rowOf({ id, name, description, tags, source }: Skill): ListedSkill {
  return { skill_id: id, name, description: shorten(description, MAX_DESCRIPTION), tags, source };
}

function bodyIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  try {
    return bodyOf(readSkill(skill).toString('utf8'));
  } catch {
    // Gone since the snapshot; the next one will not have it.
    return undefined;
  }
}
