import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { futureRealPath, isInside, isReserved } from '../../../../lib/files/index.ts';
import { groupsOf } from '../../core/catalog/merge.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';
import { homeFolders } from '../../core/sources/agent-folders.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import type { ChangeContext } from '../history/change-context.ts';
import {
  agentFolders,
  folderExists,
  folderOf,
  locationOfKey,
  locationOfSkill,
  type SkillLocation,
  skillKey,
} from '../history/skill-location.ts';
import { readFolderTree } from '../history/skill-tree.ts';
import { isAsLocked } from './lock.ts';
import { type IncomingFile, MAX_UNPACKED } from './opened-origin.ts';
import type { LockEntry } from './types.ts';

export interface InstalledSkill {
  readonly location: SkillLocation;
  /** A writable source contains it, so rollback and proposals work. */
  readonly hasSource: boolean;
  readonly refusal?: Error | undefined;
}

export interface InstalledSkills {
  find(name: string, entry: LockEntry): InstalledSkill | undefined;
  /** The folder of a skill with that name outside the root, which the lock does not cover. */
  elsewhere(name: string): string | undefined;
}

/** A repository may bring its lock, so it covers neither paths outside the root nor a person's own folders. */
export async function findInstalled(context: ChangeContext): Promise<InstalledSkills> {
  const isOfRoot = ofRoot(context.root);
  // A lock and the catalog may have thousands of skills.
  const known = await groupsOf(context.snapshot().byQualifiedId.values(), ({ id }) => slugOf(id));
  const beside = await groupsOf(inAgentFolders(context.root), ({ skillId }) => slugOf(skillId));
  return {
    find(name, entry) {
      const inSources = (known.get(slugOf(name)) ?? [])
        .filter(({ dir }) => dir !== null && isOfRoot(dir))
        .map((skill) => inSource(context, skill));
      const besides = (beside.get(slugOf(name)) ?? []).map((location) => ({ location, hasSource: false }));
      const all = [...inSources.filter(({ hasSource }) => hasSource), ...besides, ...inSources];
      const found = new Map<string, InstalledSkill>();
      for (const one of all) {
        const folder = folderOf(one.location);
        // Another process may have removed it since the last scan.
        if (!found.has(folder) && folderExists(one.location)) found.set(folder, one);
      }
      const [first, ...others] = found.values();
      if (!first || others.length === 0) return first;
      return [first, ...others].find(({ location }) => isAsLocked(filesAt(location), entry)) ?? first;
    },
    elsewhere(name) {
      const dirs = (known.get(slugOf(name)) ?? []).flatMap(({ dir }) => dir ?? []);
      return dirs.find((dir) => !isOfRoot(dir));
    },
  };
}

export function filesAt(location: SkillLocation): readonly IncomingFile[] {
  const { files, bytes } = readFolderTree(folderOf(location), MAX_UNPACKED);
  return files.map(({ path, mode }) => ({
    path: path === location.skillFile ? 'SKILL.md' : path,
    bytes: bytes.get(path) ?? Buffer.alloc(0),
    executable: (mode & 0o100) !== 0,
  }));
}

/** Whether a real path is in the root, and not in a person's own folders for all projects. */
export function ofRoot(root: string): (path: string) => boolean {
  const real = futureRealPath(root);
  const own = new Set(agentFolders(root).map(({ writing }) => writing?.folder));
  const homes = homeFolders(homedir())
    .map((folder) => futureRealPath(folder))
    .filter((folder) => !own.has(folder));
  return (path) => isInside(path, real) && !homes.some((home) => isInside(path, home));
}

// --- internal ---

function inSource(context: ChangeContext, skill: Skill): InstalledSkill {
  try {
    return { location: locationOfSkill(skill, context.sources(), context.root), hasSource: true };
  } catch (error) {
    const { id: skillId, source, dir, file } = skill;
    const place = { key: skillKey(skill, context.root), base: dir ?? '', below: '', skillFile: basename(file) };
    const location = { skillId, source, ...place, validation: 'lenient' } as const;
    return { location, hasSource: false, refusal: error as Error };
  }
}

function inAgentFolders(root: string): readonly SkillLocation[] {
  const folders = agentFolders(root);
  const real = futureRealPath(root);
  return folders.flatMap(({ id, writing }) => {
    const folder = writing?.folder ?? root;
    if (!existsSync(folder) || isReserved(folder)) return [];
    const names = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
    return names.flatMap(({ name }) => {
      const skillFile = readdirSync(join(folder, name)).find((file) => isSkillFileName(file));
      if (skillFile === undefined || !lstatSync(join(folder, name, skillFile)).isFile()) return [];
      const key = relative(real, join(folder, name)).split(sep).join('/');
      return [{ ...locationOfKey(name, key, { sources: folders, root }, id), skillFile }];
    });
  });
}
