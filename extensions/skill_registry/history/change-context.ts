import type { TurnContext } from 'skill-registry/kernel';
import { assertWritable, isInside } from '../../../lib/files/index.ts';
import { type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { nearestIds } from '../search/names.ts';
import type { RetrievalChange } from '../search/overlap/trigger-queries.ts';
import { findVisible, visibleSkills } from '../show/scope.ts';
import { invalidArgument, skillNotFound } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { isUsableId } from '../sources/make-skill.ts';
import type { SkillSource } from '../sources/source.ts';
import { skillExists, sourceNotWritable } from './errors.ts';
import { folderExists, locationForNew, locationOfSkill, type SkillLocation } from './skill-location.ts';
import type { Writer } from './writer.ts';

/** What changing skills needs of the registry. */
export interface ChangeContext {
  readonly writer: Writer;
  /** Absolute. */
  readonly root: string;
  /** What is made anew from skills and proposals; it may hold words of both. */
  readonly caches: readonly string[];
  readonly limits: SkillRegistryConfig['limits'];
  readonly writes: SkillRegistryConfig['writes'];
  snapshot(): Snapshot;
  sources(): readonly SkillSource[];
  granted(turn: TurnContext): ReadonlySet<string>;
  /** After a change, before anybody is told. Never rejects: what a look at the skills meets is in their own problems. */
  refresh(): Promise<unknown>;
  /** Which stored trigger queries change their top hit when a skill's text becomes another one. */
  retrievalEffect(skillId: string, text: string): Promise<readonly RetrievalChange[]>;
}

const NEW_ID = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The skill that is meant: with a turn, what its agent may see; else any. @throws SKILL_NOT_FOUND. */
export function findSkill(context: ChangeContext, skillId: string, turn?: TurnContext): Skill {
  const snapshot = context.snapshot();
  const { skill, refusal } = turn
    ? findVisible(snapshot, skillId, turn, context.granted(turn))
    : { skill: skillNamed(snapshot, skillId), refusal: undefined };
  if (skill && !refusal) return skill;
  const known = turn ? visibleSkills(snapshot, turn, context.granted(turn)) : snapshot.skills;
  throw skillNotFound(
    skillId,
    nearestIds(
      known.map(({ id }) => id),
      skillId,
    ),
  );
}

/** @throws SKILL_NOT_FOUND, SOURCE_NOT_WRITABLE. */
export function findLocation(context: ChangeContext, skillId: string, turn?: TurnContext): SkillLocation {
  return locationOfSkill(findSkill(context, skillId, turn), context.sources(), context.root);
}

/** Where a new skill goes. @throws INVALID_ARGUMENT for an id that is no name, SKILL_EXISTS, SOURCE_NOT_WRITABLE. */
export function newLocation(context: ChangeContext, skillId: string): SkillLocation {
  if (skillId.length > 64 || !NEW_ID.test(skillId) || !isUsableId(skillId)) {
    const got = JSON.stringify(skillId.slice(0, 80));
    throw invalidArgument(`name must be 1-64 lower-case letters, digits and single hyphens between them, got ${got}.`);
  }
  const known = context.snapshot().byId.get(skillId);
  if (known) throw skillExists(skillId, `source ${known.source}`);
  const location = locationForNew(skillId, context.sources(), context.root);
  if (folderExists(location)) throw skillExists(skillId, 'its folder is there, though no skill was read from it');
  assertWritable(location.base, [location.below, location.skillFile]);
  const above = [...context.snapshot().byQualifiedId.values()].find(({ dir }) => dir && isInside(location.base, dir));
  if (above)
    throw sourceNotWritable(
      skillId,
      location.source,
      `it is the skill "${above.id}", and below a skill none is found.`,
    );
  return location;
}
