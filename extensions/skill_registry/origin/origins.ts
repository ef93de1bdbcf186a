import { lstatSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { showName } from '../../../lib/text/index.ts';
import { skillNamed } from '../catalog/snapshot.ts';
import { type ChangeContext, findSkill } from '../history/change-context.ts';
import { archiveFolder } from '../history/journal-entries.ts';
import { assertRemovable, folderOf, locationOfSkill, type SkillLocation } from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import { invalidArgument } from '../skill/errors.ts';
import { slugOf } from '../skill/skill.ts';
import { rootNotApproved } from './errors.ts';
import { findInstalled } from './find-installed.ts';
import { assertLock, changeLock, readLock } from './lock.ts';
import type { ApplyOptions, Origins, RemovedSkill } from './types.ts';

/** @param mayFollowLock - A person has approved the root. */
export function createOrigins(context: ChangeContext, mayFollowLock: boolean): Origins {
  const assertApproved = (): void => {
    if (!mayFollowLock) throw rootNotApproved();
  };
  /** Errors of `apply` are explained as those of the history. */
  const explained = <P extends { apply(actor: Actor, options?: ApplyOptions): Promise<unknown> }>(plan: P): P => ({
    ...plan,
    apply: async (actor: Actor, options?: ApplyOptions) => {
      try {
        return await plan.apply(actor, options);
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
    async import(path, options = {}) {
      const { planImport } = await import('./import/plan-import.ts');
      return explained(await planImport(context, path, options));
    },
    async restore({ to } = {}) {
      assertLock(context.root);
      assertApproved();
      const { planRestore } = await import('./restore.ts');
      return explained(await planRestore(context, to));
    },
    async update(ids) {
      assertApproved();
      const { planUpdate } = await import('./update.ts');
      return explained(await planUpdate(context, ids));
    },
    async sources() {
      const { usedSources } = await import('./used-sources.ts');
      return usedSources(context);
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
  const { skills, broken } = readLock(root);
  const entryOf = (wanted: string) => [...skills].find(([one]) => one === wanted || slugOf(one) === wanted);
  const named = context.snapshot().byQualifiedId.get(id);
  const ofId = entryOf(id);
  // With a qualified id another skill than that of the lock may be meant.
  const [name, entry] = ofId ?? entryOf(named?.id ?? id.slice(id.indexOf(':') + 1)) ?? [];
  const found = name !== undefined && entry ? findInstalled(context).find(name, entry) : undefined;
  const isNamed = (location: SkillLocation): boolean =>
    named ? named.dir === folderOf(location) : `${location.source}:${location.skillId}` === id;
  const installed = found && (ofId || isNamed(found.location)) ? found : undefined;
  // Of one that lies outside this root, only its entry goes.
  const isAway = ofId !== undefined && !found;
  if (!isAway) assertOne(context, id, installed?.location);
  if (installed?.refusal) throw installed.refusal;
  const locked = installed || isAway ? name : broken.has(id) ? id : undefined;
  const target = installed?.location ?? (isAway ? undefined : notInstalled(context, id, locked !== undefined));
  const revision = await writer.exclusively(() => {
    const lock = locked === undefined ? undefined : { name: locked, entry: null };
    if (typeof target === 'object') {
      assertRemovable(target);
      const move = { direction: 'out', folder: archiveFolder(target) } as const;
      return writer.apply({ location: target, changes: [], move, kind: 'removed', by, reason, lock });
    }
    if (target !== undefined) unlinkSync(target);
    if (lock) changeLock(root, lock.name, lock.entry);
    return undefined;
  });
  await context.refresh();
  const skillId = typeof target === 'object' ? target.skillId : id;
  return { id: skillId, revision: revision?.number, wasLocked: locked !== undefined };
}

/** @throws INVALID_ARGUMENT when several skills have the id: the one that agents are given is not always the one that was installed. */
function assertOne(context: ChangeContext, id: string, installed: SkillLocation | undefined): void {
  const { byQualifiedId } = context.snapshot();
  if (byQualifiedId.has(id)) return;
  const folder = installed && folderOf(installed);
  // Links of other agents to what was installed are the same skill.
  const sameId = [...byQualifiedId.values()].filter((one) => one.id === id && !(folder && one.dir === folder));
  const known = new Map(sameId.map(({ file, qualifiedId }) => [file, `${qualifiedId} (${showName(dirname(file))})`]));
  if (installed && folder) known.set(folder, `${installed.source}:${installed.skillId} (${showName(folder)})`);
  if (known.size < 2) return;
  throw invalidArgument(
    `${known.size} skills have the id "${id}": ${[...known.values()].join(', ')}. Give one of these names.`,
  );
}

/**
 * A skill that nobody has installed, or a link to one; undefined where there is none, and only the lock has it.
 *
 * @throws SKILL_NOT_FOUND; SOURCE_NOT_WRITABLE.
 */
function notInstalled(context: ChangeContext, id: string, isLocked: boolean): SkillLocation | string | undefined {
  if (isLocked && !skillNamed(context.snapshot(), id)) return undefined;
  const skill = findSkill(context, id);
  const link = dirname(skill.file);
  const isWritten = context.sources().some((source) => source.id === skill.source && source.writing);
  if (isWritten && lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return link;
  return locationOfSkill(skill, context.sources(), context.root);
}
