import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import {
  futureRealPath,
  isInside,
  isPrivateName,
  isPrivatePath,
  isReserved,
  isTemporaryName,
  realPathOf,
} from '../../../../../lib/files/index.ts';
import { plural, showName } from '../../../../../lib/text/index.ts';
import type { IgnoreRules } from './ignore-files.ts';
import { bareNameOf, GENERATED, isSkillFileName, SKIPPED, TOOL_MARKS } from './names.ts';

export interface FoundSkillFile {
  readonly dir: string;
  /** In `dir`: `SKILL.md` in any letter case, or the name of a bare file, such as `notes.md`. */
  readonly file: string;
  /** The skill is this file, not its directory. */
  readonly bare?: true;
  readonly realDir: string;
  readonly realFile: string;
  readonly stamp?: FileStamp;
}

export interface FindOptions {
  readonly root: string;
  readonly maxDepth: number;
  readonly allowOutside: boolean;
  /** Allows targets outside the boundary. Default: none. */
  readonly mayLeadTo?: ((target: string) => boolean) | undefined;
  /** The root, when nobody has approved it. */
  readonly unapproved?: string | undefined;
  /** Real folder that link targets must be in, unless `allowOutside`. Default: the root. */
  readonly boundary?: string;
  /** `.md` files directly in the root, except README.md, are skills, unless the root is a skill. Default: false. */
  readonly bareFiles?: boolean;
  /** Obey `.gitignore` and `.ignore` files. Default: false. */
  readonly ignoreFiles?: boolean;
}

export interface FoundSkillFiles {
  /** Sorted by path; files behind links come last, so a link never wins against its target. */
  readonly files: readonly FoundSkillFile[];
  /** Real targets of followed links outside the root: folders and SKILL.md files, existing or not. */
  readonly outside: readonly string[];
  readonly problems: readonly Problem[];
}

/**
 * A directory with a SKILL.md is one skill and is not searched further; the root can be one too. Skips folders of
 * tools, generated and hidden folders, except `skills` directly in a hidden folder. Follows a link to such a folder if
 * the link's own name is ordinary. Visits each real directory once, so circles of links end.
 */
export async function findSkillFiles(options: FindOptions): Promise<FoundSkillFiles> {
  const walk = startWalk(options);
  const { realRoot } = walk;
  const rules = options.ignoreFiles ? (await import('./ignore-files.ts')).ignoreRules(options.root) : undefined;
  await walkFrom({ dir: options.root, realDir: realRoot, depth: 0, rules, isLink: false }, walk);
  // The list grows during the loop: a target may contain more links.
  for (const link of walk.links) {
    const realDir = isLinkToFile(link.dir) ? undefined : follow(link.dir, walk);
    if (realDir) await walkFrom({ ...link, realDir, isLink: false }, walk);
  }
  if (walk.files.some(({ dir, bare }) => dir === options.root && !bare))
    walk.problems.push(...hidesSkills(options.root));
  return { files: [...walk.files, ...walk.linkedFiles], outside: [...walk.outside], problems: walk.problems };
}

export interface FileStamp {
  readonly stamp: string;
  /** Unchanged for two seconds before: a newer file could change again with the same size and time. */
  readonly settled: boolean;
}

export function fileStamp({ size, mtimeMs, ctimeMs, ino }: Stats, at: number): FileStamp {
  return { stamp: `${size} ${mtimeMs} ${ctimeMs} ${ino}`, settled: Math.max(mtimeMs, ctimeMs) < at - SETTLED_AFTER_MS };
}

// --- internal ---

/** Hidden folders are searched only if they contain `skills`, where agents keep skills. */
function isSearched(entry: Dirent, dir: string): boolean {
  const { name } = entry;
  if (!name.startsWith('.')) return !SKIPPED.has(name) && (entry.isDirectory() || entry.isSymbolicLink());
  const isAgents = entry.isDirectory() && name !== '.archive' && !isTemporaryName(name);
  return isAgents && !isPrivateName(name, 'folder') && existsSync(join(dir, name, 'skills'));
}

/** A link is generated only if both its name and its target's name say so. Other links were made on purpose. */
function isOfTool(dir: string, realDir: string, entries: readonly Dirent[]): boolean {
  if (GENERATED.has(basename(dir)) && GENERATED.has(basename(realDir))) return true;
  return entries.some(({ name }) => TOOL_MARKS.has(name));
}

const NO_THROW = { throwIfNoEntry: false } as const;
const EXACT = 'SKILL.md';
const FOLDERS_A_STEP = 32; // Reading the clock takes as long as reading a folder.

interface Folder {
  readonly dir: string;
  readonly realDir: string;
  readonly depth: number;
  readonly rules: IgnoreRules | undefined;
  readonly isLink: boolean;
}

type Walk = ReturnType<typeof startWalk>;

function startWalk(options: FindOptions) {
  const realRoot = realpathSync(options.root);
  return {
    options,
    startedAt: Date.now(),
    realRoot,
    boundary: options.boundary ?? realRoot,
    files: [] as FoundSkillFile[],
    linkedFiles: [] as FoundSkillFile[],
    links: [] as Folder[],
    visited: new Set<string>(),
    outside: new Set<string>(),
    problems: [] as Problem[],
  };
}

async function walkFrom(folder: Folder, walk: Walk): Promise<void> {
  const toVisit = [folder];
  for (let count = 1; toVisit.length > 0; count++) {
    if (count % FOLDERS_A_STEP === 0) await takeBreak();
    const next = toVisit.pop() as Folder;
    if (next.isLink) walk.links.push(next);
    const children = next.isLink ? [] : visit(next, walk);
    for (let index = children.length - 1; index >= 0; index--) toVisit.push(children[index] as Folder);
  }
}

function visit({ dir, realDir, depth, rules }: Folder, walk: Walk): readonly Folder[] {
  const { visited, problems, options } = walk;
  // No problem is reported here: many roots contain data/ of the registry.
  if (visited.has(realDir) || isReserved(realDir, walk.realRoot)) return [];
  visited.add(realDir);
  // Ignore files may name SKILL.md itself, so the folder must be listed first.
  const realFile = below(realDir, EXACT);
  const stamp = rules ? undefined : plainFile(realFile, walk.startedAt);
  if (stamp) {
    walk.files.push({ dir, file: dir === realDir ? realFile : below(dir, EXACT), realDir, realFile, stamp });
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
  if (options.bareFiles && depth === 0)
    for (const entry of entries.filter((one) => isBareFile(one, dir))) addFound(dir, realDir, entry, walk, true);
  if (depth > 0 && isOfTool(dir, realDir, entries)) return [];
  const folders = entries.filter((entry) => isSearched(entry, dir));
  const { maxDepth } = options;
  if (depth >= maxDepth) {
    const details = { maxDepth, count: folders.length };
    const message = `Not searched: ${plural(folders.length, 'folder')} in this one, deeper than limits.scan_depth (${maxDepth}). Raise the limit or add a source.`;
    if (folders.length > 0)
      problems.push({ code: 'SCAN_DEPTH_EXCEEDED', severity: 'warning', file: dir, message, details });
    return [];
  }
  return folders.map((entry) => {
    const isHidden = entry.name.startsWith('.');
    const name = isHidden ? join(entry.name, 'skills') : entry.name;
    const path = below(dir, name);
    const isLink = isHidden ? lstatSync(path, NO_THROW)?.isSymbolicLink() === true : !entry.isDirectory();
    // Without links both paths are one string, which saves memory for tens of thousands of folders.
    const real = dir === realDir ? path : below(realDir, name);
    return { dir: path, realDir: real, depth: depth + 1, rules: rules?.into(path), isLink };
  });
}

function isBareFile(entry: Dirent, dir: string): boolean {
  const isNamedSo = bareNameOf(entry.name) !== undefined;
  return isNamedSo && (entry.isFile() || (entry.isSymbolicLink() && isLinkToFile(join(dir, entry.name))));
}

function addFound(dir: string, realDir: string, entry: Dirent, walk: Walk, isBare = false): void {
  const file = below(dir, entry.name);
  const linked = entry.isSymbolicLink();
  const realFile = linked ? follow(file, walk) : below(realDir, entry.name);
  if (realFile === undefined) return;
  const found = { dir, file, realDir, realFile };
  (linked ? walk.linkedFiles : walk.files).push(isBare ? { ...found, bare: true } : found);
}

/** One system call instead of five for a listing. Linux only: elsewhere only a listing shows the real letter case. */
function plainFile(file: string, at: number): FileStamp | undefined {
  const stats = process.platform === 'linux' ? withFallback(() => lstatSync(file, NO_THROW)) : undefined;
  return stats?.isFile() ? fileStamp(stats, at) : undefined;
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
  const exact = candidates.find((entry) => entry.name === EXACT);
  if (exact) return exact;
  const [candidate] = candidates;
  if (!candidate) return undefined;
  const message = `The file is called ${candidate.name}, but most tools only find SKILL.md. Rename it.`;
  problems.push({ code: 'SKILL_FILE_CASE', severity: 'warning', file: join(dir, candidate.name), message });
  return candidate;
}

function follow(link: string, { realRoot, boundary, options, outside, problems }: Walk): string | undefined {
  const real = realPathOf(link);
  const target = real ?? futureRealPath(link);
  if (
    isReserved(target, realRoot) ||
    isPrivatePath(isInside(target, realRoot) ? target.slice(realRoot.length) : target)
  ) {
    problems.push({ code: 'SOURCE_RESERVED', severity: 'error', file: link, message: LEADS_TO_PRIVATE });
    return undefined;
  }
  const isAllowed = options.allowOutside || isInside(target, boundary) || options.mayLeadTo?.(target) === true;
  if (isAllowed && !isInside(target, realRoot)) outside.add(target);
  if (real !== undefined && isAllowed) return real;
  problems.push(
    real === undefined
      ? { code: 'SYMLINK_BROKEN', severity: 'warning', file: link, message: BROKEN }
      : leadsOut(link, real, realRoot, options),
  );
  return undefined;
}

function isLinkToFile(path: string): boolean {
  return withFallback(() => !statSync(path).isDirectory(), false);
}

const SETTLED_AFTER_MS = 2_000;
const BROKEN = 'The target of this link does not exist, or links form a circle. Repair or remove it.';
const LEADS_TO_PRIVATE =
  'This link leads to a file or folder that is never read: data/ of the root, .env, .git, .ssh or a private key. Remove the link.';

function leadsOut(path: string, target: string, realRoot: string, { mayLeadTo, unapproved }: FindOptions): Problem {
  const folder = statSync(target, NO_THROW)?.isFile() ? dirname(target) : target;
  // Adding a folder that contains the source would not help, nor would it for a package.
  const naming = mayLeadTo && !isInside(realRoot, folder) ? `add { path: ${folder} } to sources, or ` : '';
  const allowing = `${naming}set allow_outside: true for the source`;
  const remedy = unapproved
    ? `Nobody has approved ${unapproved}, so only links to folders and .md files in it are followed. Approve it with skill-registry approvals allow ${unapproved}, then ${allowing}.`
    : `To allow it, ${allowing}.`;
  const message = `This link leads out of its source and was not followed. ${remedy}`;
  return { code: 'SYMLINK_OUTSIDE', severity: 'error', file: path, message };
}

/** Folders where a skill keeps examples of a SKILL.md. */
const PARTS = new Set(
  'assets example examples fixtures references resources scripts template templates tests'.split(' '),
);

/** Finds a misplaced SKILL.md that turns a folder of skills into one skill. @param dir - Of a source. */
export function hidesSkills(dir: string): readonly Problem[] {
  const hides = (name: string): boolean =>
    !name.startsWith('.') && !PARTS.has(name) && existsSync(join(dir, name, EXACT));
  // A folder that cannot be listed may still have a SKILL.md that can be read.
  const names = withFallback(() => readdirSync(dir).filter(hides), []);
  if (names.length === 0) return [];
  const which = `${names.slice(0, 5).map(showName).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  const message = `This file makes its whole folder one skill, so a SKILL.md makes no skill in ${plural(names.length, 'folder')} below it: ${which}. Move this file into a folder of its own; if they are files of this skill, nothing is wrong.`;
  return [{ code: 'SKILLS_INSIDE_SKILL', severity: 'warning', file: join(dir, EXACT), message }];
}
