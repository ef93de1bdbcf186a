import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
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
import { isUsableId, makeSkill, quotedName, type SkillPlace } from '../make-skill.ts';
import {
  createOwnSkills,
  linkedOut,
  type OnlyWithin,
  reservedSource,
  type SkillListing,
  type SkillSource,
  type SourceScan,
} from '../source.ts';
import { type FoundSkillFile, findSkillFiles } from '../walk/find-skill-files.ts';
import { filesBelow, pathBelow } from '../walk/list-files.ts';
import { createSkillFileReader } from '../walk/read-skill-files.ts';
import type { ReadSkillFile, SkillFileCache } from '../walk/skill-file-cache.ts';

export interface DirectorySourceOptions {
  readonly id: string;
  /** Absolute. It need not exist yet. */
  readonly root: string;
  readonly allowOutside: boolean;
  /** Folder that qualified ids are relative to. Default: `root`. */
  readonly base?: string;
  /** Folder that `root` and links in it must not leave, unless `allowOutside`. Default: `root`. */
  readonly within?: string | undefined;
  /** Where links may lead beside that, asked at every scan (`linkTargets`). Default: nowhere. */
  readonly elsewhere?: ((realRoot: string, sources: readonly SkillSource[]) => (target: string) => boolean) | undefined;
  /** A `.md` file directly in it is a skill, too. Default: false. */
  readonly bareFiles?: boolean;
  /** Pass over what `.gitignore` and `.ignore` files name. Default: false. */
  readonly ignoreFiles?: boolean;
  /** Default: `lenient`. */
  readonly validation?: ValidationProfile;
  /** A root that does not exist is no problem. Default: false. */
  readonly optional?: boolean;
  /** It is left out while a source before it has a skill. Default: false. */
  readonly ifNone?: boolean;
  /** Its skills may be changed, and new ones put into it. Default: false. */
  readonly writable?: boolean;
  /** Nothing is read or written where a link leads to it from there. Default: links are the owner's. */
  readonly onlyWithin?: OnlyWithin | undefined;
  /** Where what was read is kept for the next process. Default: it is not. */
  readonly cache?: SkillFileCache | undefined;
}

const MAX_RESOURCES = 512;

/** Skills below a folder. Problems: SOURCE_MISSING, SOURCE_RESERVED, SKILL_ID_INVALID, and those of finding and of reading. */
export function createDirectorySource(options: DirectorySourceOptions): SkillSource {
  const { id, root, allowOutside, within, optional = false, bareFiles, ignoreFiles, onlyWithin } = options;
  const readSkills = createSkillsReader(options);
  const own = createOwnSkills<Place>();
  let outside: readonly string[] = [];
  let last: SourceScan | undefined;
  const nothing = (problems: readonly Problem[]): SourceScan => {
    outside = [];
    own.replace(new Map());
    return { skills: [], problems };
  };
  const listing = (skill: Skill): SkillListing => {
    const place = own.find(skill);
    if (!place || place.dir === null) return { files: [], leftOut: 0 };
    const skillFile = basename(place.file);
    const { files, leftOut } = filesBelow(place.dir);
    return { files: files.filter(({ path }) => path !== skillFile).slice(0, MAX_RESOURCES), leftOut };
  };
  return {
    id,
    kind: 'directory',
    location: root,
    ifNone: options.ifNone === true,
    get writing() {
      const isHeld = linkedOut(root, futureRealPath(root), onlyWithin) !== undefined;
      return options.writable && !isHeld ? { folder: root, validation: options.validation ?? 'lenient' } : undefined;
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
      const mayLeadTo = options.elsewhere?.(realRoot, sources);
      const found = await findSkillFiles({
        ...{ root, maxDepth, allowOutside, boundary, takeBreak },
        ...{
          mayLeadTo,
          unapproved: onlyWithin?.root,
          bareFiles: bareFiles === true,
          ignoreFiles: ignoreFiles === true,
        },
      });
      const read = await readSkills(found.files, limits.file_bytes, takeBreak);
      const { skills } = read;
      const problems = [...found.problems, ...read.problems];
      outside = found.outside;
      last = before && isSame(before.skills, skills) && isSameText(before.problems, problems) ? before : undefined;
      if (last) return last;
      own.replaceLater(() => new Map(skills.map((skill) => [skill.qualifiedId, skill as Place])));
      last = { skills, problems };
      return last;
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
    contains: (path) => [futureRealPath(root), ...outside].some((place) => isInside(path, place)),
  };
}

// --- internal ---

/** A file takes a twentieth of a millisecond to read, so this is a third of what others may have to wait. */
const FILES_A_STEP = 16;
const LARGE_FILE = 128 * 1024;

/** Makes skills of the files that were found. A skill stays the same object as long as its file is the same one. */
function createSkillsReader(
  options: DirectorySourceOptions,
): (files: readonly FoundSkillFile[], maxBytes: number, takeBreak: () => Promise<void>) => Promise<SourceScan> {
  const { id, root, base = root, allowOutside, within, ignoreFiles = false, validation: profile, cache } = options;
  const setting = JSON.stringify([allowOutside, within, ignoreFiles, ...(options.bareFiles ? ['bare'] : [])]);
  const reader = createSkillFileReader({ profile, cache, place: root, setting });
  const made = createLastMade<ReadSkillFile, Skill>();
  const skillOf = (file: FoundSkillFile, read: ReadSkillFile): Skill | Problem | undefined => {
    const { header, digest, bytes } = read;
    if (!header) return undefined;
    let skill = made.find(read);
    if (!skill || skill.dir !== (file.bare ? null : file.realDir) || skill.realFile !== file.realFile) {
      const skillId = bareNameOf(file) ?? basename(file.dir === root ? file.realDir : file.dir);
      if (!isUsableId(skillId)) return unusableId(file, skillId);
      skill = makeSkill(header, placeOf(file, id, skillId, base), digest, bytes);
    }
    made.add(read, skill);
    return skill;
  };
  return async (files, maxBytes, takeBreak) => {
    const problems: Problem[] = [];
    const skills: Skill[] = [];
    for (const [index, file] of files.entries()) {
      const read = reader.read(file, maxBytes, bareNameOf(file));
      if (index % FILES_A_STEP === 0 || read.bytes > LARGE_FILE) await takeBreak();
      for (const problem of read.problems) problems.push(problem);
      const skill = skillOf(file, read);
      if (!skill) continue;
      if ('code' in skill) problems.push(skill);
      else skills.push(skill);
    }
    reader.sweep();
    made.turn();
    return { skills, problems };
  };
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((one, index) => one === after[index]);
}

function isSameText(before: readonly Problem[], after: readonly Problem[]): boolean {
  return isSame(before, after) || JSON.stringify(before) === JSON.stringify(after);
}

/** Where one of its skills lies. */
type Place = Pick<Skill, 'file' | 'dir'> & { readonly realFile: string };

/** Of a bare file, without `.md`. */
function bareNameOf({ bare, fileName }: FoundSkillFile): string | undefined {
  return bare && fileName.slice(0, -'.md'.length);
}

function placeOf(file: FoundSkillFile, source: string, id: string, base: string): SkillPlace {
  return {
    id,
    source,
    qualifiedId: `${source}:${pathBelow(base, file.bare ? `${file.dir}/${file.fileName}` : file.dir)}`,
    file: `${file.dir}/${file.fileName}`,
    dir: file.bare ? null : file.realDir,
    realFile: file.realFile,
  };
}

function unusableId(file: FoundSkillFile, id: string): Problem {
  const message = `The ${file.bare ? 'file' : 'directory'} name ${quotedName(id)} is the id and may hold no backtick, colon, control or invisible character, and no odd white space. Rename it.`;
  return { code: 'SKILL_ID_INVALID', severity: 'error', file: join(file.dir, file.fileName), message };
}

/** Why nothing is looked for in a folder. @param boundary - It must not leave this one. */
function refusalOf(root: string, realRoot: string, boundary: string | undefined): Problem | undefined {
  if (boundary !== undefined && !isInside(realRoot, boundary)) return outsideOf(root, realRoot, boundary);
  const reserved = reservedSource(root, realRoot);
  if (reserved) return reserved;
  return statSync(realRoot, { throwIfNoEntry: false })?.isDirectory() === false ? noFolder(root) : undefined;
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

/** What was made of what, the last time; most often it is asked for in the same order again. */
interface LastMade<From extends object, Made> {
  find(from: From): Made | undefined;
  /** For the next time. */
  add(from: From, made: Made): void;
  /** What was added is now what is found. */
  turn(): void;
}

/** A map of tens of thousands of objects takes longer to fill than anything it is asked for, so there is none until it is needed. */
function createLastMade<From extends object, Made>(): LastMade<From, Made> {
  let before: Pairs<From, Made> = { from: [], made: [] };
  let now: Pairs<From, Made> = { from: [], made: [] };
  let byFrom: Map<From, Made> | undefined;
  return {
    find(from) {
      const at = now.from.length;
      if (before.from[at] === from) return before.made[at];
      if (before.from.length === 0) return undefined;
      byFrom ??= new Map(before.from.map((one, index) => [one, before.made[index] as Made]));
      return byFrom.get(from);
    },
    add(from, made) {
      now.from.push(from);
      now.made.push(made);
    },
    turn() {
      [before, now, byFrom] = [now, { from: [], made: [] }, undefined];
    },
  };
}

interface Pairs<From, Made> {
  readonly from: From[];
  readonly made: Made[];
}
