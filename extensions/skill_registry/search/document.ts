import { hash } from 'node:crypto';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';

/**
 * The key of a document: digest and id. The id is part of the searched text, so the same file with another id is another document;
 * and so is the header of a skill whose body is not here.
 */
export function documentKey(skill: Skill): string {
  const { digest, id, remote } = skill;
  return remote ? `sha256:${hash('sha256', headerText(skill), 'hex')} ${id} header` : `${digest} ${id}`;
}

/** The text of a skill that is searched in addition to its body. */
export function headerText({ id, name, tags, triggerKeywords, description }: Skill): string {
  return [id, name === id ? '' : name, ...tags, ...triggerKeywords, description].join('\n');
}

/** The body of a skill; empty when it lies on another machine; undefined when the file was removed after the snapshot. */
export function bodyIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  if (skill.remote) return '';
  try {
    return bodyOf(readSkill(skill).toString('utf8'));
  } catch {
    return undefined;
  }
}
