import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import {
  futureRealPath,
  isInside,
  isPrivateName,
  isPrivatePath,
  isReserved,
  realPathOf,
} from '../../../../lib/files/index.ts';
import { brokenLink, leadsOut, leadsToPrivate, tooDeep } from './find-problems.ts';
import type { IgnoreRules } from './ignore-files.ts';

/** A directory with a SKILL.md, or a Markdown file that is a skill by itself. */
export interface FoundSkillFile {
  /** As found, links not resolved. */
  readonly dir: string;
  /** `SKILL.md`, or how it is written; `notes.md` of a bare file. */
  readonly fileName: string;
  /** The file alone is the skill, not its directory. */
  readonly bare?: true;
  readonly realDir: string;
  readonly realFile: string;
  /** Of the file, where finding it has told already. */
  readonly seen?: SeenFile;
}

export interface FindOptions {
  /** Absolute. */
  readonly root: string;
  readonly maxDepth: number;
  readonly allowOutside: boolean;
  /** Whether links may lead to a real path outside of that folder all the same. Default: nowhere. */
  readonly mayLeadTo?: ((target: string) => boolean) | undefined;
  /** The root, where nobody has approved it. */
  readonly unapproved?: string | undefined;
  /** Real folder that links must not leave, unless `allowOutside`. Default: the root. */
  readonly boundary?: string;
  /** Every `.md` file directly in the root is a skill, but README.md, unless the root is one. Default: false. */
  readonly bareFiles?: boolean;
  /** Pass over what `.gitignore` and `.ignore` files name. Default: false. */
  readonly ignoreFiles?: boolean;
  /** Called now and then between directories; lets other work run. */
  readonly takeBreak: () => Promise<void>;
}

export interface FoundSkillFiles {
  /** In order of path; those that links lead to come after all others, so that a link never takes its target's place. */
  readonly files: readonly FoundSkillFile[];
  /** Where links lead that may leave the root and do: real folders and SKILL.md files, there or still to be made. */
  readonly outside: readonly string[];
  readonly problems: readonly Problem[];
}

/** Never descended into: what is in there belongs to tools, and there is a lot of it. */
const SKIPPED = new Set(['node_modules', 'bower_components', '__pycache__', '__MACOSX']);

/** How the names of files and folders begin that are there only while a skill is changed. No skill is found in them. */
export const TEMPORARY = '.skill-registry-';

/** SKILL.md, however its letters are written. */
export function isSkillFileName(name: string): boolean {
  return name.toLowerCase() === 'skill.md';
}

/**
 * Walks a folder for skills, in order of path. A directory with a SKILL.md is one skill, and nothing below it; the root may be one. Folders of tools and hidden ones are passed over, but for `skills` directly in a hidden one, and where a link of another
 * name leads there. The same real directory is found once, so circles of links end.
 *
 * Problems: SCAN_DEPTH_EXCEEDED, SOURCE_RESERVED, SYMLINK_OUTSIDE, SYMLINK_BROKEN, DIRECTORY_UNREADABLE, SKILL_FILE_CASE.
 *
 * @throws what `readdir` throws for the root itself.
 */
export async function findSkillFiles(options: FindOptions): Promise<FoundSkillFiles> {
  const realRoot = realpathSync(options.root);
  const walk: Walk = {
    options,
    startedAt: Date.now(),
    realRoot,
    boundary: options.boundary ?? realRoot,
    files: [],
    linkedFiles: [],
    links: [],
    visited: new Set(),
    outside: new Set(),
    problems: [],
  };
  const rules = await rulesOf(options);
  await walkFrom({ dir: options.root, realDir: realRoot, depth: 0, rules, isLink: false }, walk);
  // Grows while it is walked: what a link leads to may hold links.
  for (const link of walk.links) {
    const realDir = linkedFolder(link.dir, walk);
    if (realDir) await walkFrom({ ...link, realDir, isLink: false }, walk);
  }
  return { files: [...walk.files, ...walk.linkedFiles], outside: [...walk.outside], problems: walk.problems };
}

/** What the system says of a file, short enough to keep for each of very many. */
export interface SeenFile {
  /** Equal as long as size, times and inode are. */
  readonly stamp: string;
  /**
   * It had not been changed for two seconds when it was looked at. A file that was may change once more without a trace (same
   * size, same tick of the clock).
   */
  readonly settled: boolean;
}

/** @param at - Not later than the stats were taken; milliseconds since the epoch. */
export function seenFile({ size, mtimeMs, ctimeMs, ino }: Stats, at: number): SeenFile {
  return { stamp: `${size} ${mtimeMs} ${ctimeMs} ${ino}`, settled: Math.max(mtimeMs, ctimeMs) < at - QUIET_MS };
}

// --- internal ---

/** Hidden folders are not, but for `skills` in one: agents keep them there. */
function isSearched(entry: Dirent, dir: string): boolean {
  const { name } = entry;
  if (!name.startsWith('.')) return !SKIPPED.has(name) && (entry.isDirectory() || entry.isSymbolicLink());
  const isAgents = entry.isDirectory() && name !== '.archive' && !name.startsWith(TEMPORARY);
  return isAgents && !isPrivateName(name, 'folder') && existsSync(join(dir, name, 'skills'));
}

const EXACT = 'SKILL.md';
const FOLDERS_A_STEP = 32; // To ask the clock at each would take as long as looking at it.

interface Folder {
  /** As found, links not resolved. */
  readonly dir: string;
  readonly realDir: string;
  readonly depth: number;
  readonly rules: IgnoreRules | undefined;
  /** A link, to a folder or not, which is followed when all else has been found. */
  readonly isLink: boolean;
}

/** One call of `findSkillFiles`. */
interface Walk {
  readonly options: FindOptions;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly realRoot: string;
  readonly boundary: string;
  readonly files: FoundSkillFile[];
  readonly linkedFiles: FoundSkillFile[];
  readonly links: Folder[];
  /** Real folders. */
  readonly visited: Set<string>;
  readonly outside: Set<string>;
  readonly problems: Problem[];
}

/** Depth first, in order of path. */
async function walkFrom(folder: Folder, walk: Walk): Promise<void> {
  const waiting = [folder];
  for (let count = 1; waiting.length > 0; count++) {
    if (count % FOLDERS_A_STEP === 0) await walk.options.takeBreak();
    const next = waiting.pop() as Folder;
    if (next.isLink) walk.links.push(next);
    const children = next.isLink ? [] : visit(next, walk);
    for (let index = children.length - 1; index >= 0; index--) waiting.push(children[index] as Folder);
  }
}

/** Looks at one folder. @returns those below it that are to be looked at as well. */
function visit({ dir, realDir, depth, rules }: Folder, walk: Walk): readonly Folder[] {
  const { visited, problems, options } = walk;
  // What the registry keeps for itself lies in many a root, and nobody means it.
  if (visited.has(realDir) || isReserved(realDir, walk.realRoot)) return [];
  visited.add(realDir);
  // Ignore files may name the very SKILL.md, so then the folder has to be listed.
  const realFile = below(realDir, EXACT);
  const seen = rules ? undefined : plainFile(realFile, walk.startedAt);
  if (seen) {
    walk.files.push({ dir, fileName: EXACT, realDir, realFile, seen });
    return [];
  }
  const entries = read(dir, depth, problems).filter(
    (entry) => !rules?.ignores(join(dir, entry.name), entry.isDirectory()),
  );
  const skillFile = skillFileOf(entries, dir, problems);
  if (skillFile) {
    addFound(dir, realDir, skillFile, walk);
    return [];
  }
  if (options.bareFiles && depth === 0 && dir === options.root)
    for (const entry of entries.filter((one) => isBareFile(one, dir))) addFound(dir, realDir, entry, walk, true);
  const folders = entries.filter((entry) => isSearched(entry, dir));
  if (depth >= options.maxDepth) {
    if (folders.length > 0) problems.push(tooDeep(dir, options.maxDepth, folders.length));
    return [];
  }
  return folders.map((entry) => {
    const isHidden = entry.name.startsWith('.');
    const name = isHidden ? join(entry.name, 'skills') : entry.name;
    const path = below(dir, name);
    const isLink = isHidden ? isSymbolicLink(path) : !entry.isDirectory();
    // One text for both where no link was followed: there may be tens of thousands.
    const real = dir === realDir ? path : below(realDir, name);
    return { dir: path, realDir: real, depth: depth + 1, rules: rules?.into(path), isLink };
  });
}

function isBareFile(entry: Dirent, dir: string): boolean {
  const isNamedSo = /^[^.].*\.md$/i.test(entry.name) && !/^readme\.md$/i.test(entry.name);
  return isNamedSo && (entry.isFile() || (entry.isSymbolicLink() && isLinkToFile(join(dir, entry.name))));
}

function addFound(dir: string, realDir: string, entry: Dirent, walk: Walk, isBare = false): void {
  const fileName = entry.name;
  const linked = entry.isSymbolicLink();
  const realFile = linked ? follow(join(dir, fileName), walk) : join(realDir, fileName);
  if (realFile === undefined) return;
  const found = { dir, fileName, realDir, realFile };
  (linked ? walk.linkedFiles : walk.files).push(isBare ? { ...found, bare: true } : found);
}

async function rulesOf({ root, ignoreFiles }: FindOptions): Promise<IgnoreRules | undefined> {
  return ignoreFiles ? (await import('./ignore-files.ts')).ignoreRules(root) : undefined;
}

/**
 * What `SKILL.md` in a folder looks like, if that is a regular file. One question to the system instead of the five that
 * listing the folder takes; most folders are asked nothing else. Where letter case does not count the name may be written
 * otherwise, and only the list tells.
 */
function plainFile(file: string, at: number): SeenFile | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isFile() ? seenFile(stats, at) : undefined;
  } catch {
    // Listing the folder says what is wrong with it.
    return undefined;
  }
}

function below(dir: string, name: string): string {
  return dir.endsWith(sep) ? dir + name : dir + sep + name;
}

function read(dir: string, depth: number, problems: Problem[]): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (depth === 0) throw error;
    const reason = (error as NodeJS.ErrnoException).code;
    const message = `This folder cannot be read (${reason}), so skills in it are missing. Check its permissions.`;
    problems.push({ code: 'DIRECTORY_UNREADABLE', severity: 'error', file: dir, message });
    return [];
  }
}

function skillFileOf(entries: readonly Dirent[], dir: string, problems: Problem[]): Dirent | undefined {
  const candidates = entries.filter((entry) => isSkillFileName(entry.name) && !entry.isDirectory());
  const exact = candidates.find((entry) => entry.name === 'SKILL.md');
  if (exact) return exact;
  const [other] = candidates;
  if (!other) return undefined;
  const message = `The file is called ${other.name}; most tools only find SKILL.md. Rename it.`;
  problems.push({ code: 'SKILL_FILE_CASE', severity: 'warning', file: join(dir, other.name), message });
  return other;
}

function linkedFolder(path: string, walk: Walk): string | undefined {
  return isLinkToFile(path) ? undefined : follow(path, walk);
}

/** Where a link leads, if it may be followed there; else undefined, and a problem. */
function follow(link: string, { realRoot, boundary, options, outside, problems }: Walk): string | undefined {
  const real = realPathOf(link);
  const target = real ?? futureRealPath(link);
  if (
    isReserved(target, realRoot) ||
    isPrivatePath(isInside(target, realRoot) ? target.slice(realRoot.length) : target)
  ) {
    problems.push(leadsToPrivate(link));
    return undefined;
  }
  const isAllowed = options.allowOutside || isInside(target, boundary) || options.mayLeadTo?.(target) === true;
  if (isAllowed && !isInside(target, realRoot)) outside.add(target);
  if (real !== undefined && isAllowed) return real;
  problems.push(real === undefined ? brokenLink(link) : leadsOut(link, options.unapproved));
  return undefined;
}

function isSymbolicLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isLinkToFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const QUIET_MS = 2_000;
