import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { isTemporaryName, listContained, readContained } from '../../../../lib/files/index.ts';
import type { InspectedFile } from '../../core/skill/guard.ts';
import type { ResourceInfo } from '../../core/skill/skill.ts';
import { isSkillFileName } from '../../core/sources/walk/names.ts';

/** Reading more files would delay every other writer. */
export const MAX_RECORDED_FILES = 2_000;
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

export interface RecordedFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** null: larger than the limit. */
  readonly bytes: Buffer | null;
}

/** @throws as `recordedFiles`. */
export function* readRecordedFiles(folder: string, maxBytes: number, own = false): Generator<RecordedFile> {
  for (const { path, size } of recordedFiles(folder, own)) {
    // A file that is gone, unreadable or no regular file is left out.
    const bytes = size <= maxBytes ? withFallback(() => readContained(folder, path, maxBytes, { own })) : null;
    const mode = (lstatSync(join(folder, path), { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
    if (bytes !== undefined) yield { path, size, mode, bytes };
  }
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

// --- internal ---

const LEFTOVER = /(^|\/)(\.[^/]*\.sw[a-z]|[^/]*~|\.#[^/]*|#[^/]*#|4913|\.DS_Store)$/;

/** The reader refuses paths of more than 64 segments. */
const MAX_DEPTH = 63;
