import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import {
  futureRealPath,
  isInside,
  readContained,
  realPathOf,
  relativeSegments,
  resourceNotFound,
} from '../../../../lib/files/index.ts';
import type { SkillRegistryConfig, ValidationProfile } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import { isUsableId, makeSkill, quotedName } from '../make-skill.ts';
import { createOwnSkills, linkedOut, type OnlyWithin, reservedSource, type SkillSource } from '../source.ts';
import { pathBelow } from '../walk/list-files.ts';
import { createSkillFileReader } from '../walk/read-skill-files.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';

export interface FileSourceOptions {
  readonly id: string;
  /** Absolute path of a `.md` file. */
  readonly file: string;
  /** Folder that qualified ids are relative to. Default: the file's own. */
  readonly base?: string;
  /** Real paths outside this folder are refused. Default: anywhere. */
  readonly within?: string | undefined;
  readonly validation: ValidationProfile;
  /** A file that does not exist is no problem. Default: false. */
  readonly optional?: boolean;
  /** As of a directory source. */
  readonly onlyWithin?: OnlyWithin | undefined;
  /** Where what was read is kept for the next process. Default: it is not. */
  readonly cache?: SkillFileCache | undefined;
}

/** One bare Markdown file as a skill: its name without `.md` is the id, and there are no other files. */
export function createFileSource(options: FileSourceOptions): SkillSource {
  const { id, file, base = dirname(file), within, validation, optional = false } = options;
  const own = createOwnSkills<string>();
  const reader = createSkillFileReader({ profile: validation, cache: options.cache, place: file });
  /** @throws when the system does not say what is there. */
  const look = (
    limits: SkillRegistryConfig['limits'],
  ): { readonly skill?: Skill; readonly problems: readonly Problem[] } => {
    const realFile = realPathOf(file);
    const stats = realFile === undefined ? undefined : statSync(realFile, { throwIfNoEntry: false });
    if (realFile === undefined || !stats) return { problems: optional ? [] : [missing(file)] };
    const boundary = within === undefined ? undefined : (realPathOf(within) ?? within);
    if (boundary !== undefined && !isInside(realFile, boundary))
      return { problems: [outside(file, realFile, boundary)] };
    const refusal = linkedOut(file, realFile, options.onlyWithin) ?? reservedSource(file, realFile);
    if (refusal) return { problems: [refusal] };
    if (!stats.isFile()) return { problems: [noFile(file, stats.isDirectory())] };
    const skillId = basename(file).replace(/\.md$/i, '');
    if (!isUsableId(skillId)) return { problems: [unusable(file, skillId)] };
    const found = { dir: dirname(file), fileName: basename(file), realDir: dirname(realFile), realFile };
    const { header, problems, digest, bytes } = reader.read(found, limits.file_bytes, skillId);
    reader.sweep();
    if (!header) return { problems };
    const qualifiedId = `${id}:${pathBelow(base, file)}`;
    const place = { id: skillId, source: id, qualifiedId, file, dir: null, realFile };
    return { skill: makeSkill(header, place, digest, bytes), problems };
  };
  return {
    id,
    kind: 'file',
    location: file,
    async scan(limits) {
      const { skill, problems } = look(limits);
      own.replace(new Map(skill ? [[skill.qualifiedId, skill.realFile as string]] : []));
      return { skills: skill ? [skill] : [], problems };
    },
    readSkill: (skill, maxBytes) => {
      const realFile = own.get(skill);
      return readContained(dirname(realFile), basename(realFile), maxBytes);
    },
    resources: () => [],
    readResource: (_skill, path) => {
      relativeSegments(path);
      throw resourceNotFound(path, 'this skill is a single file');
    },
    watchFolders: () => [dirname(file)],
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
  const message = `This path leads to ${realFile}, expected a file in ${boundary}, so it was not read. Move it in there, or set allow_outside: true for the source.`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file, message };
}

function unusable(file: string, id: string): Problem {
  const message = `The file name ${quotedName(id)} is the id and may hold no backtick, colon, control or invisible character, and no odd white space. Rename it.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file, message };
}
