import type { Problem } from 'skill-registry/kernel';
import type { InlineSkillConfig } from '../../config/config.ts';
import { isUsableId, quotedName, slugOf } from '../../skill/skill.ts';
import type { SkillSource } from '../source.ts';
import { createMemorySource, type MemorySkill } from './memory-source.ts';

export interface InlineSourceOptions {
  readonly id: string;
  /** Of a config or a pack. `Escalation Protocol` gets the id `escalation-protocol`. */
  readonly skills: readonly InlineSkillConfig[];
  readonly file: string;
}

/** Problems: SKILL_ID_INVALID for a name without letters and digits, SKILL_EMPTY, and those of a description. */
export function createInlineSource({ id, skills, file }: InlineSourceOptions): SkillSource {
  const problems: Problem[] = [];
  const found = skills.flatMap(({ name, description, instructions, files = {} }): readonly MemorySkill[] => {
    const skillId = slugOf(name);
    const label = `The inline skill ${quotedName(name)}: `;
    if (isUsableId(skillId)) {
      const bytes = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const);
      return [{ id: skillId, name, description, body: instructions, files: new Map(bytes), file, label }];
    }
    const message = `The inline skill ${quotedName(name)} has no letter or digit in its name, so it has no id. Rename it.`;
    problems.push({ code: 'SKILL_ID_INVALID', severity: 'error', file, message });
    return [];
  });
  return createMemorySource({ id, kind: 'inline', location: file, load: async () => ({ skills: found, problems }) });
}
