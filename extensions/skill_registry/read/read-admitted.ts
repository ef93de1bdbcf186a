import { basename } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../lib/digest/index.ts';
import { relativeSegments } from '../../../lib/files/index.ts';
import { nameShownAs, nearestIds, showName } from '../../../lib/text/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { findVisible } from '../show/scope.ts';
import type { Skill, SkillListing } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import type { Guard, JudgedFile, LeavingBytes } from '../trust/types.ts';

export interface AdmittedFile extends JudgedFile {
  readonly skill: Skill;
  readonly source: SkillSource;
  readonly bytes: Buffer;
  readonly heldBecause?: string | undefined;
  readonly listing?: SkillListing | undefined;
}

export type Found = ReturnType<typeof findVisible>;

export interface ReadRequest {
  /** Default: SKILL.md. */
  readonly path?: string | undefined;
  /** Who gets the bytes in the end. */
  readonly audience: LeavingBytes['audience'];
  /** Whether a person is told that the skill is held; only then the bytes are judged. */
  readonly isMarked: boolean;
}

export interface Surroundings {
  readonly admit: Guard['admit'];
  readonly limits: SkillRegistryConfig['limits'];
  readonly find: () => Found;
  readonly sourceOf: (skill: Skill) => SkillSource | undefined;
}

/** The file is read again after a change of the catalog, because its id may now be another skill's; this many times. */
const MAX_CHANGES = 3;

/**
 * @returns without bytes when these may not leave: `refusal` says why; without it there is no such skill.
 * @throws as `readContained`; RESOURCE_TOO_LARGE and RESOURCE_NOT_FOUND also say what to do.
 */
export async function readAdmitted(
  surroundings: Surroundings,
  request: ReadRequest,
  changes = 0,
): Promise<AdmittedFile | Found> {
  const { admit, limits, find, sourceOf } = surroundings;
  const { path, audience } = request;
  const { skill, refusal } = find();
  const source = skill && sourceOf(skill);
  // The source was removed after this snapshot.
  if (!source) return {};
  if (refusal && refusal !== 'SKILL_HELD') return { skill, refusal };
  // Files of a held skill are not fetched.
  if (skill.remote && !admit({ skill, kind: 'line', audience }).given) return { skill, refusal: 'SKILL_HELD' };
  const read = await readFile(skill, source, path, limits);
  if ('error' in read) {
    // No agent learns from an error which files a held skill has.
    const { given } = skill.remote ? { given: true } : await admit({ skill, kind: 'derived', audience });
    const now = find();
    if (given && !now.refusal) throw read.error;
    return refusedAs(now);
  }
  if (audience === 'person' && !request.isMarked) return { ...read, skill, source };
  const kind = path === undefined ? 'body' : 'file';
  const { given, heldBecause, listing } = await admit({ ...read, skill, kind, audience });
  // The inspection may have changed the state of the skill.
  const now = find();
  if (!given || !now.skill || now.refusal) return refusedAs(now);
  if (!isSameFile(now.skill, skill))
    return changes < MAX_CHANGES ? readAdmitted(surroundings, request, changes + 1) : {};
  return { ...read, skill: now.skill, source, heldBecause, listing };
}

// --- internal ---

async function readFile(
  skill: Skill,
  source: SkillSource,
  path: string | undefined,
  { file_bytes, resource_bytes }: SkillRegistryConfig['limits'],
): Promise<(JudgedFile & { readonly bytes: Buffer }) | { readonly error: unknown }> {
  try {
    if (path === undefined) {
      const bytes = await (source.fetch?.(skill, undefined, file_bytes) ?? source.readSkill(skill, file_bytes));
      return { path: 'SKILL.md', bytes, digest: digestOf(bytes) };
    }
    const shown = pathShownAs(path, skill, source);
    const bytes = await resourceBytes(skill, shown, source, resource_bytes);
    const name = relativeSegments(shown).join('/');
    return { path: name === basename(skill.file) ? 'SKILL.md' : name, bytes, digest: digestOf(bytes) };
  } catch (error) {
    return { error };
  }
}

/** A list shows hidden characters of a path as `⟦U+202E⟧`; this gives the path itself. */
function pathShownAs(path: string, skill: Skill, source: SkillSource): string {
  if (!path.includes('⟦')) return path;
  return nameShownAs(
    path,
    source.listing(skill).files.map((one) => one.path),
  );
}

async function resourceBytes(skill: Skill, path: string, source: SkillSource, most: number): Promise<Buffer> {
  try {
    return await (source.fetch?.(skill, path, most) ?? source.readResource(skill, path, most));
  } catch (error) {
    throw withAdvice(error, path, skill, source);
  }
}

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

function refusedAs({ skill, refusal = 'SKILL_HELD' }: Found): Found {
  return skill ? { skill, refusal } : {};
}

function isSameFile(one: Skill, other: Skill): boolean {
  return one.qualifiedId === other.qualifiedId && one.realFile === other.realFile;
}
