import { lstatSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { unlinkContained } from '../../../../lib/files/index.ts';
import { showName } from '../../../../lib/text/index.ts';
import { skillNamed } from '../../core/catalog/snapshot.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';
import type { LockScope } from '../guard/installed.ts';
import { type ChangeContext, findSkill } from '../history/change-context.ts';
import { archiveFolder } from '../history/journal/journal-entries.ts';
import { assertRemovable, folderOf, locationOfSkill, type SkillLocation } from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import { planOutdated } from './errors.ts';
import { filesAt, findInstalled, scopeAt, scopesOf } from './find-installed.ts';
import { alone, changeLock, isAsLocked, readLock } from './lock.ts';
import { deadLinks } from './places.ts';
import type { RemovedSkill } from './types.ts';

export async function remove(
  context: ChangeContext,
  id: string,
  { by, reason }: Actor,
  asInstalled = false,
): Promise<RemovedSkill> {
  const { writer } = context;
  const named = context.snapshot().byQualifiedId.get(id);
  const scope = scopeToRemove(context, id, named);
  const { skills, broken } = readLock(scope.folder);
  const entryOf = (wanted: string) => [...skills].find(([one]) => one === wanted || slugOf(one) === wanted);
  const ofId = entryOf(id);
  // A qualified id can name another skill than the one in the lock.
  const [name, entry] = ofId ?? entryOf(named?.id ?? id.slice(id.indexOf(':') + 1)) ?? [];
  const found = name !== undefined && entry ? (await findInstalled(context, scope)).find(name, entry) : undefined;
  const isNamed = (location: SkillLocation): boolean =>
    named ? named.dir === folderOf(location) : `${location.source}:${location.skillId}` === id;
  const installed = found && (ofId || isNamed(found.location)) ? found : undefined;
  // If the skill is outside this root, remove only its lock entry.
  const isAway = ofId !== undefined && !found;
  if (!isAway) assertOne(context, id, installed?.location);
  if (installed?.refusal) throw installed.refusal;
  const locked = installed || isAway ? name : broken.has(id) ? id : undefined;
  const target = installed?.location ?? (isAway ? undefined : notInstalled(context, id, locked !== undefined));
  const revision = await writer.exclusively(() => {
    const lock = locked === undefined ? undefined : { name: locked, entry: null, before: skills.get(locked) };
    if (typeof target === 'object') {
      assertRemovable(target);
      if (asInstalled && !(entry && isAsLocked(filesAt(target), entry)))
        throw planOutdated(target.skillId, `${folderOf(target)} has changed`);
      const move = { direction: 'out', folder: archiveFolder(target) } as const;
      return writer.apply({ location: target, changes: [], move, kind: 'removed', by, reason, lock });
    }
    if (target !== undefined) unlinkSync(target);
    if (lock)
      alone(scope, () => {
        for (const { base, path, target: to } of entry ? deadLinks(scope, slugOf(lock.name), entry) : [])
          unlinkContained(base, path, to);
        changeLock(scope.folder, lock.name, lock.entry);
      });
    return undefined;
  });
  await context.refresh();
  const skillId = typeof target === 'object' ? target.skillId : id;
  return { id: skillId, revision: revision?.number, wasLocked: locked !== undefined };
}

// --- internal ---

/** The lock that lists the skill; where both do, that of the project. */
function scopeToRemove(context: ChangeContext, id: string, named: Skill | undefined): LockScope {
  const isListed = ({ folder }: LockScope): boolean => {
    const { skills, broken } = readLock(folder);
    return [...skills.keys(), ...broken.keys()].some((name) => name === id || slugOf(name) === id);
  };
  if (named && named.dir !== null) return scopeAt(context, named.dir);
  const scopes = scopesOf(context);
  return scopes.find(isListed) ?? (scopes[0] as LockScope);
}

/** @throws INVALID_ARGUMENT when several skills have the id: agents may see another one than the installed one. */
function assertOne(context: ChangeContext, id: string, installed: SkillLocation | undefined): void {
  const { byQualifiedId } = context.snapshot();
  if (byQualifiedId.has(id)) return;
  const folder = installed && folderOf(installed);
  // Links of other agents to the installed skill are the same skill.
  const sameId = [...byQualifiedId.values()].filter((one) => one.id === id && !(folder && one.dir === folder));
  const known = new Map(sameId.map(({ file, qualifiedId }) => [file, `${qualifiedId} (${showName(dirname(file))})`]));
  if (installed && folder) known.set(folder, `${installed.source}:${installed.skillId} (${showName(folder)})`);
  if (known.size < 2) return;
  throw invalidArgument(
    `${known.size} skills have the id "${id}": ${[...known.values()].join(', ')}. Give one of these names.`,
  );
}

/** @returns a path for a link to a skill; undefined when only the lock has it. */
function notInstalled(context: ChangeContext, id: string, isLocked: boolean): SkillLocation | string | undefined {
  if (isLocked && !skillNamed(context.snapshot(), id)) return undefined;
  const skill = findSkill(context, id);
  const link = dirname(skill.file);
  const isWritten = context.sources().some((source) => source.id === skill.source && source.writing);
  if (isWritten && lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return link;
  return locationOfSkill(skill, context.sources(), context.root);
}
