import { hash } from 'node:crypto';
import { withFallback } from '../../../../lib/errors/index.ts';
import { onceFor } from '../../../../lib/recent-map/index.ts';
import type { TextIndex } from '../../../../lib/text-index/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';

/** Has the id, because the id is searched too. A skill on another machine has a digest of its header. */
export const documentKey: (skill: Skill) => string = onceFor((skill) =>
  skill.remote
    ? `sha256:${hash('sha256', headerText(skill), 'hex')} ${skill.id} header`
    : `${skill.digest} ${skill.id}`,
);

/** Of the header alone, until the whole document is in the index; of a skill on another machine that is the whole. */
export function headerKey(skill: Skill): string {
  return skill.remote ? documentKey(skill) : `${documentKey(skill)} header`;
}

/** The number of what is in the index of a skill; undefined: nothing. */
export function documentOf(index: Pick<TextIndex, 'numberOf'>, skill: Skill): number | undefined {
  return index.numberOf(documentKey(skill)) ?? index.numberOf(headerKey(skill));
}

export function headerText({ id, name, tags, triggerKeywords, description }: Skill): string {
  return [id, name === id ? '' : name, ...tags, ...triggerKeywords, description].join('\n');
}

/** Empty for a skill on another machine; undefined when the file was removed after the snapshot. */
export function bodyIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  return skill.remote ? '' : withFallback(() => bodyOf(readSkill(skill).toString('utf8')));
}
