import { relative, sep } from 'node:path';
import { isPrivatePath, listContained } from '../../../../lib/files/index.ts';
import type { ResourceInfo, Skill } from '../../skill/skill.ts';
import type { SkillListing, SkillSource } from '../source.ts';
import { TEMPORARY } from './find-skill-files.ts';

/** More files than this in one skill are counted by nobody; the list is cut. */
export const MAX_FILES = 512;
/** Folders without files are not worth more looking either. */
const MAX_FOLDERS = 512;
/** Files deeper than 64 segments cannot be read (`relativeSegments`), so they are not listed. */
const MAX_DEPTH = 63;

/**
 * Regular files below a folder, by path, at most 512, and how many files and folders are left out because they are never read
 * (`listContained`). Links are left out: they are never handed over, nor followed.
 */
export function filesBelow(dir: string): SkillListing {
  const files: ResourceInfo[] = [];
  let leftOut = 0;
  let folders = 0;
  const visit = (below: string, depth: number): void => {
    folders += 1;
    for (const { name, kind, size } of entriesOf(dir, below)) {
      if (files.length > MAX_FILES || folders >= MAX_FOLDERS) return;
      const path = below ? `${below}/${name}` : name;
      if (kind === 'directory') {
        if (depth < MAX_DEPTH && name !== 'node_modules') visit(path, depth + 1);
      } else if (kind === 'file') {
        if (!name.startsWith(TEMPORARY)) files.push({ path, size });
      } else if (kind === 'private') leftOut += 1;
    }
  };
  visit('', 0);
  return { files, leftOut };
}

/** What a source lists of a skill. */
export function listingOf(skill: Skill, source: SkillSource): SkillListing {
  return source.listing?.(skill) ?? { files: source.resources(skill), leftOut: 0 };
}

/** As `filesBelow`, of files that were not found in a folder. */
export function withoutPrivate(files: readonly ResourceInfo[]): SkillListing {
  const shown = files.filter(({ path }) => !isPrivatePath(path));
  return { files: shown, leftOut: files.length - shown.length };
}

/** Where a path lies below a folder, with `/` between segments; `.` for the folder itself. */
export function pathBelow(folder: string, path: string): string {
  // As most are given, and ten times faster.
  if (sep === '/' && path.startsWith(`${folder}/`) && !path.includes('//') && !path.includes('/.')) {
    return path.slice(folder.length + 1);
  }
  return relative(folder, path).split(sep).join('/') || '.';
}

// --- internal ---

/** Nothing for a folder that has gone, may not be read or lies too deep: the rest is still worth listing. */
function entriesOf(dir: string, below: string): ReturnType<typeof listContained> {
  try {
    return listContained(dir, below);
  } catch {
    return [];
  }
}
