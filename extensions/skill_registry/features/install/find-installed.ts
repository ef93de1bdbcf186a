import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { futureRealPath, isReserved } from '../../../../lib/files/index.ts';
import { groupsOf } from '../../core/catalog/merge.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import { type LockScope, lockScopes } from '../guard/installed.ts';
import type { ChangeContext } from '../history/change-context.ts';
import {
  agentFolders,
  folderExists,
  folderKey,
  folderOf,
  locationOfKey,
  locationOfSkill,
  personFolders,
  type SkillFolder,
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

/** The lock of the root; that of the person too, where folders of the person are sources. */
export function scopesOf({ root, sources }: Pick<ChangeContext, 'root' | 'sources'>): readonly LockScope[] {
  const [project, person] = lockScopes(root);
  return personFolders(root, sources()).length > 0 ? [project, person] : [project];
}

/** Whose lock has the skill. */
export function scopeAt(context: Pick<ChangeContext, 'root' | 'sources'>, folder: string): LockScope {
  const scopes = scopesOf(context);
  return scopes.find(({ covers }) => covers(folder)) ?? (scopes[0] as LockScope);
}

/** @param scope - A repository may bring its lock, so that covers no path outside the root. */
export async function findInstalled(
  context: ChangeContext,
  { covers, ofPerson }: LockScope = lockScopes(context.root)[0],
): Promise<InstalledSkills> {
  const folders = ofPerson ? personFolders(context.root, context.sources()) : agentFolders(context.root);
  // A lock and the catalog may have thousands of skills.
  const known = await groupsOf(context.snapshot().byQualifiedId.values(), ({ id }) => slugOf(id));
  const beside = await groupsOf(inFolders(folders, context.root), ({ skillId }) => slugOf(skillId));
  return {
    find(name, entry) {
      const inSources = (known.get(slugOf(name)) ?? [])
        .filter(({ dir }) => dir !== null && covers(dir))
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
      return dirs.find((dir) => !covers(dir));
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

// --- internal ---

function inSource(context: ChangeContext, skill: Skill): InstalledSkill {
  try {
    return { location: locationOfSkill(skill, context.sources(), context.root), hasSource: true };
  } catch (error) {
    const { id: skillId, source, dir, file } = skill;
    const place = { key: skillKey(skill, context.root), base: dir ?? '', below: '', skillFile: basename(file) };
    const location = { skillId, source, ...place };
    return { location, hasSource: false, refusal: error as Error };
  }
}

function inFolders(folders: readonly SkillFolder[], root: string): readonly SkillLocation[] {
  return folders.flatMap(({ id, writing }) => {
    const folder = futureRealPath(writing?.folder ?? root);
    if (!existsSync(folder) || isReserved(folder)) return [];
    const names = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
    return names.flatMap(({ name }) => {
      const skillFile = readdirSync(join(folder, name)).find((file) => isSkillFileName(file));
      if (skillFile === undefined || !lstatSync(join(folder, name, skillFile)).isFile()) return [];
      const key = folderKey(join(folder, name), root);
      return [{ ...locationOfKey(name, key, { sources: folders, root }, id), skillFile }];
    });
  });
}
