import { lstatSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { runSteps } from '../../../../lib/breaks/index.ts';
import {
  futureRealPath,
  isInside,
  readContained,
  realPathOf,
  relativeSegments,
  resourceNotFound,
} from '../../../../lib/files/index.ts';
import type { ValidationProfile } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import {
  linkedOut,
  NO_FILES,
  type OnlyWithin,
  reservedSource,
  ScannedSkills,
  type SkillSource,
  type SourceScan,
} from '../source.ts';
import { type FoundSkillFile, findSkillFiles } from '../walk/find-skill-files.ts';
import { filesBelow, MAX_LISTED_FILES, pathBelow } from '../walk/list-files.ts';
import { bareNameOf } from '../walk/names.ts';
import { SkillFileReader } from '../walk/read-skill-files.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';

export interface DirectorySourceOptions {
  readonly id: string;
  /** Absolute; need not exist yet. */
  readonly root: string;
  readonly allowOutside: boolean;
  /** Qualified ids are relative to this folder. Default: `root`. */
  readonly base?: string;
  /** `root` and link targets must be in this folder, unless `allowOutside`. Default: `root`. */
  readonly within?: string | undefined;
  /** Decides which links may lead outside that folder (`linkTargets`); called at every scan. Default: none may. */
  readonly linkTargetsOf?:
    | ((realRoot: string, sources: readonly SkillSource[]) => (target: string) => boolean)
    | undefined;
  readonly bareFiles?: boolean;
  readonly ignoreFiles?: boolean;
  /** Default: `lenient`. */
  readonly validation?: ValidationProfile | undefined;
  /** Report no problem when `root` is missing. Default: false. */
  readonly optional?: boolean;
  readonly ifNone?: boolean;
  readonly writable?: boolean;
  /** For an unapproved root: nothing outside that folder is read or written. Default: no limit. */
  readonly onlyWithin?: OnlyWithin | undefined;
  readonly cache?: SkillFileCache | undefined;
}

/** The skills below a folder. Problems: SOURCE_MISSING, SOURCE_RESERVED, and those of finding and reading files. */
export function createDirectorySource(options: DirectorySourceOptions): SkillSource {
  const {
    id,
    root,
    base = root,
    allowOutside,
    within,
    optional = false,
    bareFiles = false,
    onlyWithin,
    cache,
  } = options;
  const { ignoreFiles = false, validation: profile } = options;
  const setting = JSON.stringify([allowOutside, within, ignoreFiles, ...(bareFiles ? ['bare'] : [])]);
  const reader = new SkillFileReader({ profile, cache, cachePath: root, setting }, (found) => ({
    id: bareIdOf(found) ?? basename(found.dir === root ? found.realDir : found.dir),
    source: id,
    qualifiedId: `${id}:${pathBelow(base, found.bare ? found.file : found.dir)}`,
  }));
  const own = new ScannedSkills<Skill>();
  let outside: readonly string[] = [];
  let last: SourceScan | undefined;
  const nothing = (problems: readonly Problem[]): SourceScan => {
    outside = [];
    own.replace(() => new Map());
    return { skills: [], problems };
  };
  return {
    id,
    kind: 'directory',
    location: root,
    ifNone: options.ifNone === true,
    get writing() {
      const isRefused = linkedOut(root, futureRealPath(root), onlyWithin) !== undefined;
      return options.writable && !isRefused ? { folder: root, validation: profile ?? 'lenient' } : undefined;
    },
    async scan(limits, sources = []) {
      const realRoot = realPathOf(root);
      const before = last;
      last = undefined;
      if (realRoot === undefined) return nothing(optional ? [] : [missing(root)]);
      const boundary = realPathOf(within ?? root) ?? realRoot;
      const refusal =
        linkedOut(root, realRoot, onlyWithin) ?? refusalOf(root, realRoot, allowOutside ? undefined : boundary);
      if (refusal) return nothing([refusal]);
      const found = await findSkillFiles({
        root,
        maxDepth: limits.scan_depth,
        allowOutside,
        boundary,
        mayLeadTo: options.linkTargetsOf?.(realRoot, sources),
        unapproved: onlyWithin?.root,
        bareFiles,
        ignoreFiles,
      });
      const { skills, problems: ofFiles } = await reader.readAll(found.files, limits.file_bytes);
      const problems = [...found.problems, ...ofFiles];
      outside = found.outside;
      last = sameScan(before, { skills, problems });
      if (last !== before) own.replace(() => new Map(skills.map((skill) => [skill.qualifiedId, skill])));
      return last;
    },
    rescan(skill, limits) {
      if (!last || ignoreFiles || !last.skills.includes(skill)) return undefined;
      const next = reader.again(skill, limits.file_bytes);
      if (next && next !== skill) last = { ...last, skills: last.skills.map((one) => (one === skill ? next : one)) };
      return next && { skill: next, scan: last };
    },
    readSkill: (skill, maxBytes) => readSkillFile(own.get(skill), maxBytes),
    listing(skill, present) {
      const { dir = null, file = '' } = own.find(skill) ?? {};
      if (dir === null) return NO_FILES;
      const { files, leftOut, links = [] } = present ?? runSteps(filesBelow(dir));
      const skillFile = basename(file);
      return {
        files: files.filter(({ path }) => path !== skillFile).slice(0, MAX_LISTED_FILES),
        leftOut,
        links: links.filter((path) => path !== skillFile),
      };
    },
    readResource(skill, path, maxBytes) {
      const { dir } = own.get(skill);
      if (dir !== null) return readContained(dir, path, maxBytes);
      relativeSegments(path);
      throw resourceNotFound(path, 'this skill is a single file');
    },
    watchFolders: () => (linkedOut(root, futureRealPath(root), onlyWithin) ? [] : [root, ...outside]),
    bareSkillId: (path) =>
      bareFiles && dirname(path) === futureRealPath(root) ? bareNameOf(basename(path)) : undefined,
    contains: (path) => [futureRealPath(root), ...outside].some((folder) => isInside(path, folder)),
  };
}

export function readSkillFile({ realFile }: Skill, maxBytes: number): Buffer {
  const file = realFile as string;
  return readContained(dirname(file), basename(file), maxBytes);
}

/** Returns `before` if equal, so the scan of an unchanged source stays the same object. */
export function sameScan(before: SourceScan | undefined, now: SourceScan): SourceScan {
  if (!before || !isSame(before.skills, now.skills)) return now;
  const isSameText =
    isSame(before.problems, now.problems) || JSON.stringify(before.problems) === JSON.stringify(now.problems);
  return isSameText ? before : now;
}

// --- internal ---

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((one, at) => one === after[at]);
}

function bareIdOf({ bare, file }: FoundSkillFile): string | undefined {
  return bare && bareNameOf(basename(file));
}

function refusalOf(root: string, realRoot: string, boundary: string | undefined): Problem | undefined {
  if (boundary !== undefined && !isInside(realRoot, boundary)) return outsideOf(root, realRoot, boundary);
  const reserved = reservedSource(root, realRoot);
  if (reserved) return reserved;
  return statSync(realRoot, { throwIfNoEntry: false })?.isDirectory() === false ? noFolder(root) : undefined;
}

function outsideOf(root: string, realRoot: string, boundary: string): Problem {
  const what = lstatSync(root, { throwIfNoEntry: false })?.isSymbolicLink() ? 'link leads to' : 'folder is';
  const message = `This ${what} ${realRoot}, expected a folder in ${boundary}, so it was not read. Move it into that folder, or set allow_outside: true for the source.`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: root, message };
}

function missing(root: string): Problem {
  const message = 'This source does not exist, so it has no skills. Create it, correct the path, or remove the source.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}

function noFolder(root: string): Problem {
  const message = 'This source is a file, expected a folder or a .md file. Correct the path or remove the source.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}
