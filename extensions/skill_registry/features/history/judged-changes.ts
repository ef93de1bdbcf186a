import { CodedError, isCodedError } from 'skill-registry/kernel';
import type { SkillRegistryAdmin } from '../../core/api.ts';
import { skillNamed } from '../../core/catalog/snapshot.ts';
import type { Core } from '../../core/feature.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { HeldSkills } from '../guard/held-skills.ts';
import type { FilesAfter } from './inspected-change.ts';
import type { RunChanges } from './open-changes.ts';
import type { ChangeToApprove, Decider, InspectedChange } from './types.ts';

export interface ChangeKind {
  readonly has: (change: ChangeToApprove) => boolean;
  /** undefined when the change cannot be made now. */
  filesAfter(change: ChangeToApprove): Promise<FilesAfter | undefined>;
  /** The skill that was changed; undefined when it is gone. */
  skillOf(change: ChangeToApprove): Promise<Skill | undefined>;
}

export interface JudgedChanges extends Pick<SkillRegistryAdmin, 'allowShown'> {
  /** Of a feature with changes of its own. */
  add(kind: ChangeKind): void;
  /** @param mayBeAllowed - False: also what a person has allowed, because the same words may now run something else. */
  inspectAfter(change: ChangeToApprove, mayBeAllowed?: boolean): Promise<InspectedChange>;
  /**
   * Who is no person decides only on what is no attack.
   * @param work - Gets `inspected` for the decision. @throws BLOCK_NOT_CONFIRMED.
   */
  decided<Result>(
    change: ChangeToApprove,
    actor: Decider,
    work: (inspected: Pick<Decider, 'inspected'>) => Promise<Result>,
  ): Promise<Result>;
}

export function createJudgedChanges(
  core: Core,
  run: RunChanges,
  heldSkills: Pick<HeldSkills, 'inspectAfter' | 'trustOf' | 'decide'>,
): JudgedChanges {
  const kinds: ChangeKind[] = [kindOfHistory(core, run)];
  const kindOf = (change: ChangeToApprove): ChangeKind => {
    const kind = kinds.find(({ has }) => has(change));
    if (kind) return kind;
    throw new Error('No feature of this registry makes this kind of change.');
  };
  // One by one: two harmless halves may become an attack together.
  let last: Promise<unknown> = Promise.resolve();
  const judged: JudgedChanges = {
    add: (kind) => void kinds.push(kind),
    async inspectAfter(change, mayBeAllowed = true) {
      const after = await kindOf(change).filesAfter(change);
      if (!after) return { blocks: [], digest: null };
      const skill = mayBeAllowed ? after.skill : undefined;
      const { blocks, digest, reaches } = await heldSkills.inspectAfter(skill, after.files());
      return { blocks, reaches, digest: blocks.length === 0 && after.change !== undefined ? after.change : digest };
    },
    async allowShown(change, { blocks, digest }, { by, reason }) {
      const skill = await kindOf(change).skillOf(change);
      if (!skill) return null;
      const { heldBecause } = await heldSkills.trustOf(skill);
      if (heldBecause === null || !by.startsWith('person:') || blocks.length === 0 || digest === null)
        return heldBecause;
      try {
        return (await heldSkills.decide('allow', skill, { by, reason, digest })).heldBecause;
      } catch (error) {
        // Its files are others than those that were shown.
        if (isCodedError(error, 'INVALID_ARGUMENT')) return heldBecause;
        throw error;
      } finally {
        await core.catalog.refresh();
      }
    },
    decided(change, actor, work) {
      if (actor.by.startsWith('person:')) return work({});
      const deciding = last.then(async () => {
        const { blocks, digest } = await judged.inspectAfter(change, false);
        if (blocks.length === 0) return work({ inspected: digest });
        const found = [...new Set(blocks.map((block) => block.message))].join('; ');
        const message = `This looks like an attack: ${found}. Only a person can approve it. Nothing was changed. Tell the user.`;
        throw new CodedError('BLOCK_NOT_CONFIRMED', message, { ...change });
      });
      last = deciding.catch(() => undefined);
      return deciding;
    },
  };
  return judged;
}

// --- internal ---

/** Roll-backs, and removed skills that come back. */
function kindOfHistory({ catalog }: Core, run: RunChanges): ChangeKind {
  return {
    has: (change) => 'restoredId' in change || 'revision' in change,
    filesAfter: (change) =>
      run(({ history }) => {
        // Asked again, even if somebody allowed it before the removal.
        if ('restoredId' in change) return history.filesToRestore(change.restoredId);
        return 'revision' in change ? history.filesOfRevision(change.skillId, change.revision) : undefined;
      }),
    skillOf: (change) =>
      run(({ history }) => {
        if ('restoredId' in change) return history.restoredSkill(change.restoredId);
        return 'revision' in change ? skillNamed(catalog.snapshot(), change.skillId) : undefined;
      }),
  };
}
