import { lstatSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { runSteps } from '../../../../../lib/breaks/index.ts';
import {
  futureRealPath,
  isInside,
  readContained,
  realPathOf,
  relativeSegments,
  resourceNotFound,
} from '../../../../../lib/files/index.ts';
import type { Profile } from '../../skill/profile.ts';
import type { Skill } from '../../skill/skill.ts';
import { homeFolders, workTreeOf } from '../agent-folders.ts';
import {
  isSameList,
  linkedOut,
  NO_FILES,
  type OnlyWithin,
  ownSkill,
  reservedSource,
  type SkillSource,
  type SourceScan,
} from '../source.ts';
import { type FoundSkillFiles, findSkillFiles } from '../walk/find-skill-files.ts';
import { filesBelow, MAX_LISTED_FILES, pathBelow } from '../walk/list-files.ts';
import { bareNameOf, isSkillFileName } from '../walk/names.ts';
import { SkillFileReader } from '../walk/read-skill-files.ts';
import type { SkillFileCache } from '../walk/skill-file-cache.ts';

export interface DirectorySourceOptions {
  readonly id: string;
  /** Absolute; need not exist yet. */
  readonly root: string;
  /** `root` is a `.md` file: one skill without other files, its id is the name without `.md`. Default: false. */
  readonly isFile?: boolean;
  readonly allowOutside: boolean;
  /** Qualified ids are relative to this folder. Default: `root`. */
  readonly base?: string;
  /** `root` and link targets must be in this folder, unless `allowOutside`. Default: `root`. */
  readonly within?: string | undefined;
  /** The root of the registry: links may lead out as `linkTargets` says. Default: none may. */
  readonly registryRoot?: string;
  readonly bareFiles?: boolean;
  readonly ignoreFiles?: boolean;
  /** Default: none. */
  readonly profile?: Profile | undefined;
  /** Report no problem when `root` is missing. Default: false. */
  readonly optional?: boolean;
  readonly ifNone?: boolean;
  /** A function is asked each time. Default: false. */
  readonly writable?: boolean | (() => boolean);
  /** For an unapproved root: nothing outside that folder is read or written. Default: no limit. */
  readonly onlyWithin?: OnlyWithin | undefined;
  readonly cache?: SkillFileCache | undefined;
}

/** The skills of a path: of a folder, also when its SKILL.md is named, or of a single `.md` file. */
export function createPathSource(options: Omit<DirectorySourceOptions, 'isFile'>): SkillSource {
  const { root } = options;
  if (isSkillFileName(basename(root))) return createDirectorySource({ ...options, root: dirname(root) });
  if (!/\.md$/i.test(root)) return createDirectorySource(options);
  return createDirectorySource({ base: dirname(root), ...options, isFile: true, writable: false });
}

/** The skills below a folder. Problems: SOURCE_MISSING, SOURCE_RESERVED, and those of finding and reading files. */
export function createDirectorySource(options: DirectorySourceOptions): SkillSource {
  const { id, root, isFile = false, base = root, allowOutside, within, onlyWithin, registryRoot, cache } = options;
  const { optional, bareFiles = false, ignoreFiles = false, profile, writable = false } = options;
  const setting = JSON.stringify([allowOutside, within, ignoreFiles, ...(bareFiles ? ['bare'] : [])]);
  const reader = new SkillFileReader({ profile, cache, cachePath: root, setting }, ({ bare, dir, file, realDir }) => ({
    id: bare ? nameOf(file) : basename(dir === root ? realDir : dir),
    source: id,
    qualifiedId: `${id}:${pathBelow(base, bare ? file : dir)}`,
  }));
  let own: ReadonlyMap<string, Skill> = new Map();
  let outside: readonly string[] = [];
  let last: SourceScan | undefined;
  const nothing = (problems: readonly Problem[]): SourceScan => {
    outside = [];
    own = new Map();
    return { skills: [], problems };
  };
  const isLinkedOut = (): boolean => linkedOut(root, futureRealPath(root), onlyWithin) !== undefined;
  return {
    id,
    kind: isFile ? 'file' : 'directory',
    location: root,
    ifNone: options.ifNone === true,
    get writing() {
      const isWritable = typeof writable === 'function' ? writable() : writable;
      return isWritable && !isLinkedOut() ? { folder: root, profile } : undefined;
    },
    async scan(limits, sources = []) {
      const realRoot = realPathOf(root);
      const before = last;
      last = undefined;
      if (realRoot === undefined) return nothing(optional ? [] : [missing(root)]);
      const boundary = realPathOf(within ?? root) ?? realRoot;
      const refusal =
        linkedOut(root, realRoot, onlyWithin) ??
        (allowOutside || isInside(realRoot, boundary) ? undefined : outsideOf(root, realRoot, boundary, isFile)) ??
        reservedSource(root, realRoot) ??
        wrongKind(root, realRoot, isFile);
      if (refusal) return nothing([refusal]);
      const mayLeadTo = registryRoot ? linkTargets(realRoot, registryRoot, sources, onlyWithin) : undefined;
      const found = isFile
        ? onlyFile(root, realRoot)
        : await findSkillFiles({
            root,
            maxDepth: limits.scan_depth,
            allowOutside,
            boundary,
            mayLeadTo,
            unapproved: onlyWithin?.root,
            bareFiles,
            ignoreFiles,
          });
      const { skills, problems: ofFiles } = await reader.readAll(found.files, limits.file_bytes);
      const problems = [...found.problems, ...ofFiles];
      outside = found.outside;
      last = sameScan(before, { skills, problems });
      if (last !== before) own = new Map(skills.map((skill) => [skill.qualifiedId, skill]));
      return last;
    },
    rescan(skill, limits) {
      if (!last || ignoreFiles || !last.skills.includes(skill)) return undefined;
      const next = reader.again(skill, limits.file_bytes);
      if (next && next !== skill) last = { ...last, skills: last.skills.map((one) => (one === skill ? next : one)) };
      return next && { skill: next, scan: last };
    },
    readSkill: (skill, maxBytes) => {
      const file = ownSkill(own, skill).realFile as string;
      return readContained(dirname(file), basename(file), maxBytes);
    },
    listing(skill, present) {
      const { dir = null, file = '' } = own.get(skill.qualifiedId) ?? {};
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
      const { dir } = ownSkill(own, skill);
      if (dir !== null) return readContained(dir, path, maxBytes);
      relativeSegments(path);
      throw resourceNotFound(path, 'this skill is a single file');
    },
    watchFolders: () => (isLinkedOut() ? [] : [isFile ? dirname(root) : root, ...outside]),
    bareSkillId(path) {
      const real = futureRealPath(root);
      if (isFile) return path === real ? nameOf(root) : undefined;
      return bareFiles && dirname(path) === real ? bareNameOf(basename(path)) : undefined;
    },
    contains: (path) => [futureRealPath(root), ...outside].some((folder) => isInside(path, folder)),
  };
}

/** Returns `before` if equal, so the scan of an unchanged source stays the same object. */
export function sameScan(before: SourceScan | undefined, now: SourceScan): SourceScan {
  if (!before || !isSameList(before.skills, now.skills)) return now;
  const isSameText =
    isSameList(before.problems, now.problems) || JSON.stringify(before.problems) === JSON.stringify(now.problems);
  return isSameText ? before : now;
}

// --- internal ---

function nameOf(file: string): string {
  return basename(file).replace(/\.md$/i, '');
}

function onlyFile(file: string, realFile: string): FoundSkillFiles {
  const found = { dir: dirname(file), file, realDir: dirname(realFile), realFile, bare: true } as const;
  return { files: [found], outside: [], problems: [] };
}

function outsideOf(root: string, realRoot: string, boundary: string, isFile: boolean): Problem {
  const kind = isFile ? 'file' : 'folder';
  const what = lstatSync(root, { throwIfNoEntry: false })?.isSymbolicLink() ? 'link leads to' : `${kind} is`;
  const message = `This ${what} ${realRoot}, expected a ${kind} in ${boundary}, so it was not read. Move it into that folder, or set allow_outside: true for the source.`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: root, message };
}

function missing(root: string): Problem {
  const message = 'This source does not exist, so it has no skills. Create it, correct the path, or remove the source.';
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}

function wrongKind(root: string, realRoot: string, isFile: boolean): Problem | undefined {
  const stats = statSync(realRoot, { throwIfNoEntry: false });
  if (!stats || (isFile ? stats.isFile() : stats.isDirectory())) return undefined;
  const found = stats.isDirectory() ? 'a folder' : stats.isFile() ? 'a file' : 'neither a file nor a folder';
  const expected = isFile ? 'a file, because its path ends with .md' : 'a folder or a .md file';
  const message = `This source is ${found}, expected ${expected}. Correct the path or remove the source.`;
  return { code: 'SOURCE_MISSING', severity: 'warning', file: root, message };
}

/**
 * Allows other sources, the user's own folders, and the root or git work tree around the source. Never a folder that
 * contains the source: that would include everything in it. @param realRoot - Real path of the source.
 * @param onlyWithin - When set, links may lead only to folders and `.md` files below that folder.
 */
function linkTargets(
  realRoot: string,
  root: string,
  sources: readonly SkillSource[],
  onlyWithin: OnlyWithin | undefined,
): (target: string) => boolean {
  let allowed: readonly string[] | undefined;
  return (target) => {
    allowed ??= onlyWithin ? [futureRealPath(onlyWithin.folder)] : allowedFolders(realRoot, root, sources);
    if (isInside(realRoot, target) || !allowed.some((folder) => isInside(target, folder))) return false;
    return !onlyWithin || isFolderOrMarkdown(target);
  };
}

/** Other kinds are excluded: a package's folders do not belong to the user, and a pack is a file. */
const FOLLOWED_INTO: ReadonlySet<string> = new Set(['directory', 'file']);

function allowedFolders(realRoot: string, root: string, sources: readonly SkillSource[]): readonly string[] {
  const named = sources.flatMap(({ kind, location }) =>
    FOLLOWED_INTO.has(kind) && isAbsolute(location) ? location : [],
  );
  const folders = [...named, ...homeFolders(homedir())].flatMap((folder) => realPathOf(folder) ?? []);
  const around = [realPathOf(root), workTreeOf(realRoot)].flatMap((folder) => folder ?? []);
  return [...folders, ...around.filter((folder) => isInside(realRoot, folder))];
}

/** Other files may be secrets of the user, which somebody's repository could link as a SKILL.md. */
function isFolderOrMarkdown(path: string): boolean {
  return /\.md$/i.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
