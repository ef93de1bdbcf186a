import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';

/** Content and id: the same file under another name is another document, because its name is searched for. */
export function documentKey({ digest, id }: Pick<Skill, 'digest' | 'id'>): string {
  return `${digest} ${id}`;
}

/** What of a skill is searched besides its body. */
export function headerText({ id, name, tags, triggerKeywords, description }: Skill): string {
  return [id, name === id ? '' : name, ...tags, ...triggerKeywords, description].join('\n');
}

/** The body of a skill; undefined when it has gone since the snapshot, which the next one will know. */
export function bodyIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  try {
    return bodyOf(readSkill(skill).toString('utf8'));
  } catch {
    return undefined;
  }
}
