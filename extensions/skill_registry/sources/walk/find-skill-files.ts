import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
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
import type { IgnoreRules } from './ignore-files.ts';

/** A directory with a SKILL.md. */
export interface FoundSkillFile {
  /** As found, links not resolved. */
  readonly dir: string;
  /** `SKILL.md`, or how it is written. */
  readonly fileName: string;
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
  /** Real folder that links must not leave, unless `allowOutside`. Default: the root. */
  readonly boundary?: string;
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

/** Never descended into, as what has a private name: what is in there belongs to tools, and there is a lot of it. */
const SKIPPED = new Set(['.archive', 'node_modules']);

/** How the names of files and folders begin that are there only while a skill is changed. No skill is found in them. */
export const TEMPORARY = '.skill-registry-';

/** SKILL.md, however its letters are written. */
export function isSkillFileName(name: string): boolean {
  return name.toLowerCase() === 'skill.md';
}

/**
 * Walks a folder for skills, in order of path. A directory with a SKILL.md is one skill and is not descended further; the
 * root itself may be one. The same real directory is found once, so circles of links end.
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

function isSkipped(name: string): boolean {
  return SKIPPED.has(name) || name.startsWith(TEMPORARY) || isPrivateName(name, 'folder');
}

const EXACT = 'SKILL.md';
/** To ask the clock at each of them would take as long as looking at it. */
const FOLDERS_A_STEP = 32;

interface Folder {
  /** As found, links not resolved. */
  readonly dir: string;
  readonly realDir: string;
  readonly depth: number;
  readonly rules: IgnoreRules | undefined;
  /** A link, to a folder or not, that is only followed when everything else has been found. */
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
  const folders = entries.filter((entry) => !isSkipped(entry.name) && (entry.isDirectory() || entry.isSymbolicLink()));
  if (depth >= options.maxDepth) {
    if (folders.length > 0) problems.push(tooDeep(dir, options.maxDepth, folders.length));
    return [];
  }
  return folders.map((entry) => {
    const path = below(dir, entry.name);
    const isLink = !entry.isDirectory();
    // One text for both where no link was followed: there may be tens of thousands.
    const real = dir === realDir ? path : below(realDir, entry.name);
    return { dir: path, realDir: real, depth: depth + 1, rules: rules?.into(path), isLink };
  });
}

function addFound(dir: string, realDir: string, entry: Pick<Dirent, 'name' | 'isSymbolicLink'>, walk: Walk): void {
  const fileName = entry.name;
  const linked = entry.isSymbolicLink();
  const realFile = linked ? follow(join(dir, fileName), walk) : join(realDir, fileName);
  if (realFile !== undefined) (linked ? walk.linkedFiles : walk.files).push({ dir, fileName, realDir, realFile });
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

/** `join` for a name that is no path. */
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
  const isAllowed = options.allowOutside || isInside(target, boundary);
  if (isAllowed && !isInside(target, realRoot)) outside.add(target);
  if (real !== undefined && isAllowed) return real;
  problems.push(real === undefined ? brokenLink(link) : leadsOut(link));
  return undefined;
}

function isLinkToFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function tooDeep(dir: string, maxDepth: number, count: number): Problem {
  const message = `${count} folder(s) in here lie deeper than limits.scan_depth (${maxDepth}) and were not looked at. Raise it or add a source.`;
  return { code: 'SCAN_DEPTH_EXCEEDED', severity: 'warning', file: dir, message, details: { maxDepth, count } };
}

function leadsOut(path: string): Problem {
  const message =
    'This link leads out of its source and was not followed. Set allow_outside: true for the source to allow it.';
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: path, message };
}

function leadsToPrivate(path: string): Problem {
  const message =
    'This link leads to what is never read: data/ of the root, .env, .git, .ssh or a private key. Remove the link.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: path, message };
}

function brokenLink(path: string): Problem {
  const message = 'This link leads nowhere, or in a circle. Repair or remove it.';
  return { code: 'SYMLINK_BROKEN', severity: 'warning', file: path, message };
}

const QUIET_MS = 2_000;
