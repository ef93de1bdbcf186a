import type { SkillRegistryConfig } from '../config/config.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { ResourceInfo, Skill } from '../skill/skill.ts';
import type { SkillSource } from './source.ts';

/** Files of any skill, read through its source. SKILL_NOT_FOUND when its source has been removed. */
export interface SourceReader {
  readonly readSkill: (skill: Skill) => Buffer;
  readonly readFile: (skill: Skill, path: string, maxBytes: number) => Buffer;
  readonly listed: (skill: Skill) => readonly ResourceInfo[];
}

export function createSourceReader(sources: () => readonly SkillSource[], config: SkillRegistryConfig): SourceReader {
  const sourceOf = (skill: Skill): SkillSource => {
    const source = sources().find(({ id }) => id === skill.source);
    if (source) return source;
    throw skillNotFound(skill.id, []);
  };
  return {
    readSkill: (skill) => sourceOf(skill).readSkill(skill, config.limits.file_bytes),
    readFile: (skill, path, maxBytes) => sourceOf(skill).readResource(skill, path, maxBytes),
    listed: (skill) => sourceOf(skill).resources(skill),
  };
}
