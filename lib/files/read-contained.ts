import { type Dirent, fstatSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fromSystemError, resourceNotFound, resourceTooLarge } from './errors.ts';
import { type OpenOptions, statsOf, withContained } from './open-contained.ts';
import { fileSegments, relativeSegments } from './paths.ts';
import { assertReadable, isPrivateName, isReserved } from './withheld.ts';

/**
 * Reads one regular file below a folder, whatever links or devices somebody has put there.
 *
 * No link is followed and no FIFO waited for (see `withContained`); the descriptor, not the path, is checked and read, so that
 * nothing can be swapped in between. Hard links cannot be told from files.
 *
 * @param base - Absolute, real (no symbolic link in it).
 * @param path - Relative, see `fileSegments`.
 * @param options.own - It is the caller's own, see `OpenOptions`. Default: false.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND (also for what is no regular file, or never read: `assertReadable`),
 *   RESOURCE_TOO_LARGE, INVALID_ARGUMENT.
 */
export function readContained(
  base: string,
  path: string,
  maxBytes: number,
  { own = false }: Pick<OpenOptions, 'own'> = {},
): Buffer {
  const segments = fileSegments(path);
  assertReadable(segments, path);
  return readFile(base, segments, path, maxBytes, own);
}

/**
 * Reads a file whose path somebody gave, wherever its links lead: a regular one, no more than `maxBytes`, and without waiting
 * for a FIFO or an endless device. It may be called as it likes, `.env` too; what is reserved it is not (`reserve`).
 *
 * @param options.own - It is the caller's own, see `OpenOptions`. Default: false.
 * @throws as `readContained`, and what `realpath` throws where nothing is.
 */
export function readNamedFile(file: string, maxBytes: number, { own = false }: Pick<OpenOptions, 'own'> = {}): Buffer {
  const real = realpathSync(file);
  return readFile(dirname(real), [basename(real)], basename(real), maxBytes, own);
}

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

/** As `readContained`, whatever the file is called. */
function readFile(base: string, segments: readonly string[], path: string, maxBytes: number, own: boolean): Buffer {
  return withContained(
    base,
    segments,
    path,
    (descriptor) => {
      const stats = fstatSync(descriptor);
      if (!stats.isFile())
        throw resourceNotFound(path, stats.isDirectory() ? 'it is a directory' : 'it is no regular file');
      if (stats.size > maxBytes) throw resourceTooLarge(path, stats.size, maxBytes);
      return readUpTo(descriptor, stats.size, maxBytes, path);
    },
    { own },
  );
}

/** A file may grow while it is read: one byte past the limit is enough to know. */
function readUpTo(descriptor: number, size: number, maxBytes: number, path: string): Buffer {
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += count;
    if (length > maxBytes) throw resourceTooLarge(path, length, maxBytes);
    // Less than was asked for of a regular file is its end; those of /proc say 0 bytes and go on.
    if (count === 0 || (size > 0 && length === size)) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(buffer.length * 2, maxBytes + 1));
      buffer.copy(larger);
      buffer = larger;
    }
  }
}

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
