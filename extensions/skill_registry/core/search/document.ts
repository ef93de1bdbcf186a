import { hash } from 'node:crypto';
import { withFallback } from '../../../../lib/errors/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';

/** Has the id, because the id is searched too. A skill on another machine has a digest of its header. */
export function documentKey(skill: Skill): string {
  const { digest, id, remote } = skill;
  return remote ? `sha256:${hash('sha256', headerText(skill), 'hex')} ${id} header` : `${digest} ${id}`;
}

export function headerText({ id, name, tags, triggerKeywords, description }: Skill): string {
  return [id, name === id ? '' : name, ...tags, ...triggerKeywords, description].join('\n');
}

/** Empty for a skill on another machine; undefined when the file was removed after the snapshot. */
export function bodyIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  return skill.remote ? '' : withFallback(() => bodyOf(readSkill(skill).toString('utf8')));
}
