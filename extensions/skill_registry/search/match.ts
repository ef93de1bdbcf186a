import { distance } from 'fastest-levenshtein';
import type { Skill } from '../api.ts';
import { foldLine } from '../skill/text.ts';

export interface Match {
  readonly skill: Skill;
  /** 0-1, comparable within one result. */
  readonly score: number;
}

/** How much a word counts where it was found; a trigger keyword counts as a tag. A word of the id is what people type. */
const WEIGHTS = { id: 1, idPart: 0.8, name: 0.7, tag: 0.6, description: 0.3 } as const;

/**
 * Skills in which every word of the query occurs, best first; equal ones in catalog order. The query equal to an id or a
 * name comes first, a prefix of one next, then the one whose trigger keyword it is.
 */
export function matchAll(skills: readonly Skill[], query: string): readonly Match[] {
  const words = wordsOf(query);
  const whole = foldLine(query).toLowerCase();
  if (words.length === 0) return [];
  return skills
    .flatMap((skill) => {
      const scores = words.map((word) => wordScore(skill, word));
      if (scores.some((score) => score === 0)) return [];
      const base = (scores.reduce((sum, score) => sum + score, 0) / scores.length) * 0.8;
      return [{ skill, score: Math.max(base, wholeScore(skill, whole)) }];
    })
    .sort((a, b) => b.score - a.score);
}

/** Skills that share any word of more than two letters with a text, best first: a first guess at what a prompt is about. */
export function matchAny(skills: readonly Skill[], text: string): readonly Match[] {
  const words = wordsOf(text.slice(0, 2000)).filter((word) => word.length > 2);
  return skills
    .map((skill) => ({ skill, score: words.reduce((sum, word) => sum + wordScore(skill, word), 0) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

/** Up to `count` ids that look like `wanted`, nearest first; none that share less than half of their letters. */
export function nearestIds(ids: Iterable<string>, wanted: string, count = 3): readonly string[] {
  const target = wanted.slice(0, 64).toLowerCase();
  const near: { id: string; far: number }[] = [];
  for (const id of ids) {
    const candidate = id.toLowerCase();
    const contains = target.length > 2 && (candidate.includes(target) || target.includes(candidate));
    const far = contains ? Math.abs(candidate.length - target.length) / 10 : distance(candidate, target);
    if (contains || far <= Math.max(candidate.length, target.length) / 2) near.push({ id, far });
  }
  return near
    .sort((a, b) => a.far - b.far || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id);
}

// --- internal ---

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

function wholeScore(skill: Skill, whole: string): number {
  const [id, name] = [skill.id.toLowerCase(), skill.name.toLowerCase()];
  if (id === whole || name === whole) return 1;
  if (id.startsWith(whole) || name.startsWith(whole)) return 0.9;
  return skill.triggerKeywords.some((keyword) => keyword.toLowerCase() === whole) ? 0.85 : 0;
}

function wordScore(skill: Skill, word: string): number {
  const id = skill.id.toLowerCase();
  if (id.split(/[^\p{L}\p{N}]+/u).includes(word)) return WEIGHTS.id;
  if (id.includes(word)) return WEIGHTS.idPart;
  if (skill.name.toLowerCase().includes(word)) return WEIGHTS.name;
  if ([...skill.tags, ...skill.triggerKeywords].some((tag) => tag.toLowerCase().includes(word))) return WEIGHTS.tag;
  return skill.description.toLowerCase().includes(word) ? WEIGHTS.description : 0;
}
