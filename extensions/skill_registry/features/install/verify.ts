import { join } from 'node:path';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { slugOf } from '../../core/skill/skill.ts';
import type { LockScope } from '../guard/installed.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { folderOf } from '../history/skill-location.ts';
import { filesAt, findInstalled, type InstalledSkills, scopesOf } from './find-installed.ts';
import { isAsLocked, lockedFiles, pathIn, readLock } from './lock.ts';
import { brokenLinks, deadLinks } from './places.ts';
import type { LockEntry, LockedSkill } from './types.ts';

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

// --- internal ---

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
