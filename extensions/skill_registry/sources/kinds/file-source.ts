import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import {
  futureRealPath,
  isInside,
  realPathOf,
  relativeSegments,
  resourceNotFound,
} from '../../../../lib/files/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { linkedOut, NO_FILES, reservedSource, ScannedSkills, type SkillSource, type SourceScan } from '../source.ts';
import { pathBelow } from '../walk/list-files.ts';
import { SkillFileReader } from '../walk/read-skill-files.ts';
import { type DirectorySourceOptions, readSkillFile } from './directory-source.ts';

export interface FileSourceOptions
  extends Pick<DirectorySourceOptions, 'base' | 'cache' | 'id' | 'onlyWithin' | 'optional' | 'validation' | 'within'> {
  /** Absolute path of a `.md` file. */
  readonly file: string;
}

/** One Markdown file as a skill without other files. Its id is the file name without `.md`. */
export function createFileSource(options: FileSourceOptions): SkillSource {
  const { id, file, base = dirname(file), within, validation: profile, optional = false, cache } = options;
  const skillId = basename(file).replace(/\.md$/i, '');
  const own = new ScannedSkills<Skill>();
  const reader = new SkillFileReader({ profile, cache, cachePath: file }, () => {
    return { id: skillId, source: id, qualifiedId: `${id}:${pathBelow(base, file)}` };
  });
  const find = async (maxBytes: number): Promise<SourceScan> => {
    const realFile = realPathOf(file);
    if (realFile === undefined) return { skills: [], problems: optional ? [] : [missing(file)] };
    const boundary = within === undefined ? realFile : (realPathOf(within) ?? within);
    const stats = statSync(realFile, { throwIfNoEntry: false });
    const refusal =
      (isInside(realFile, boundary) ? undefined : outside(file, realFile, boundary)) ??
      linkedOut(file, realFile, options.onlyWithin) ??
      reservedSource(file, realFile) ??
      (stats?.isFile() ? undefined : noFile(file, stats?.isDirectory() === true));
    if (refusal) return { skills: [], problems: [refusal] };
    const found = { dir: dirname(file), file, realDir: dirname(realFile), realFile, bare: true } as const;
    return reader.readAll([found], maxBytes);
  };
  return {
    id,
    kind: 'file',
    location: file,
    async scan(limits) {
      const scan = await find(limits.file_bytes);
      own.replace(() => new Map(scan.skills.map((skill) => [skill.qualifiedId, skill])));
      return scan;
    },
    readSkill: (skill, maxBytes) => readSkillFile(own.get(skill), maxBytes),
    listing: () => NO_FILES,
    readResource(_skill, path) {
      relativeSegments(path);
      throw resourceNotFound(path, 'this skill is a single file');
    },
    watchFolders: () => [dirname(file)],
    bareSkillId: (path) => (path === futureRealPath(file) ? skillId : undefined),
    contains: (path) => path === futureRealPath(file),
  };
}

// --- internal ---

function missing(file: string): Problem {
  const message = 'This source does not exist, so it has no skill. Create the file or remove it from sources.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file, message };
}

function noFile(file: string, isFolder: boolean): Problem {
  const what = isFolder ? 'a folder' : 'neither a file nor a folder';
  const message = `This source is ${what}, expected a file, because its path ends with .md. Correct the path, or rename it.`;
  return { code: 'SOURCE_MISSING', severity: 'warning', file, message };
}

function outside(file: string, realFile: string, boundary: string): Problem {
  const message = `This path leads to ${realFile}, expected a file in ${boundary}, so it was not read. Move it into that folder, or set allow_outside: true for the source.`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file, message };
}
