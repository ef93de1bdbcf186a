import { hasInvisible } from '../../../lib/text/index.ts';
import type { SkillHeader } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';

/** What a source adds to what SKILL.md says. */
export type SkillPlace = Pick<Skill, 'id' | 'qualifiedId' | 'source' | 'file' | 'dir' | 'realFile'>;

/**
 * The skill of a file. Field by field: a spread of objects with this many fields takes ten times longer, and there may be tens
 * of thousands.
 */
export function makeSkill(header: SkillHeader, place: SkillPlace, digest: string, bytes: number): Skill {
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
    id: place.id,
    source: place.source,
    qualifiedId: place.qualifiedId,
    file: place.file,
    dir: place.dir,
    realFile: place.realFile,
    digest,
    bytes,
  };
  for (const key of OPTIONAL_KEYS) {
    if (header[key] !== undefined) (skill as Record<keyof Optional, unknown>)[key] = header[key];
  }
  return skill;
}

/** An id for a name people wrote freely: `Escalation Protocol!` becomes `escalation-protocol`. Empty when nothing is left. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64);
}

/**
 * Whether a directory's name can be an id. It stands in prompts, in commands and on terminals, so it must be what it looks
 * like; with a colon it could pass for the qualified id of another skill.
 */
export function isUsableId(id: string): boolean {
  return id.length > 0 && !hasInvisible(id) && !/[`:]/.test(id);
}

/** A name in quotes for a message: short, and what cannot be seen in it is written out. */
export function quotedName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(short).replace(
    /(?! )[\p{C}\p{Z}]/gu,
    (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

// --- internal ---

type Optional = Pick<
  SkillHeader,
  'argumentHint' | 'version' | 'author' | 'license' | 'compatibility' | 'gate' | 'fillsLeft'
>;

/** The compiler sees to it that none is forgotten. */
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
