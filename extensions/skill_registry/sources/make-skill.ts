import { needsFolding } from '../../../lib/text/index.ts';
import type { SkillHeader } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';

/** The fields of a skill that come from its source and not from SKILL.md. */
export type SkillIdentity = Pick<Skill, 'id' | 'qualifiedId' | 'source' | 'file' | 'dir' | 'realFile'>;

/**
 * Makes a skill, field by field: spreading objects with so many fields takes ten times longer, and there may be tens of thousands
 * of skills.
 */
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
  for (const key of OPTIONAL_KEYS) {
    if (header[key] !== undefined) (skill as Record<keyof Optional, unknown>)[key] = header[key];
  }
  return skill;
}

/**
 * Whether a name can be an id. Ids are shown in prompts, commands and terminals, so they must not contain invisible characters;
 * with a colon an id could be equal to the qualified id of another skill.
 */
export function isUsableId(id: string): boolean {
  return id.length > 0 && !needsFolding(id) && !/[`:]/.test(id);
}

/** A name in quotes for a message: at most 80 characters, with invisible characters escaped. */
export function quotedName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short).replace(
    /(?! )[\p{C}\p{Z}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

// --- internal ---

type Optional = Pick<
  SkillHeader,
  'argumentHint' | 'version' | 'author' | 'license' | 'compatibility' | 'gate' | 'fillsLeft'
>;

/** An object, so that the compiler reports a missing key. */
const OPTIONAL: { readonly [key in keyof Required<Optional>]: true } = {
  argumentHint: true,
  version: true,
  author: true,
  license: true,
  compatibility: true,
  gate: true,
  fillsLeft: true,
};
const OPTIONAL_KEYS = Object.keys(OPTIONAL) as readonly (keyof Optional)[];
