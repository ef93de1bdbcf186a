import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { createBreaks } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { isTemporaryName, listContained, readContained } from '../../../../lib/files/index.ts';
import type { InspectedFile } from '../../core/skill/guard.ts';
import type { ResourceInfo, Skill } from '../../core/skill/skill.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';
import type { RevisionFile } from './types.ts';

/** Sorted by path; `bytes` has only the kept files. */
export interface SkillTree {
  readonly files: readonly RevisionFile[];
  readonly bytes: ReadonlyMap<string, Buffer>;
}

const LEFTOVER = /(^|\/)(\.[^/]*\.sw[a-z]|[^/]*~|\.#[^/]*|#[^/]*#|4913|\.DS_Store)$/;

/** Reading more files would delay every other writer. */
export const MAX_RECORDED_FILES = 2_000;
/** The reader refuses paths of more than 64 segments. */
const MAX_DEPTH = 63;

export function isLeftover(path: string): boolean {
  return isTemporaryName(basename(path)) || LEFTOVER.test(path);
}

/**
 * Regular files, at most `MAX_RECORDED_FILES`, SKILL.md first; not in node_modules.
 * @param folder - Absolute, real. @param own - It lies in the registry's data folder.
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
      // A folder that is gone or unreadable has no files.
      visit(
        withFallback(() => listContained(folder, below + name, { own }), []),
        `${below}${name}/`,
        depth + 1,
      );
    }
  };
  const root = listContained(folder, '', { own });
  const skillFiles = root.filter(({ name }) => isSkillFileName(name));
  visit([...skillFiles, ...root.filter((entry) => !skillFiles.includes(entry))], '', 0);
  return files;
}

/** @param maxBytes - Of larger files only the size is recorded. @throws as `recordedFiles`. */
export function readFolderTree(folder: string, maxBytes: number, own = false): SkillTree {
  return treeOf(filesIn(folder, maxBytes, own));
}

/** For any kind of source, also for a skill without a folder. A skill that is gone has no files. */
export function readSkillTree(skill: Skill, source: SkillSource, maxBytes: number): SkillTree {
  return treeOf(eachFile(skill, source, maxBytes));
}

/** As `readSkillTree`, with pauses for other work and without contents in memory. */
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

/** As an inspection names a file. */
export function inspectedName(path: string): string {
  return isSkillFileName(path) ? 'SKILL.md' : path;
}

/** SKILL.md counts as no program, whatever its mode. */
export function asInspected(path: string, bytes: Buffer, mode: number = 0): InspectedFile {
  const name = inspectedName(path);
  return name === 'SKILL.md' ? { path: name, bytes } : { path, bytes, executable: (mode & 0o111) !== 0 };
}

/** Leaves out permission bits: they do not change what a file says. */
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

/** Of two files with the same path the last counts. */
function* eachFile(skill: Skill, source: SkillSource, maxBytes: number): Generator<ReadFile> {
  const skillFile = skill.dir === null ? 'SKILL.md' : basename(skill.file);
  let hasOwn = false;
  for (const file of skill.dir === null ? listedFiles(skill, source, maxBytes) : filesIfThere(skill.dir, maxBytes)) {
    hasOwn ||= skill.dir !== null && file.path === skillFile && file.bytes !== null;
    yield file;
  }
  // SKILL.md may be a link, which only the source follows.
  const own = hasOwn ? undefined : withFallback(() => source.readSkill(skill, maxBytes));
  if (own) yield { path: skillFile, size: own.length, mode: 0o644, bytes: own };
}

function* listedFiles(skill: Skill, source: SkillSource, maxBytes: number): Generator<ReadFile> {
  for (const { path, size } of source.listing(skill).files) {
    const bytes = size <= maxBytes ? withFallback(() => source.readResource(skill, path, maxBytes)) : null;
    if (bytes !== undefined) yield { path, size, mode: 0o644, bytes };
  }
}

function* filesIn(folder: string, maxBytes: number, own: boolean): Generator<ReadFile> {
  for (const { path, size } of recordedFiles(folder, own)) {
    // A file that is gone, unreadable or no regular file is left out.
    const bytes = size <= maxBytes ? withFallback(() => readContained(folder, path, maxBytes, { own })) : null;
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
