import { constants, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { withContained } from './read-contained.ts';
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
  const folder = path === '' || path === '.' ? base : join(base, ...relativeSegments(path));
  return withContained(
    base,
    folder,
    path,
    (descriptor) => {
      const at = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : folder;
      return readdirSync(at)
        .sort()
        .flatMap((name) => entryOf(at, name));
    },
    constants.O_DIRECTORY,
  );
}

// --- internal ---

function entryOf(folder: string, name: string): FolderEntry[] {
  try {
    const stats = lstatSync(join(folder, name));
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
    return [{ name, kind, size: kind === 'file' ? stats.size : 0 }];
  } catch {
    // Removed since it was listed.
    return [];
  }
}
