import { CodedError, isCodedError } from 'skill-registry/kernel';
import { nameShownAs, nearestIds, showName } from '../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';

type Limits = SkillRegistryConfig['limits'];

/** The path of a file for which a list has shown this one, with hidden characters as `⟦U+202E⟧`. */
export function pathShownAs(path: string, skill: Skill, source: SkillSource): string {
  if (!path.includes('⟦')) return path;
  const paths = source.listing(skill).files.map((one) => one.path);
  return nameShownAs(path, paths);
}

/** Of SKILL.md. */
export async function skillFileBytes(skill: Skill, source: SkillSource, { file_bytes: most }: Limits): Promise<Buffer> {
  return source.fetch ? source.fetch(skill, undefined, most) : source.readSkill(skill, most);
}

export async function resourceBytes(
  skill: Skill,
  path: string,
  source: SkillSource,
  { resource_bytes: most }: Limits,
): Promise<Buffer> {
  try {
    return await (source.fetch ? source.fetch(skill, path, most) : source.readResource(skill, path, most));
  } catch (error) {
    throw withAdvice(error, path, skill, source);
  }
}

// --- internal ---

/** What to read instead, or what a person can change. */
function withAdvice(error: unknown, path: string, skill: Skill, source: SkillSource): unknown {
  if (isCodedError(error, 'RESOURCE_TOO_LARGE')) {
    const advice = 'A person can raise limits.resource_bytes in the config of the registry.';
    return new CodedError(error.code, `${error.message} ${advice}`, error.details, error);
  }
  if (!isCodedError(error, 'RESOURCE_NOT_FOUND')) return error;
  const paths = source.listing(skill).files.map((file) => file.path);
  const near = nearestIds(paths, path);
  const shown = (near.length > 0 ? near : paths.slice(0, 5)).map((one) => JSON.stringify(showName(one))).join(', ');
  const has =
    paths.length === 0 ? 'The skill has only SKILL.md.' : `Beside SKILL.md it has ${paths.length} file(s): ${shown}.`;
  const known = near.length > 0 ? `Nearest: ${shown}.` : has;
  return new CodedError(error.code, `${error.message} ${known}`, error.details, error);
}
