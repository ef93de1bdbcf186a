import { basename } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { assertWritable, futureRealPath, isInside } from '../../../../lib/files/index.ts';
import { type Snapshot, skillNamed } from '../../core/catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import type { Core } from '../../core/feature.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { isPlainName } from '../../core/skill/field-values.ts';
import { isUsableId, type Skill } from '../../core/skill/skill.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import { quoted, skillExists, sourceNotWritable } from './errors.ts';
import type { Writer } from './journal/writer.ts';
import {
  folderExists,
  folderOf,
  locationForNew,
  locationOfSkill,
  type SkillFolder,
  type SkillLocation,
} from './skill-location.ts';

export interface ChangeContext
  extends Pick<Core, 'admit' | 'events' | 'root' | 'scopes' | 'trusted'>,
    Pick<SkillRegistryConfig, 'collision' | 'limits' | 'writes'> {
  readonly writer: Writer;
  /** Absolute paths. They may contain texts of skills and proposals. */
  readonly caches: readonly string[];
  snapshot(): Snapshot;
  sources(): readonly SkillSource[];
  /** Never rejects: errors become problems. @param written - Default: a skill was added or removed; scan all. */
  refresh(written?: Pick<SkillLocation, 'base' | 'below'>): Promise<unknown>;
}

/** A file that was changed here and somewhere else, in the same lines. */
export interface FileConflict {
  readonly path: string;
  /** The text that both sides had; null when it is unknown, or when both sides added the file. */
  readonly base: Buffer | null;
  readonly theirs: Buffer;
}

/** Lets a person decide about conflicts. */
export interface ConflictProposals {
  /** Ids of those that nobody has decided. */
  waiting(location: SkillLocation): readonly string[];
  /** `store`: call it inside `Writer.exclusively`, in a transaction. */
  prepare(
    location: SkillLocation,
    conflict: FileConflict,
    justification: string,
  ): Promise<{ readonly id: string; store(database: SqliteDatabase): void }>;
}

/** With a turn: only a skill that its agent may see. @throws SKILL_NOT_FOUND. */
export function findSkill(
  context: Pick<ChangeContext, 'scopes' | 'snapshot'>,
  skillId: string,
  turn?: TurnContext,
): Skill {
  const { skill, refusal } = turn
    ? context.scopes.find(skillId, turn)
    : { skill: skillNamed(context.snapshot(), skillId), refusal: undefined };
  if (skill && !refusal) return skill;
  throw context.scopes.notFound(skillId, turn);
}

/** @throws as `findSkill`; SOURCE_NOT_WRITABLE. */
export function findLocation(context: ChangeContext, skillId: string, turn?: TurnContext): SkillLocation {
  return locationOfSkill(findSkill(context, skillId, turn), context.sources(), context.root);
}

/** Called with a file as it was read; null where there is none. */
export type Quotes = (path: string, bytes: Buffer | null) => void;

/** An error of `work` may quote a file: if the agent may not get that text, it becomes SKILL_NOT_FOUND. */
export async function withJudgedErrors<T>(
  context: Pick<ChangeContext, 'admit' | 'scopes' | 'snapshot'>,
  skillId: string,
  turn: TurnContext | undefined,
  work: (quotes: Quotes) => T | Promise<T>,
): Promise<T> {
  let [path, bytes]: Parameters<Quotes> = ['', null];
  try {
    return await work((...file) => {
      [path, bytes] = file;
    });
  } catch (error) {
    if (!turn || !bytes) throw error;
    const skill = findSkill(context, skillId, turn);
    const name = path === basename(skill.file) ? 'SKILL.md' : path;
    const { given } = await context.admit({ skill, kind: 'derived', audience: 'model', path: name, bytes });
    throw given ? error : context.scopes.notFound(skillId, turn);
  }
}

/** @throws INVALID_ARGUMENT for an id that is no valid name, SKILL_EXISTS, SOURCE_NOT_WRITABLE. */
export function newLocation(
  context: ChangeContext,
  skillId: string,
  otherwise: string = 'take another name',
): SkillLocation {
  assertFree(context, skillId, otherwise);
  return freeLocation(context, skillId, context.sources(), otherwise);
}

/** @throws INVALID_ARGUMENT for an id that is no valid name, SKILL_EXISTS. */
export function assertFree(
  context: Pick<ChangeContext, 'snapshot'>,
  skillId: string,
  otherwise: string = 'take another name',
): void {
  if (!isPlainName(skillId) || !isUsableId(skillId)) {
    const got = quoted(skillId, 80);
    throw invalidArgument(`name must be 1-64 lower-case letters, digits and single hyphens between them, got ${got}.`);
  }
  const present = context.snapshot().byId.get(skillId);
  if (present)
    throw skillExists(skillId, `the source ${quoted(present.source)}`, `Change it instead, or ${otherwise}.`);
}

/** As `newLocation`, in the first writable one of these sources, even if another source has the id. */
export function freeLocation(
  context: ChangeContext,
  skillId: string,
  sources: readonly SkillFolder[],
  otherwise: string,
  ifPresent: string = `Change it instead, or ${otherwise}.`,
): SkillLocation {
  const location = locationForNew(skillId, sources, context.root);
  const skills = [...context.snapshot().byQualifiedId.values()];
  if (folderExists(location)) {
    const folder = folderOf(location);
    if (skills.some(({ dir }) => dir && futureRealPath(dir) === folder))
      throw skillExists(skillId, `in ${folder}`, ifPresent);
    const where = `${folder} is there, though no skill was read from it`;
    throw skillExists(skillId, where, `Move that folder away, or ${otherwise}.`);
  }
  assertWritable(location.base, [location.below, location.skillFile]);
  const above = skills.find(({ dir }) => dir && isInside(location.base, dir));
  if (above)
    throw sourceNotWritable(
      skillId,
      location.source,
      `its folder is the skill "${above.id}", and no skill is found below another one. Put another folder first in \`sources\`: { path: skills }.`,
    );
  return location;
}
