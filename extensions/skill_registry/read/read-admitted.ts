import { basename } from 'node:path';
import { digestOf } from '../../../lib/digest/index.ts';
import { relativeSegments } from '../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { findVisible } from '../show/scope.ts';
import type { Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import type { Guard, JudgedFile, LeavingBytes } from '../trust/types.ts';
import { pathShownAs, resourceBytes, skillFileBytes } from './skill-files.ts';

export interface AdmittedFile extends JudgedFile {
  readonly skill: Skill;
  readonly source: SkillSource;
  readonly bytes: Buffer;
  /** Why no agent is given it; only for a person. */
  readonly heldBecause?: string;
}

export type Found = ReturnType<typeof findVisible>;

export interface ReadRequest {
  /** Default: SKILL.md. */
  readonly path?: string;
  /** Who gets it in the end. */
  readonly audience: LeavingBytes['audience'];
  /** Whether a person is told that what was read is held: then it is judged. */
  readonly isMarked: boolean;
}

interface Surroundings {
  readonly admit: Guard['admit'];
  readonly limits: SkillRegistryConfig['limits'];
  /** Looks the skill up. */
  readonly find: () => Found;
  readonly sourceOf: (skill: Skill | undefined) => SkillSource | undefined;
}

/** Changes of the catalog while a file is read, after which it is read again: its id may have become that of another skill. */
const MAX_CHANGES = 3;

/**
 * Looks a skill up, reads what is asked for, and asks whether these very bytes may leave.
 *
 * @returns without bytes when they may not: `refusal` says why; without it, there is no such skill.
 * @throws as `skillFileBytes` and `resourceBytes`.
 */
export async function readAdmitted(
  surroundings: Surroundings,
  request: ReadRequest,
  changes = 0,
): Promise<AdmittedFile | Found> {
  const { admit, limits, find, sourceOf } = surroundings;
  const { path, audience } = request;
  const { skill, refusal } = find();
  const source = sourceOf(skill);
  // Without a source: it was removed after this snapshot.
  if (!skill || !source) return {};
  if (refusal && refusal !== 'SKILL_HELD') return { skill, refusal };
  // Nothing is fetched of a skill that is held.
  if (skill.remote && !admit({ skill, kind: 'line', audience }).given) return { skill, refusal: 'SKILL_HELD' };
  const read = await readFile(skill, source, path, limits);
  if ('error' in read) {
    // What it says of the files of a skill that is held is for no agent.
    const { given } = skill.remote ? { given: true } : await admit({ skill, kind: 'derived', audience });
    const now = find();
    if (given && !now.refusal) throw read.error;
    return refusedAs(now);
  }
  if (audience === 'person' && !request.isMarked) return { ...read, skill, source };
  const kind = path === undefined ? 'body' : 'file';
  const { given, heldBecause } = await admit({ ...read, skill, kind, audience });
  // Its state may have changed with what was found.
  const now = find();
  if (!given || !now.skill || now.refusal) return refusedAs(now);
  if (!isSameFile(now.skill, skill))
    return changes < MAX_CHANGES ? readAdmitted(surroundings, request, changes + 1) : {};
  return { ...read, skill: now.skill, source, ...(heldBecause === undefined ? {} : { heldBecause }) };
}

// --- internal ---

type ReadFile = (JudgedFile & { readonly bytes: Buffer }) | { readonly error: unknown };

async function readFile(
  skill: Skill,
  source: SkillSource,
  path: string | undefined,
  limits: SkillRegistryConfig['limits'],
): Promise<ReadFile> {
  try {
    const shown = path === undefined ? undefined : pathShownAs(path, skill, source);
    const bytes =
      shown === undefined
        ? await skillFileBytes(skill, source, limits)
        : await resourceBytes(skill, shown, source, limits);
    const name = shown === undefined ? 'SKILL.md' : relativeSegments(shown).join('/');
    return { path: name === basename(skill.file) ? 'SKILL.md' : name, bytes, digest: digestOf(bytes) };
  } catch (error) {
    return { error };
  }
}

function refusedAs({ skill, refusal = 'SKILL_HELD' }: Found): Found {
  return skill ? { skill, refusal } : {};
}

function isSameFile(one: Skill, other: Skill): boolean {
  return one.qualifiedId === other.qualifiedId && one.realFile === other.realFile;
}
