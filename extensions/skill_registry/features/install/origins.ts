import { lstatSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { unlinkContained } from '../../../../lib/files/index.ts';
import { showName } from '../../../../lib/text/index.ts';
import { openTrust } from '../../../../lib/trust/index.ts';
import { groupsOf } from '../../core/catalog/merge.ts';
import { skillNamed } from '../../core/catalog/snapshot.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';
import type { LockScope } from '../guard/installed.ts';
import { decisionAbout } from '../guard/sources.ts';
import { type ChangeContext, findSkill } from '../history/change-context.ts';
import { archiveFolder } from '../history/journal/journal-entries.ts';
import { assertRemovable, folderOf, locationOfSkill, type SkillLocation } from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import { originOf, sourceKey } from './address.ts';
import { planOutdated } from './errors.ts';
import { filesAt, findInstalled, type InstalledSkills, scopeAt, scopesOf } from './find-installed.ts';
import { alone, changeLock, isAsLocked, lockedFiles, pathIn, readLock } from './lock.ts';
import { brokenLinks, deadLinks } from './places.ts';
import type { LockEntry, LockedSkill, RemovedSkill, UsedSource } from './types.ts';

/** Sources of the lock by name, then sources of the config. Own folders and files only when a decision names them. */
export async function usedSources(context: ChangeContext): Promise<readonly UsedSource[]> {
  const trust = openTrust();
  const entries = scopesOf(context).flatMap(({ folder }) =>
    [...readLock(folder).skills].map(([name, entry]) => ({ name, entry, folder })),
  );
  const locked = await groupsOf(entries, ({ entry, folder }) =>
    withFallback(() => sourceKey(originOf(entry, folder)), entry.source),
  );
  const sources = context.sources().filter(({ key, location, kind }) => {
    const isOwn = key === undefined && kind !== 'well-known';
    return kind !== 'inline' && !(isOwn && !decisionAbout(location, trust));
  });
  const configured = await groupsOf(sources, ({ key, location }) => key ?? location);
  return [...new Set([...locked.keys(), ...configured.keys()])].map((source) => ({
    source,
    skills: (locked.get(source) ?? []).map(({ name }) => name),
    decision: decisionAbout(source, trust),
    inConfig: (configured.get(source) ?? []).map(({ id }) => id),
  }));
}

export async function verify(context: ChangeContext): Promise<readonly LockedSkill[]> {
  const verified: LockedSkill[] = [];
  for (const scope of scopesOf(context)) {
    const { ofPerson, folder } = scope;
    const { skills, broken } = readLock(folder);
    const installed = await findInstalled(context, scope);
    for (const [name, reason] of broken) {
      const known = { id: slugOf(name), name, source: 'unknown', ofPerson, weak: false, changed: [] };
      verified.push({ ...known, state: 'broken', reason });
    }
    for (const [name, entry] of skills) {
      await takeBreak(verified.length, skills.size);
      verified.push(verifyOne(scope, installed, name, entry));
    }
  }
  return verified.sort((a, b) => (a.name < b.name ? -1 : 1));
}

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

function verifyOne(scope: LockScope, installed: InstalledSkills, name: string, entry: LockEntry): LockedSkill {
  const known = { name, source: entry.source, ofPerson: scope.ofPerson, weak: entry.registry === undefined };
  const location = installed.find(name, entry)?.location;
  if (!location) {
    const elsewhere = installed.elsewhere(name);
    const id = slugOf(name);
    const outside = !scope.ofPerson && elsewhere;
    const reasons = [
      ...(outside ? [`${outside} is outside this root, where its lock names nothing`] : []),
      ...deadLinks(scope, id, entry).map(({ base, path }) => `${join(base, path)} is a link to where it was`),
    ];
    const reason = reasons.length > 0 ? reasons.join('; ') : undefined;
    return { ...known, id, state: 'absent', changed: [], reason };
  }
  const files = filesAt(location);
  const here = { ...known, id: location.skillId, folder: folderOf(location) };
  if (isAsLocked(files, entry)) {
    const broken = brokenLinks(scope, location, entry);
    if (broken.length === 0) return { ...here, state: 'same', changed: [] };
    return { ...here, state: 'unlinked', changed: [], reason: broken.join('; ') };
  }
  const [present, locked] = [lockedFiles(files).files, entry.registry?.files];
  const differing = locked
    ? [...present, ...locked].filter((line) => present.includes(line) !== locked.includes(line))
    : [];
  return { ...here, state: 'drifted', changed: [...new Set(differing.map(pathIn))].sort() };
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
