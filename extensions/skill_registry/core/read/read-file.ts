import { basename } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { relativeSegments } from '../../../../lib/files/index.ts';
import { nameShownAs, nearestIds, plural, showName } from '../../../../lib/text/index.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { JudgedFile, LeavingBytes } from '../skill/guard.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import type { SkillContent } from './types.ts';

export async function readFile(
  skill: Skill,
  source: SkillSource,
  given: string | undefined,
  { file_bytes, resource_bytes }: SkillRegistryConfig['limits'],
): Promise<(JudgedFile & { readonly bytes: Buffer }) | { readonly error: unknown }> {
  try {
    if (given === undefined) {
      const bytes = await (source.fetch?.(skill, undefined, file_bytes) ?? source.readSkill(skill, file_bytes));
      return { path: 'SKILL.md', bytes, digest: digestOf(bytes) };
    }
    // A list shows hidden characters of a path as `⟦U+202E⟧`.
    const path = given.includes('⟦') ? nameShownAs(given, pathsOf(source, skill)) : given;
    const bytes = await (source.fetch?.(skill, path, resource_bytes) ??
      source.readResource(skill, path, resource_bytes));
    const name = relativeSegments(path).join('/');
    return { path: name === basename(skill.file) ? 'SKILL.md' : name, bytes, digest: digestOf(bytes) };
  } catch (error) {
    return { error };
  }
}

/** @param names - Of the files of the skill. */
export function withAdvice(error: unknown, path: string, names: () => readonly string[]): unknown {
  if (isCodedError(error, 'RESOURCE_TOO_LARGE')) {
    const advice = 'A person can raise limits.resource_bytes in the config of the registry.';
    return new CodedError(error.code, `${error.message} ${advice}`, error.details, error);
  }
  if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) return error;
  const all = names();
  const near = nearestIds(all, path);
  const shown = (near.length > 0 ? near : all.slice(0, 5)).map((one) => JSON.stringify(showName(one))).join(', ');
  const has =
    all.length === 0
      ? 'The skill has only SKILL.md.'
      : `Beside SKILL.md it has ${plural(all.length, 'file')}: ${shown}.`;
  const known = near.length > 0 ? `Nearest: ${shown}.` : has;
  return new CodedError(error.code, `${error.message} ${known}`, error.details, error);
}

/** The file is read again after a change of the catalog, because its id may now be another skill's; this many times. */
export const MAX_CHANGES = 3;

/** Fetches a skill that is remote `until-read`. @throws for agents without a reason, which may quote an author. */
export async function wasBrought(
  catalog: Pick<Catalog, 'bring'>,
  skill: Skill,
  audience: LeavingBytes['audience'],
): Promise<boolean> {
  if (skill.remote !== 'until-read') return false;
  try {
    await catalog.bring(skill);
    return true;
  } catch (error) {
    throw audience === 'person' ? error : notBrought(skill, error);
  }
}

/** Instead of a body that the agent has. The clock time is in UTC. */
export function repeated({ name, source }: Skill, skillId: string, digest: string, since: number): SkillContent {
  const content = `You have this since ${new Date(since).toISOString().slice(11, 16)}; again: true gives it once more`;
  const nothing = { requires: [], allowedTools: [], resources: [] };
  return { skillId, name, content, repeated: true, digest, source, approxTokens: 0, message: content, ...nothing };
}

// --- internal ---

function notBrought({ id, source }: Skill, error: unknown): CodedError {
  const code = isCodedError(error) ? error.code : 'ORIGIN_UNAVAILABLE';
  const message = `"${id}" is not on this machine yet, and the source "${source}" does not give it now. Try again later, or tell the user: skill-registry show ${id} says why.`;
  return new CodedError(code, message, { skill_id: id, source }, error);
}

const pathsOf = (source: SkillSource, skill: Skill): readonly string[] =>
  source.listing(skill).files.map(({ path }) => path);
