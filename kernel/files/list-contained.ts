import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { statsOf, withContained } from './open-contained.ts';
import { relativeSegments } from './relative-path.ts';

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'other';
  /** Bytes; 0 for what is no file. */
  readonly size: number;
}

/**
 * The direct children of a folder below `base`, by name. Symbolic links are `other` and are never followed.
 *
 * @param path - Relative; `.` or nothing for `base` itself.
 * @throws as `readContained`; RESOURCE_NOT_FOUND when it is no folder.
 */
export function listContained(base: string, path: string): readonly FolderEntry[] {
  const segments = path === '' || path === '.' ? [] : relativeSegments(path);
  return withContained(
    base,
    segments,
    path,
    (_descriptor, folder) =>
      readdirSync(folder, { withFileTypes: true })
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((entry) => entryOf(folder, entry)),
    { folder: true },
  );
}

// --- internal ---

function entryOf(folder: string, entry: Dirent): FolderEntry[] {
  const { name } = entry;
  if (entry.isDirectory()) return [{ name, kind: 'directory', size: 0 }];
  if (!entry.isFile()) return [{ name, kind: 'other', size: 0 }];
  const stats = statsOf(join(folder, name));
  // Removed, or replaced by something else, since it was listed.
  if (!stats?.isFile()) return [];
  return [{ name, kind: 'file', size: stats.size }];
}
