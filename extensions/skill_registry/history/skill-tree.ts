import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { isTemporaryName, listContained, readContained } from '../../../lib/files/index.ts';
import type { ResourceInfo, Skill } from '../skill/skill.ts';
import type { SkillSource } from '../sources/source.ts';
import type { RevisionFile } from './types.ts';

/** The files of a skill at one moment, sorted by path, and the bytes of those that are kept. */
export interface SkillTree {
  readonly files: readonly RevisionFile[];
  readonly bytes: ReadonlyMap<string, Buffer>;
}

/** Temporary files of editors and operating systems. */
const LEFTOVER = /(^|\/)(\.[^/]*\.sw[a-z]|[^/]*~|\.#[^/]*|#[^/]*#|4913|\.DS_Store)$/;

/** At most so many files of one skill are recorded: reading more would delay every other writer. */
export const MAX_RECORDED_FILES = 2_000;
/** The reader refuses paths of more than 64 segments. */
const MAX_DEPTH = 63;

/** Whether a file of this name is temporary, so that the history does not record it. */
export function isLeftover(path: string): boolean {
  return isTemporaryName(basename(path)) || LEFTOVER.test(path);
}

/**
 * The files of a skill that the history records: all regular files, at most `MAX_RECORDED_FILES`, SKILL.md first. Without files in
 * node_modules and those that `listContained` never lists.
 *
 * @param folder - Absolute, real. @param own - The folder lies in the registry's own data folder. Default: false.
 * @throws PATH_TRAVERSAL when the folder is now a link, RESOURCE_NOT_FOUND.
 */
export function recordedFiles(folder: string, own = false): readonly ResourceInfo[] {
  const files: ResourceInfo[] = [];
  let folders = 0;
  const visit = (entries: ReturnType<typeof listContained>, below: string, depth: number): void => {
    folders += 1;
    for (const { name, kind, size } of entries) {
      const path = below + name;
      if (kind === 'file' && !isLeftover(path) && files.length < MAX_RECORDED_FILES) files.push({ path, size });
    }
    for (const { name, kind } of entries) {
      if (kind !== 'directory' || name === 'node_modules') continue;
      if (depth >= MAX_DEPTH || folders >= MAX_RECORDED_FILES || files.length >= MAX_RECORDED_FILES) return;
      // A folder that is gone, or may not be read, has no files.
      visit(orUndefined(() => listContained(folder, below + name, { own })) ?? [], `${below}${name}/`, depth + 1);
    }
  };
  const root = listContained(folder, '', { own });
  const skillFiles = root.filter(({ name }) => name.toLowerCase() === 'skill.md');
  visit([...skillFiles, ...root.filter((entry) => !skillFiles.includes(entry))], '', 0);
  return files;
}

/**
 * Reads the files of a folder that the history records.
 *
 * @param maxBytes - Larger files are not read; only their size is recorded. @param own - As of `recordedFiles`. @throws as `recordedFiles`.
 */
export function readFolderTree(folder: string, maxBytes: number, own = false): SkillTree {
  return treeOf(filesIn(folder, maxBytes, own));
}

/**
 * As `readFolderTree`, for any kind of source: files of a skill without a folder come from its source. A skill that no longer exists
 * has no files.
 */
export function readSkillTree(skill: Skill, source: SkillSource, maxBytes: number): SkillTree {
  return treeOf(eachFile(skill, source, maxBytes));
}

/** As the files of `readSkillTree`, with breaks for other work between them, and no contents in memory. */
export async function skillFilesInSlices(
  skill: Skill,
  source: SkillSource,
  maxBytes: number,
): Promise<readonly RevisionFile[]> {
  const takeBreak = createBreaks();
  const files = new Map<string, RevisionFile>();
  for (const file of eachFile(skill, source, maxBytes)) {
    files.set(file.path, described(file));
    await takeBreak();
  }
  return [...files.values()].sort(byPath);
}

/** The digest of paths and contents. Permission bits are left out: they do not change what a file says. */
export function treeDigest(files: readonly RevisionFile[]): string {
  return digestOf(JSON.stringify(files.map(({ path, digest }) => [path, digest])));
}

// --- internal ---

interface ReadFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** null: larger than the limit. */
  readonly bytes: Buffer | null;
}

/** The files of a skill, whatever its source is; of two with the same path the last counts. */
function* eachFile(skill: Skill, source: SkillSource, maxBytes: number): Generator<ReadFile> {
  const skillFile = skill.dir === null ? 'SKILL.md' : basename(skill.file);
  let hasOwn = false;
  for (const file of skill.dir === null ? listedFiles(skill, source, maxBytes) : filesIfThere(skill.dir, maxBytes)) {
    hasOwn ||= skill.dir !== null && file.path === skillFile && file.bytes !== null;
    yield file;
  }
  // SKILL.md may be a link, which only the source follows.
  const own = hasOwn ? undefined : orUndefined(() => source.readSkill(skill, maxBytes));
  if (own) yield { path: skillFile, size: own.length, mode: 0o644, bytes: own };
}

function* listedFiles(skill: Skill, source: SkillSource, maxBytes: number): Generator<ReadFile> {
  for (const { path, size } of source.listing(skill).files) {
    const bytes = size <= maxBytes ? orUndefined(() => source.readResource(skill, path, maxBytes)) : null;
    if (bytes !== undefined) yield { path, size, mode: 0o644, bytes };
  }
}

/** @throws as `recordedFiles`. */
function* filesIn(folder: string, maxBytes: number, own: boolean): Generator<ReadFile> {
  for (const { path, size } of recordedFiles(folder, own)) {
    // A file that is gone, may not be read or is no regular file any more is left out.
    const bytes = size <= maxBytes ? orUndefined(() => readContained(folder, path, maxBytes, { own })) : null;
    const mode = (lstatSync(join(folder, path), { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
    if (bytes !== undefined) yield { path, size, mode, bytes };
  }
}

function* filesIfThere(folder: string, maxBytes: number): Generator<ReadFile> {
  try {
    yield* filesIn(folder, maxBytes, false);
  } catch (error) {
    if (!isCodedError(error)) throw error;
  }
}

function treeOf(read: Iterable<ReadFile>): SkillTree {
  const last = new Map([...read].map((file) => [file.path, file]));
  const sorted = [...last.values()].sort(byPath);
  const bytes = new Map(sorted.flatMap((file) => (file.bytes === null ? [] : [[file.path, file.bytes] as const])));
  return { files: sorted.map(described), bytes };
}

function described({ path, mode, size, bytes }: ReadFile): RevisionFile {
  if (bytes === null) return { path, digest: `size:${size}`, size, mode, kept: false };
  return { path, digest: digestOf(bytes), size: bytes.length, mode, kept: true };
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}

function orUndefined<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
