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
import { isUsableId, unusableIdText } from '../../skill/usable-id.ts';
import { makeSkill } from '../make-skill.ts';
import { createScannedSkills, linkedOut, type OnlyWithin, reservedSource, type SkillSource } from '../source.ts';
import { pathBelow } from '../walk/list-files.ts';
import { createSkillFileReader } from '../walk/read-skill-files.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';

export interface FileSourceOptions {
  readonly id: string;
  /** Absolute path of a `.md` file. */
  readonly file: string;
  /** Folder that qualified ids are relative to. Default: the file's own. */
  readonly base?: string;
  /** The folder in which the real path must be. Default: no limit. */
  readonly within?: string | undefined;
  readonly validation: ValidationProfile;
  /** No problem is reported when the file does not exist. Default: false. */
  readonly optional?: boolean;
  /** As of a directory source. */
  readonly onlyWithin?: OnlyWithin | undefined;
  /** Keeps what was read for the next process. Default: nothing is kept. */
  readonly cache?: SkillFileCache | undefined;
}

/** A source of one Markdown file that is a skill. The name without `.md` is the id; the skill has no other files. */
export function createFileSource(options: FileSourceOptions): SkillSource {
  const { id, file, base = dirname(file), within, validation, optional = false } = options;
  const own = createScannedSkills<string>();
  const reader = createSkillFileReader({ profile: validation, cache: options.cache, cachePath: file });
  /** @throws when the file system cannot be read. */
  const findSkill = (
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
    if (!isUsableId(skillId)) {
      const message = unusableIdText('file', skillId);
      return { problems: [{ code: 'SKILL_ID_INVALID', severity: 'error', file, message }] };
    }
    const found = { dir: dirname(file), file, realDir: dirname(realFile), realFile };
    const { header, problems, digest, bytes } = reader.read(found, limits.file_bytes, skillId);
    reader.sweep();
    if (!header) return { problems };
    const qualifiedId = `${id}:${pathBelow(base, file)}`;
    const identity = { id: skillId, source: id, qualifiedId, file, dir: null, realFile };
    return { skill: makeSkill(header, identity, digest, bytes), problems };
  };
  return {
    id,
    kind: 'file',
    location: file,
    async scan(limits) {
      const { skill, problems } = findSkill(limits);
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
    bareSkillId: (path) => (path === futureRealPath(file) ? basename(file).replace(/\.md$/i, '') : undefined),
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
