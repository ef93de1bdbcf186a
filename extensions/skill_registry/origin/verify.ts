import { createBreaks } from '../../../lib/breaks/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { slugOf } from '../skill/skill.ts';
import { filesAt, findInstalled, type InstalledSkills } from './find-installed.ts';
import { isAsLocked, lockedFiles, pathIn, readLock } from './lock.ts';
import type { IncomingFile } from './opened-origin.ts';
import type { LockEntry, LockedSkill } from './types.ts';

/** Compares every skill of the lock with what lies on disk. Writes nothing. @throws LOCK_INVALID. */
export async function verifyLock(context: ChangeContext): Promise<readonly LockedSkill[]> {
  const { skills, broken } = readLock(context.root);
  const takeBreak = createBreaks();
  const installed = findInstalled(context);
  const verified: LockedSkill[] = [];
  for (const [name, entry] of skills) {
    await takeBreak();
    verified.push(verifyOne(installed, name, entry));
  }
  const unusable = [...broken].map(
    ([name, reason]): LockedSkill => ({
      ...{ id: slugOf(name), name, source: 'unknown', state: 'broken', weak: false, changed: [], reason },
    }),
  );
  return [...verified, ...unusable].sort((a, b) => (a.name < b.name ? -1 : 1));
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
  return { ...known, id, state: 'drifted', changed: changedPaths(files, entry) };
}

function changedPaths(files: readonly IncomingFile[], { registry }: LockEntry): readonly string[] {
  if (!registry) return [];
  const [here, locked] = [new Set(lockedFiles(files).files), new Set(registry.files)];
  const differing = [...here].filter((line) => !locked.has(line)).concat([...locked].filter((line) => !here.has(line)));
  return [...new Set(differing.map(pathIn))].sort();
}
