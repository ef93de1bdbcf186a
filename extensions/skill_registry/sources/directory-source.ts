import { basename, dirname, join, relative, sep } from 'node:path';
import { isInside, listContained, type Problem, readContained } from 'skill-registry/kernel';
import type { ResourceInfo, Skill } from '../api.ts';
import { hasInvisible } from '../skill/text.ts';
import { type FoundSkillFile, findSkillFiles } from './find-skill-files.ts';
import { futureRealPath, realPathOf } from './real-path.ts';
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
/** Folders without files are not worth more looking either. */
const MAX_FOLDERS = 512;

/** Skills below a folder. Problems: SOURCE_MISSING, SKILL_ID_INVALID, and those of finding and of reading. */
export function createDirectorySource({ id, root, allowOutside }: DirectorySourceOptions): SkillSource {
  const reader = createSkillFileReader();
  let outside: readonly string[] = [];
  return {
    id,
    kind: 'directory',
    location: root,
    async scan(limits, pace) {
      const realRoot = realPathOf(root);
      if (realRoot === undefined) {
        outside = [];
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
      outside = found.outside;
      return { skills, problems };
    },
    readSkill: (skill, maxBytes) => readContained(dirname(skill.realFile), basename(skill.realFile), maxBytes),
    resources: (skill) => listFiles(skill.dir, basename(skill.file)),
    readResource: (skill, path, maxBytes) => readContained(skill.dir, path, maxBytes),
    watchFolders: () => [root, ...outside],
    contains: (path) => [futureRealPath(root), ...outside].some((place) => isInside(path, place)),
  };
}

// --- internal ---

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

/**
 * An id stands in prompts, in commands and on terminals, so it must be what it looks like. With a colon it could pass for the
 * qualified id of another skill.
 */
function isUsableId(id: string): boolean {
  return id.length > 0 && !hasInvisible(id) && !/[`:]/.test(id);
}

function unusableId(file: FoundSkillFile): Problem {
  const message =
    'The directory name is the id and may hold no backtick, colon, control or invisible character, and no odd white space. Rename it.';
  return { code: 'SKILL_ID_INVALID', severity: 'error', file: join(file.dir, file.fileName), message };
}

function missing(root: string): Problem {
  const message = 'This source does not exist, so it has no skills. Create the folder or remove it from sources.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}

/** Regular files by path. Links are left out: they are never handed over, nor followed. */
function listFiles(dir: string, skillFile: string): readonly ResourceInfo[] {
  const files: ResourceInfo[] = [];
  let folders = 0;
  const visit = (below: string): void => {
    folders += 1;
    for (const { name, kind, size } of entriesOf(dir, below)) {
      if (files.length >= MAX_RESOURCES || folders >= MAX_FOLDERS) return;
      const path = below ? `${below}/${name}` : name;
      if (kind === 'directory' && name !== '.git' && name !== 'node_modules') visit(path);
      else if (kind === 'file' && path !== skillFile) files.push({ path, size });
    }
  };
  visit('');
  return files;
}

/** Nothing for a folder that has gone, may not be read or lies too deep: the rest is still worth listing. */
function entriesOf(dir: string, below: string): ReturnType<typeof listContained> {
  try {
    return listContained(dir, below);
  } catch {
    return [];
  }
}
