import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInside, type Problem, readContained } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import type { ValidationProfile } from '../config.ts';
import { type FoundSkillFile, findSkillFiles } from './find-skill-files.ts';
import { filesBelow } from './list-files.ts';
import { createOwnSkills } from './own-skills.ts';
import { pathBelow } from './path-below.ts';
import { futureRealPath, realPathOf } from './real-path.ts';
import { createSkillFileReader } from './skill-files.ts';
import { isUsableId, quotedName } from './slug.ts';
import type { SkillSource } from './source.ts';

export interface DirectorySourceOptions {
  readonly id: string;
  /** Absolute. It need not exist yet. */
  readonly root: string;
  readonly allowOutside: boolean;
  /** Folder that qualified ids are relative to. Default: `root`. */
  readonly base?: string;
  /** Folder that `root` and links in it must not leave, unless `allowOutside`. Default: `root`. */
  readonly within?: string | undefined;
  /** Pass over what `.gitignore` and `.ignore` files name. Default: false. */
  readonly ignoreFiles?: boolean;
  /** Default: `lenient`. */
  readonly validation?: ValidationProfile;
  /** A root that does not exist is no problem. Default: false. */
  readonly optional?: boolean;
  /** Its skills may be changed, and new ones put into it. Default: false. */
  readonly writable?: boolean;
}

const MAX_RESOURCES = 512;

/** Skills below a folder. Problems: SOURCE_MISSING, SKILL_ID_INVALID, and those of finding and of reading. */
export function createDirectorySource(options: DirectorySourceOptions): SkillSource {
  const { id, root, allowOutside, base = root, within, optional = false, ignoreFiles = false } = options;
  const reader = createSkillFileReader(options.validation);
  const own = createOwnSkills<Place>();
  let outside: readonly string[] = [];
  return {
    id,
    kind: 'directory',
    location: root,
    ...(options.writable ? { writing: { folder: root, validation: options.validation ?? 'lenient' } } : {}),
    async scan(limits, pace) {
      const realRoot = realPathOf(root);
      if (realRoot === undefined) {
        outside = [];
        own.replace(new Map());
        return { skills: [], problems: optional ? [] : [missing(root)] };
      }
      const boundary = realPathOf(within ?? root) ?? realRoot;
      if (!allowOutside && !isInside(realRoot, boundary)) {
        own.replace(new Map());
        return { skills: [], problems: [outsideOf(root, realRoot, boundary)] };
      }
      if (statSync(realRoot, { throwIfNoEntry: false })?.isDirectory() === false) {
        outside = [];
        own.replace(new Map());
        return { skills: [], problems: [noFolder(root)] };
      }
      const found = await findSkillFiles({
        root,
        maxDepth: limits.scan_depth,
        allowOutside,
        boundary,
        ignoreFiles,
        pace,
      });
      const problems: Problem[] = [...found.problems];
      const skills: Skill[] = [];
      for (const file of found.files) {
        await pace();
        const { header, problems: wrong, digest, bytes } = reader.read(file, limits.file_bytes);
        problems.push(...wrong);
        const skillId = basename(file.dir === root ? realRoot : file.dir);
        if (!header) continue;
        if (isUsableId(skillId)) skills.push({ ...header, ...placeOf(file, id, skillId, base), digest, bytes });
        else problems.push(unusableId(file, skillId));
      }
      reader.sweep();
      own.replace(new Map(skills.map((skill) => [skill.qualifiedId, skill as Place])));
      outside = found.outside;
      return { skills, problems };
    },
    readSkill: (skill, maxBytes) => {
      const { realFile } = own.get(skill);
      return readContained(dirname(realFile), basename(realFile), maxBytes);
    },
    resources: (skill) => {
      const place = own.find(skill);
      if (!place) return [];
      const skillFile = basename(place.file);
      return filesBelow(place.dir)
        .filter(({ path }) => path !== skillFile)
        .slice(0, MAX_RESOURCES);
    },
    readResource: (skill, path, maxBytes) => readContained(own.get(skill).dir, path, maxBytes),
    watchFolders: () => [root, ...outside],
    contains: (path) => [futureRealPath(root), ...outside].some((place) => isInside(path, place)),
  };
}

// --- internal ---

/** Where one of its skills lies. */
type Place = Pick<Skill, 'file'> & { readonly dir: string; readonly realFile: string };

function placeOf(file: FoundSkillFile, source: string, id: string, base: string) {
  return {
    id,
    source,
    qualifiedId: `${source}:${pathBelow(base, file.dir)}`,
    file: join(file.dir, file.fileName),
    dir: file.realDir,
    realFile: file.realFile,
  };
}

function unusableId(file: FoundSkillFile, id: string): Problem {
  const message = `The directory name ${quotedName(id)} is the id and may hold no backtick, colon, control or invisible character, and no odd white space. Rename it.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file: join(file.dir, file.fileName), message };
}

function outsideOf(root: string, realRoot: string, boundary: string): Problem {
  const what = lstatSync(root, { throwIfNoEntry: false })?.isSymbolicLink() ? 'link leads to' : 'folder is';
  const message = `This ${what} ${realRoot}, expected a folder in ${boundary}, so it was not read. Move it in there, or set allow_outside: true for the source.`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: root, message };
}

function missing(root: string): Problem {
  const message = 'This source does not exist, so it has no skills. Create the folder or remove it from sources.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}

function noFolder(root: string): Problem {
  const message = 'This source is a file, expected a folder or a .md file. Correct the path or remove the source.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}
