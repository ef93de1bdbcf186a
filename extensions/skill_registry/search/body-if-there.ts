import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';

/** The body of a skill; undefined when it has gone since the snapshot, which the next one will know. */
export function bodyIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  try {
    return bodyOf(readSkill(skill).toString('utf8'));
  } catch {
    return undefined;
  }
}
