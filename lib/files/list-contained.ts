import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fromSystemError } from './errors.ts';
import { type OpenOptions, statsOf, withContained } from './open-contained.ts';
import { relativeSegments } from './paths.ts';
import { assertReadable, isPrivateName, isReserved } from './withheld.ts';

export interface FolderEntry {
  readonly name: string;
  /** `private`: it is never read (`isPrivateName`, `reserve`), and nobody is told its name; it is there to be counted. */
  readonly kind: 'file' | 'directory' | 'other' | 'private';
  /** Bytes; 0 for what is no file. */
  readonly size: number;
}

/**
 * The direct children of a folder below `base`, by name. Symbolic links are `other` and are never followed.
 *
 * @param path - Relative; `.` or nothing for `base` itself.
 * @param options.own - It is the caller's own, see `OpenOptions`. Default: false.
 * @throws as `readContained`; RESOURCE_NOT_FOUND when it is no folder.
 */
export function listContained(
  base: string,
  path: string,
  { own = false }: Pick<OpenOptions, 'own'> = {},
): readonly FolderEntry[] {
  const segments = path === '' || path === '.' ? [] : relativeSegments(path);
  // What it is called is a folder's name: there is no harm in a folder that is called like a key.
  assertReadable([...segments, ''], path);
  const isKept = (name: string): boolean => !own && isReserved(join(base, ...segments, name), base);
  const list = (_descriptor: number, folder: string): readonly FolderEntry[] => {
    try {
      return readdirSync(folder, { withFileTypes: true })
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((entry) => entryOf(folder, entry, isKept));
    } catch (error) {
      throw fromSystemError(error, path);
    }
  };
  return withContained(base, segments, path, list, { folder: true, own });
}

// --- internal ---

function entryOf(folder: string, entry: Dirent, isKept: (name: string) => boolean): FolderEntry[] {
  const { name } = entry;
  if (isPrivateName(name, entry.isDirectory() ? 'folder' : 'file') || isKept(name))
    return [{ name, kind: 'private', size: 0 }];
  if (entry.isDirectory()) return [{ name, kind: 'directory', size: 0 }];
  if (!entry.isFile()) return [{ name, kind: 'other', size: 0 }];
  const stats = statsOf(join(folder, name));
  // Removed, or replaced by something else, since it was listed.
  if (!stats?.isFile()) return [];
  return [{ name, kind: 'file', size: stats.size }];
}
