import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readContained } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import { filesBelow } from '../sources/list-files.ts';
import type { SkillSource } from '../sources/source.ts';
import { digestOf } from './blobs.ts';
import type { RevisionFile } from './types.ts';

/** The files of a skill at one moment, by path, with the bytes of those that are kept. */
export interface SkillTree {
  readonly files: readonly RevisionFile[];
  readonly bytes: ReadonlyMap<string, Buffer>;
}

export const TEMPORARY = '.skill-registry-';

/** What editors and systems leave lying about is nobody's work. */
const PASSING = /(^|\/)(\.[^/]*\.sw[a-z]|[^/]*~|\.#[^/]*|#[^/]*#|4913|\.DS_Store)$/;

/** Reads every regular file of a folder. @param maxBytes - Of larger ones only the size is taken. */
export function readFolderTree(folder: string, maxBytes: number): SkillTree {
  const found = filesBelow(folder).filter(({ path }) => !basename(path).startsWith(TEMPORARY) && !PASSING.test(path));
  return treeOf(
    found.flatMap(({ path, size }) => {
      const bytes = size <= maxBytes ? read(() => readContained(folder, path, maxBytes)) : null;
      return bytes === undefined ? [] : [{ path, size, mode: modeOf(join(folder, path)), bytes }];
    }),
  );
}

/** As `readFolderTree`, for a skill of any kind of source: one without a folder has what its source hands over. */
export function readSkillTree(skill: Skill, source: SkillSource, maxBytes: number): SkillTree {
  const whole =
    skill.dir === null ? { files: [], bytes: new Map<string, Buffer>() } : readFolderTree(skill.dir, maxBytes);
  const skillFile = skill.dir === null ? 'SKILL.md' : basename(skill.file);
  if (skill.dir !== null && whole.bytes.has(skillFile)) return whole;
  // A link in the place of SKILL.md is followed by its source alone.
  const own = read(() => source.readSkill(skill, maxBytes));
  const others =
    skill.dir === null
      ? source.resources(skill).flatMap(({ path, size }) => {
          const bytes = size <= maxBytes ? read(() => source.readResource(skill, path, maxBytes)) : null;
          return bytes === undefined ? [] : [{ path, size, mode: 0o644, bytes }];
        })
      : whole.files.map((file) => ({ ...file, bytes: whole.bytes.get(file.path) ?? null }));
  const first = own ? [{ path: skillFile, size: own.length, mode: 0o644, bytes: own }] : [];
  return treeOf([...first, ...others]);
}

/** Over paths and contents, not modes: who may run a file is no change of what it says. */
export function treeDigest(files: readonly RevisionFile[]): string {
  return digestOf(JSON.stringify(files.map(({ path, digest }) => [path, digest])));
}

// --- internal ---

interface ReadFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** null: too large. */
  readonly bytes: Buffer | null;
}

function treeOf(read: readonly ReadFile[]): SkillTree {
  const bytes = new Map<string, Buffer>();
  const files = [...read]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((file): RevisionFile => {
      const { path, mode } = file;
      if (file.bytes === null) return { path, digest: `size:${file.size}`, size: file.size, mode, kept: false };
      bytes.set(path, file.bytes);
      return { path, digest: digestOf(file.bytes), size: file.bytes.length, mode, kept: true };
    });
  return { files, bytes };
}

/** Undefined for what has gone meanwhile, may not be read, or has become something else. */
function read(use: () => Buffer): Buffer | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

function modeOf(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
}
