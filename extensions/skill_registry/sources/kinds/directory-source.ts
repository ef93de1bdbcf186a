import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
import { isUsableId, unusableIdText } from '../../skill/usable-id.ts';
import { makeSkill, type SkillIdentity } from '../make-skill.ts';
import {
  createScannedSkills,
  linkedOut,
  type OnlyWithin,
  reservedSource,
  type SkillListing,
  type SkillSource,
  type SourceScan,
} from '../source.ts';
import { type FoundSkillFile, findSkillFiles } from '../walk/find-skill-files.ts';
import { filesBelow, pathBelow } from '../walk/list-files.ts';
import { bareNameOf } from '../walk/names.ts';
import { createSkillFileReader } from '../walk/read-skill-files.ts';
import type { ParsedSkillFile, SkillFileCache } from '../walk/skill-file-cache.ts';

export interface DirectorySourceOptions {
  readonly id: string;
  /** Absolute. It need not exist yet. */
  readonly root: string;
  readonly allowOutside: boolean;
  /** Folder that qualified ids are relative to. Default: `root`. */
  readonly base?: string;
  /** Folder in which `root` and the targets of links must be, unless `allowOutside`. Default: `root`. */
  readonly within?: string | undefined;
  /** Returns which links may lead outside that folder; called at every scan (`linkTargets`). Default: none. */
  readonly linkTargetsOf?:
    | ((realRoot: string, sources: readonly SkillSource[]) => (target: string) => boolean)
    | undefined;
  /** `.md` files directly in `root` are skills, too. Default: false. */
  readonly bareFiles?: boolean;
  /** Ignore what `.gitignore` and `.ignore` files name. Default: false. */
  readonly ignoreFiles?: boolean;
  /** Default: `lenient`. */
  readonly validation?: ValidationProfile;
  /** No problem is reported when `root` does not exist. Default: false. */
  readonly optional?: boolean;
  /** Not used while an earlier source has a skill, loadable or not. Default: false. */
  readonly ifNone?: boolean;
  /** Skills may be changed and created in it. Default: false. */
  readonly writable?: boolean;
  /** Set for a root that nobody has approved: nothing outside that folder is read or written. Default: no limit. */
  readonly onlyWithin?: OnlyWithin | undefined;
  /** Keeps what was read for the next process. Default: nothing is kept. */
  readonly cache?: SkillFileCache | undefined;
}

const MAX_RESOURCES = 512;

/** A source of the skills below a folder. Problems: SOURCE_MISSING, SOURCE_RESERVED, SKILL_ID_INVALID, and those of finding and reading skill files. */
export function createDirectorySource(options: DirectorySourceOptions): SkillSource {
  const { id, root, allowOutside, within, optional = false, bareFiles, ignoreFiles, onlyWithin } = options;
  const readSkills = createSkillsReader(options);
  const own = createScannedSkills<SkillPaths>();
  let outside: readonly string[] = [];
  let last: SourceScan | undefined;
  const nothing = (problems: readonly Problem[]): SourceScan => {
    outside = [];
    own.replace(new Map());
    return { skills: [], problems };
  };
  const listing = (skill: Skill): SkillListing => {
    const paths = own.find(skill);
    if (!paths || paths.dir === null) return { files: [], leftOut: 0 };
    const skillFile = basename(paths.file);
    const { files, leftOut, links = [] } = runSteps(filesBelow(paths.dir));
    return {
      files: files.filter(({ path }) => path !== skillFile).slice(0, MAX_RESOURCES),
      leftOut,
      links: links.filter((path) => path !== skillFile),
    };
  };
  return {
    id,
    kind: 'directory',
    location: root,
    ifNone: options.ifNone === true,
    get writing() {
      const isRefused = linkedOut(root, futureRealPath(root), onlyWithin) !== undefined;
      return options.writable && !isRefused ? { folder: root, validation: options.validation ?? 'lenient' } : undefined;
    },
    async scan(limits, takeBreak, sources = []) {
      const realRoot = realPathOf(root);
      const before = last;
      last = undefined;
      if (realRoot === undefined) return nothing(optional ? [] : [missing(root)]);
      const boundary = realPathOf(within ?? root) ?? realRoot;
      const refusal =
        linkedOut(root, realRoot, onlyWithin) ?? refusalOf(root, realRoot, allowOutside ? undefined : boundary);
      if (refusal) return nothing([refusal]);
      const maxDepth = limits.scan_depth;
      const mayLeadTo = options.linkTargetsOf?.(realRoot, sources);
      const found = await findSkillFiles({
        ...{ root, maxDepth, allowOutside, boundary, takeBreak },
        ...{
          mayLeadTo,
          unapproved: onlyWithin?.root,
          bareFiles: bareFiles === true,
          ignoreFiles: ignoreFiles === true,
        },
      });
      const read = await readSkills.all(found.files, limits.file_bytes, takeBreak);
      const { skills } = read;
      const problems = [...found.problems, ...read.problems];
      outside = found.outside;
      last = before && isSame(before.skills, skills) && isSameText(before.problems, problems) ? before : undefined;
      if (last) return last;
      own.replaceLater(() => new Map(skills.map((skill) => [skill.qualifiedId, skill as SkillPaths])));
      last = { skills, problems };
      return last;
    },
    rescan(skill, limits) {
      if (!last || ignoreFiles || !last.skills.includes(skill)) return undefined;
      const next = readSkills.again(skill, limits.file_bytes);
      if (next && next !== skill) last = { ...last, skills: last.skills.map((one) => (one === skill ? next : one)) };
      return next && { skill: next, scan: last };
    },
    readSkill: (skill, maxBytes) => {
      const { realFile } = own.get(skill);
      return readContained(dirname(realFile), basename(realFile), maxBytes);
    },
    resources: (skill) => listing(skill).files,
    listing,
    readResource: (skill, path, maxBytes) => {
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

// --- internal ---

/** Reading a file takes about 0.05 ms, so a step takes about 0.8 ms. */
const FILES_A_STEP = 16;
const LARGE_FILE = 128 * 1024;

/** Makes skills of files. As long as a file does not change, its skill is the same object. */
interface SkillsReader {
  all(files: readonly FoundSkillFile[], maxBytes: number, takeBreak: () => Promise<void>): Promise<SourceScan>;
  /** Undefined when something is wrong with the file, or it is a link. */
  again(skill: Skill, maxBytes: number): Skill | undefined;
}

function createSkillsReader(options: DirectorySourceOptions): SkillsReader {
  const { id, root, base = root, allowOutside, within, ignoreFiles = false, validation: profile, cache } = options;
  const setting = JSON.stringify([allowOutside, within, ignoreFiles, ...(options.bareFiles ? ['bare'] : [])]);
  const reader = createSkillFileReader({ profile, cache, cachePath: root, setting });
  const results = createPreviousResults<ParsedSkillFile, Skill>();
  const skillOf = (file: FoundSkillFile, read: ParsedSkillFile): Skill | Problem | undefined => {
    const { header, digest, bytes } = read;
    if (!header) return undefined;
    let skill = results.find(read);
    if (!skill || skill.dir !== (file.bare ? null : file.realDir) || skill.realFile !== file.realFile) {
      const skillId = bareIdOf(file) ?? basename(file.dir === root ? file.realDir : file.dir);
      if (!isUsableId(skillId)) return unusableId(file, skillId);
      skill = makeSkill(header, identityOf(file, id, skillId, base), digest, bytes);
    }
    results.add(read, skill);
    return skill;
  };
  return {
    async all(files, maxBytes, takeBreak) {
      const problems: Problem[] = [];
      const skills: Skill[] = [];
      let count = 0;
      for (const file of files) {
        const read = reader.read(file, maxBytes, bareIdOf(file));
        if (count++ % FILES_A_STEP === 0 || read.bytes > LARGE_FILE) await takeBreak();
        if (read.problems.length > 0) problems.push(...read.problems);
        const skill = skillOf(file, read);
        if (!skill) continue;
        if ('code' in skill) problems.push(skill);
        else skills.push(skill);
      }
      reader.sweep();
      results.startNext();
      return { skills, problems };
    },
    again(skill, maxBytes) {
      const { file, realFile, dir: realDir } = skill;
      if (realDir === null || realFile !== join(realDir, basename(file))) return undefined;
      const read = reader.read({ dir: dirname(file), file, realDir, realFile }, maxBytes);
      if (!read.header || read.problems.length > 0) return undefined;
      const next = read.digest === skill.digest ? skill : makeSkill(read.header, skill, read.digest, read.bytes);
      results.replace(skill, read, next);
      return next;
    },
  };
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((result, index) => result === after[index]);
}

function isSameText(before: readonly Problem[], after: readonly Problem[]): boolean {
  return isSame(before, after) || JSON.stringify(before) === JSON.stringify(after);
}

/** The paths of a skill. */
type SkillPaths = Pick<Skill, 'file' | 'dir'> & { readonly realFile: string };

/** The name of a bare file without `.md`; undefined for a folder. */
function bareIdOf({ bare, file }: FoundSkillFile): string | undefined {
  return bare && bareNameOf(basename(file));
}

function identityOf(file: FoundSkillFile, source: string, id: string, base: string): SkillIdentity {
  return {
    id,
    source,
    qualifiedId: `${source}:${pathBelow(base, file.bare ? file.file : file.dir)}`,
    file: file.file,
    dir: file.bare ? null : file.realDir,
    realFile: file.realFile,
  };
}

function unusableId(file: FoundSkillFile, id: string): Problem {
  const message = unusableIdText(file.bare ? 'file' : 'directory', id);
  return { code: 'SKILL_ID_INVALID', severity: 'error', file: file.file, message };
}

/** Why a folder is not searched; undefined when it is. @param boundary - The folder in which it must be. */
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

/** The results of the previous run, by input. Lookups are usually in the order of that run. */
interface PreviousResults<Input extends object, Result> {
  find(input: Input): Result | undefined;
  /** Stores a result for the next run. */
  add(input: Input, result: Result): void;
  /** Ends this run: `find` now returns what was added. */
  startNext(): void;
  /** Puts another input and result in the place of a result. */
  replace(result: Result, input: Input, next: Result): void;
}

/** The map is filled only when the order differs: for tens of thousands of objects that takes longer than all lookups. */
function createPreviousResults<Input extends object, Result>(): PreviousResults<Input, Result> {
  let before: Pairs<Input, Result> = { inputs: [], results: [] };
  let now: Pairs<Input, Result> = { inputs: [], results: [] };
  let byInput: Map<Input, Result> | undefined;
  return {
    find(input) {
      const at = now.inputs.length;
      if (before.inputs[at] === input) return before.results[at];
      if (before.inputs.length === 0) return undefined;
      byInput ??= new Map(before.inputs.map((key, index) => [key, before.results[index] as Result]));
      return byInput.get(input);
    },
    add(input, result) {
      now.inputs.push(input);
      now.results.push(result);
    },
    startNext() {
      [before, now, byInput] = [now, { inputs: [], results: [] }, undefined];
    },
    replace(result, input, next) {
      const at = before.results.indexOf(result);
      [before.inputs[at], before.results[at], byInput] = [input, next, undefined];
    },
  };
}

interface Pairs<Input, Result> {
  readonly inputs: Input[];
  readonly results: Result[];
}
