import { basename } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import { type RecordedFile, readRecordedFiles } from '../guard/recorded-files.ts';
import type { RevisionFile } from './types.ts';

/** Sorted by path; `bytes` has only the kept files. */
export interface SkillTree {
  readonly files: readonly RevisionFile[];
  readonly bytes: ReadonlyMap<string, Buffer>;
}

/** @param maxBytes - Of larger files only the size is recorded. @throws as `recordedFiles`. */
export function readFolderTree(folder: string, maxBytes: number, own = false): SkillTree {
  return treeOf(readRecordedFiles(folder, maxBytes, own));
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
  const files = new Map<string, RevisionFile>();
  for (const file of eachFile(skill, source, maxBytes)) {
    files.set(file.path, described(file));
    await takeBreak();
  }
  return [...files.values()].sort(byPath);
}

/** Leaves out permission bits: they do not change what a file says. */
export function treeDigest(files: readonly RevisionFile[]): string {
  return digestOf(JSON.stringify(files.map(({ path, digest }) => [path, digest])));
}

// --- internal ---

/** Of two files with the same path the last counts. */
function* eachFile(skill: Skill, source: SkillSource, maxBytes: number): Generator<RecordedFile> {
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

function* listedFiles(skill: Skill, source: SkillSource, maxBytes: number): Generator<RecordedFile> {
  for (const { path, size } of source.listing(skill).files) {
    const bytes = size <= maxBytes ? withFallback(() => source.readResource(skill, path, maxBytes)) : null;
    if (bytes !== undefined) yield { path, size, mode: 0o644, bytes };
  }
}

function* filesIfThere(folder: string, maxBytes: number): Generator<RecordedFile> {
  try {
    yield* readRecordedFiles(folder, maxBytes, false);
  } catch (error) {
    if (!isCodedError(error)) throw error;
  }
}

function treeOf(read: Iterable<RecordedFile>): SkillTree {
  const last = new Map([...read].map((file) => [file.path, file]));
  const sorted = [...last.values()].sort(byPath);
  const bytes = new Map(sorted.flatMap((file) => (file.bytes === null ? [] : [[file.path, file.bytes] as const])));
  return { files: sorted.map(described), bytes };
}

function described({ path, mode, size, bytes }: RecordedFile): RevisionFile {
  if (bytes === null) return { path, digest: `size:${size}`, size, mode, kept: false };
  return { path, digest: digestOf(bytes), size: bytes.length, mode, kept: true };
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}
