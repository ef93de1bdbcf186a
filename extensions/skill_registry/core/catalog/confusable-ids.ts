import { createRequire } from 'node:module';
import type { Problem } from 'skill-registry/kernel';
import type unhomoglyphOf from 'unhomoglyph';
import { eachWithBreaks } from '../../../../lib/breaks/index.ts';
import type { Skill } from '../skill/skill.ts';

/**
 * SKILL_ID_CONFUSABLE for each id that looks like an earlier one: other letter case, or letters that Unicode calls
 * confusable (`соde` with Cyrillic letters, `c0de`, `rn` for `m`). `skills`: one per id, in order of precedence.
 */
export async function confusableIds(skills: readonly Pick<Skill, 'id' | 'file'>[]): Promise<readonly Problem[]> {
  const seen = new Map<string, Pick<Skill, 'id' | 'file'>>();
  const problems: Problem[] = [];
  await eachWithBreaks(skills, (skill) => {
    const looks = looksOf(skill.id);
    const other = looks.map((look) => seen.get(look)).find((one) => one !== undefined);
    for (const look of looks) if (!seen.has(look)) seen.set(look, skill);
    if (other) problems.push(problemOf(skill, other));
  });
  return problems;
}

// --- internal ---

/** Equal for ids that look alike. Two, because a capital letter can look like another letter than the small one. */
function looksOf(id: string): readonly string[] {
  if (/^[\x20-\x7e]*$/.test(id))
    return id.includes('I') ? [asciiLook(id), asciiLook(id.replaceAll('I', 'l'))] : [asciiLook(id)];
  const text = id.normalize('NFKC');
  return [...new Set([text, text.toLowerCase()].map((one) => asciiLook(baseLetters(one))))];
}

/** `cl` does not become `d`: terminal fonts show a gap between the two letters, and `cli` and `di` are words. */
function asciiLook(text: string): string {
  const small = text.toLowerCase();
  if (!/[01]|rn|vv/.test(small)) return small;
  return small.replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('rn', 'm').replaceAll('vv', 'w');
}

let replaceAll: typeof unhomoglyphOf | undefined;

function baseLetters(text: string): string {
  replaceAll ??= createRequire(import.meta.url)('unhomoglyph') as typeof unhomoglyphOf;
  return text.replace(/[^\x20-\x7e]+/g, (letters) => (replaceAll as typeof unhomoglyphOf)(letters));
}

function problemOf({ id, file }: Pick<Skill, 'id' | 'file'>, other: Pick<Skill, 'id' | 'file'>): Problem {
  const message = `The id "${id}" looks like "${other.id}" (${other.file}), so people may confuse them. Rename one of the directories.`;
  return { code: 'SKILL_ID_CONFUSABLE', severity: 'warning', file, message, details: { looks_like: other.id } };
}
