import { lstatSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { skillNamed } from '../catalog/snapshot.ts';
import { type ChangeContext, findSkill } from '../history/change-context.ts';
import { archiveFolder } from '../history/journal-entries.ts';
import { assertRemovable, locationOfSkill } from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import { slugOf } from '../sources/make-skill.ts';
import { rootNotApproved } from './errors.ts';
import { changeLock, readLock } from './lock.ts';
import type { Origins, RemovedSkill } from './types.ts';
import { installedLocation } from './write-skill.ts';

/** @param mayFollowLock - A person has approved the root. */
export function createOrigins(context: ChangeContext, mayFollowLock: boolean): Origins {
  const assertApproved = (): void => {
    if (!mayFollowLock) throw rootNotApproved();
  };
  /** What `apply` throws is explained as everything else that the history throws. */
  const explained = <P extends { apply(actor: Actor): Promise<unknown> }>(plan: P): P => ({
    ...plan,
    apply: async (actor: Actor) => {
      try {
        return await plan.apply(actor);
      } catch (error) {
        throw context.writer.explain(error);
      }
    },
  });
  return {
    async add(what, options = {}) {
      const { planAdd } = await import('./add.ts');
      return explained(await planAdd(context, what, options));
    },
    async restore({ to } = {}) {
      assertApproved();
      const { planRestore } = await import('./restore.ts');
      return explained(await planRestore(context, to));
    },
    async update(ids) {
      assertApproved();
      const { planUpdate } = await import('./update.ts');
      return explained(await planUpdate(context, ids));
    },
    async verify() {
      const { verifyLock } = await import('./verify.ts');
      return verifyLock(context);
    },
    remove: (id, actor) => remove(context, id, actor),
  };
}

// --- internal ---

async function remove(context: ChangeContext, id: string, { by, reason }: Actor): Promise<RemovedSkill> {
  const { root, writer } = context;
  const locked = [...readLock(root).skills.keys()].find((name) => name === id || slugOf(name) === slugOf(id));
  const location = installedLocation(context, id);
  if (!location) {
    const link = linkOf(context, id, locked !== undefined);
    await writer.exclusively(() => {
      if (link !== undefined) unlinkSync(link);
      if (locked !== undefined) changeLock(root, locked, null);
    });
    await context.refresh();
    return { id, revision: undefined, wasLocked: locked !== undefined };
  }
  const { number } = await writer.exclusively(() => {
    assertRemovable(location);
    const move = { direction: 'out', folder: archiveFolder(location) } as const;
    const lock = locked === undefined ? undefined : { name: locked, entry: null };
    return writer.apply({ location, changes: [], move, kind: 'removed', by, reason, lock });
  });
  await context.refresh();
  return { id: location.skillId, revision: number, wasLocked: locked !== undefined };
}

/** A linked skill: its link alone goes. @throws SKILL_NOT_FOUND; SOURCE_NOT_WRITABLE for what may not be changed here. */
function linkOf(context: ChangeContext, id: string, isLocked: boolean): string | undefined {
  if (isLocked && !skillNamed(context.snapshot(), id)) return undefined;
  const skill = findSkill(context, id);
  const link = dirname(skill.file);
  const sources = context.sources().filter(({ id: one, writing }) => one === skill.source && writing);
  if (sources.length > 0 && lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return link;
  locationOfSkill(skill, context.sources(), context.root);
  return undefined;
}
