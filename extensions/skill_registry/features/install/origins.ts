import { lstatSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { showName } from '../../../../lib/text/index.ts';
import { openTrust } from '../../../../lib/trust/index.ts';
import { groupsOf } from '../../core/catalog/merge.ts';
import { skillNamed } from '../../core/catalog/snapshot.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { slugOf } from '../../core/skill/skill.ts';
import { decisionAbout } from '../guard/sources.ts';
import { type ChangeContext, findSkill } from '../history/change-context.ts';
import { archiveFolder } from '../history/journal/journal-entries.ts';
import { assertRemovable, folderOf, locationOfSkill, type SkillLocation } from '../history/skill-location.ts';
import type { Actor } from '../history/types.ts';
import { originOf, sourceKey } from './address.ts';
import { filesAt, findInstalled, type InstalledSkills } from './find-installed.ts';
import { changeLock, isAsLocked, lockedFiles, pathIn, readLock } from './lock.ts';
import type { LockEntry, LockedSkill, RemovedSkill, UsedSource } from './types.ts';

/** Sources of the lock by name, then sources of the config. Own folders and files only when a decision names them. */
export async function usedSources(context: ChangeContext): Promise<readonly UsedSource[]> {
  const trust = openTrust();
  const locked = await groupsOf(readLock(context.root).skills, ([, entry]) =>
    withFallback(() => sourceKey(originOf(entry, context.root)), entry.source),
  );
  const sources = context.sources().filter(({ key, location, kind }) => {
    const isOwn = key === undefined && kind !== 'well-known';
    return kind !== 'inline' && !(isOwn && !decisionAbout(location, trust));
  });
  const configured = await groupsOf(sources, ({ key, location }) => key ?? location);
  return [...new Set([...locked.keys(), ...configured.keys()])].map((source) => ({
    source,
    skills: (locked.get(source) ?? []).map(([name]) => name),
    decision: decisionAbout(source, trust),
    inConfig: (configured.get(source) ?? []).map(({ id }) => id),
  }));
}

export async function verify(context: ChangeContext): Promise<readonly LockedSkill[]> {
  const { skills, broken } = readLock(context.root);
  const installed = await findInstalled(context);
  const verified: LockedSkill[] = [];
  for (const [name, reason] of broken)
    verified.push({ id: slugOf(name), name, source: 'unknown', state: 'broken', weak: false, changed: [], reason });
  for (const [name, entry] of skills) {
    await takeBreak(verified.length, skills.size);
    verified.push(verifyOne(installed, name, entry));
  }
  return verified.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function remove(context: ChangeContext, id: string, { by, reason }: Actor): Promise<RemovedSkill> {
  const { root, writer } = context;
  const { skills, broken } = readLock(root);
  const entryOf = (wanted: string) => [...skills].find(([one]) => one === wanted || slugOf(one) === wanted);
  const named = context.snapshot().byQualifiedId.get(id);
  const ofId = entryOf(id);
  // A qualified id can name another skill than the one in the lock.
  const [name, entry] = ofId ?? entryOf(named?.id ?? id.slice(id.indexOf(':') + 1)) ?? [];
  const found = name !== undefined && entry ? (await findInstalled(context)).find(name, entry) : undefined;
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

// --- internal ---

function verifyOne(installed: InstalledSkills, name: string, entry: LockEntry): LockedSkill {
  const known = { name, source: entry.source, weak: entry.registry === undefined };
  const location = installed.find(name, entry)?.location;
  if (!location) {
    const elsewhere = installed.elsewhere(name);
    const reason = elsewhere && `${elsewhere} is outside this root, where its lock names nothing`;
    return { ...known, id: slugOf(name), state: 'absent', changed: [], reason };
  }
  const files = filesAt(location);
  const { skillId: id } = location;
  if (isAsLocked(files, entry)) return { ...known, id, state: 'same', changed: [] };
  const [here, locked] = [lockedFiles(files).files, entry.registry?.files];
  const differing = locked ? [...here, ...locked].filter((line) => here.includes(line) !== locked.includes(line)) : [];
  return { ...known, id, state: 'drifted', changed: [...new Set(differing.map(pathIn))].sort() };
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
