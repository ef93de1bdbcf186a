import type { SkillHeader } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';

export type SkillIdentity = Pick<Skill, 'id' | 'qualifiedId' | 'source' | 'file' | 'dir' | 'realFile'>;

/** Field by field: spreading so many fields is ten times slower, and there may be tens of thousands of skills. */
export function makeSkill(header: SkillHeader, identity: SkillIdentity, digest: string, bytes: number): Skill {
  const skill: Skill = {
    name: header.name,
    description: header.description,
    tags: header.tags,
    requires: header.requires,
    modelInvocable: header.modelInvocable,
    userInvocable: header.userInvocable,
    arguments: header.arguments,
    triggerKeywords: header.triggerKeywords,
    paths: header.paths,
    allowedTools: header.allowedTools,
    metadata: header.metadata,
    extra: header.extra,
    id: identity.id,
    source: identity.source,
    qualifiedId: identity.qualifiedId,
    file: identity.file,
    dir: identity.dir,
    realFile: identity.realFile,
    digest,
    bytes,
  };
  for (const key of OPTIONAL_KEYS)
    if (header[key] !== undefined) (skill as Record<OptionalKey, unknown>)[key] = header[key];
  return skill;
}

// --- internal ---

type OptionalKey = {
  [Key in keyof SkillHeader]-?: undefined extends SkillHeader[Key] ? Key : never;
}[keyof SkillHeader];

/** An object: the compiler reports a missing key. */
const OPTIONAL: Readonly<Record<OptionalKey, true>> = {
  argumentHint: true,
  version: true,
  author: true,
  license: true,
  compatibility: true,
  gate: true,
  fillsLeft: true,
  isKept: true,
};
const OPTIONAL_KEYS = Object.keys(OPTIONAL) as readonly OptionalKey[];
