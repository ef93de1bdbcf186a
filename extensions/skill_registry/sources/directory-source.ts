import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isInside, type Problem, readContained } from 'skill-registry/kernel';
import type { ResourceInfo, Skill } from '../api.ts';
import { hasInvisible } from '../skill/text.ts';
import { type FoundSkillFile, findSkillFiles } from './find-skill-files.ts';
import { createSkillFileReader } from './skill-files.ts';
import type { SkillSource } from './source.ts';

export interface DirectorySourceOptions {
  readonly id: string;
  /** Absolute. It need not exist yet. */
  readonly root: string;
  readonly allowOutside: boolean;
}

/** More files than this in one skill are counted by nobody; the list is cut. */
const MAX_RESOURCES = 512;

/** Skills below a folder. Problems: SOURCE_MISSING, SKILL_ID_INVALID, and those of finding and of reading. */
export function createDirectorySource({ id, root, allowOutside }: DirectorySourceOptions): SkillSource {
  const reader = createSkillFileReader();
  let outsideFolders: readonly string[] = [];
  return {
    id,
    kind: 'directory',
    location: root,
    async scan(limits, pace) {
      const realRoot = realPathOf(root);
      if (realRoot === undefined) {
        outsideFolders = [];
        return { skills: [], problems: [missing(root)] };
      }
      const found = await findSkillFiles({ root, maxDepth: limits.scan_depth, allowOutside, pace });
      const problems: Problem[] = [...found.problems];
      const skills: Skill[] = [];
      for (const file of found.files) {
        await pace();
        const { header, problems: own, digest, bytes } = reader.read(file, limits.file_bytes);
        problems.push(...own);
        const skillId = basename(file.dir === root ? realRoot : file.dir);
        if (!header) continue;
        if (isUsableId(skillId)) skills.push({ ...header, ...placeOf(file, id, skillId, root), digest, bytes });
        else problems.push(unusableId(file));
      }
      reader.sweep();
      outsideFolders = skills.map((skill) => skill.dir).filter((dir) => !isInside(dir, realRoot));
      return { skills, problems };
    },
    readSkill: (skill, maxBytes) => readContained(dirname(skill.realFile), basename(skill.realFile), maxBytes),
    resources: (skill) => listFiles(skill.dir, basename(skill.file)),
    readResource: (skill, path, maxBytes) => readContained(skill.dir, path, maxBytes),
    watchFolders: () => [root, ...outsideFolders],
    contains(path) {
      const realRoot = realPathOf(root) ?? root;
      return isInside(path, realRoot) || outsideFolders.some((folder) => isInside(path, folder));
    },
  };
}

// --- internal ---

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function placeOf(file: FoundSkillFile, source: string, id: string, root: string) {
  const below = relative(root, file.dir).split(sep).join('/');
  return {
    id,
    source,
    qualifiedId: `${source}:${below || '.'}`,
    file: join(file.dir, file.fileName),
    dir: file.realDir,
    realFile: file.realFile,
  };
}

/** An id stands in prompts, in commands and on terminals, so it must be what it looks like. */
function isUsableId(id: string): boolean {
  return id.length > 0 && !hasInvisible(id) && !id.includes('`');
}

function unusableId(file: FoundSkillFile): Problem {
  const message =
    'The directory name is the id and may hold no backtick, control or invisible character, and no odd white space. Rename it.';
  return { code: 'SKILL_ID_INVALID', severity: 'error', file: join(file.dir, file.fileName), message };
}

function missing(root: string): Problem {
  const message = 'This source does not exist, so it has no skills. Create the folder or remove it from sources.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}

/** Regular files by path. Links are left out: they are never handed over. */
function listFiles(dir: string, skillFile: string): readonly ResourceInfo[] {
  const files: ResourceInfo[] = [];
  const visit = (below: string): void => {
    for (const entry of readdirSync(join(dir, below), { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (files.length >= MAX_RESOURCES) return;
      const path = below ? `${below}/${entry.name}` : entry.name;
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && entry.name !== 'node_modules') visit(path);
      } else if (entry.isFile() && path !== skillFile) {
        files.push({ path, size: lstatSync(join(dir, path)).size });
      }
    }
  };
  try {
    visit('');
  } catch {
    // Changed while it was listed; the next list is right again.
  }
  return files;
}
