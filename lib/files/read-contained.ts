import { type Dirent, fstatSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fromSystemError, resourceNotFound, resourceTooLarge } from './errors.ts';
import { type OpenOptions, statsOf, withContained } from './open-contained.ts';
import { fileSegments, relativeSegments } from './paths.ts';
import { assertReadable, isPrivateName, isReserved } from './withheld.ts';

export interface ReadFileOptions extends Pick<OpenOptions, 'own'> {
  /** To read many files: filled when the file is smaller; the result is then a part of it. */
  readonly into?: Buffer;
}

/**
 * Reads one regular file, even where links or devices may be: follows no link, does not wait for a FIFO, and checks and
 * reads the descriptor, so that the file cannot be replaced in between. A hard link looks like a file and is read.
 * @param base - Absolute, real. @param path - Relative, see `fileSegments`.
 * @throws PATH_TRAVERSAL, INVALID_ARGUMENT, RESOURCE_TOO_LARGE, RESOURCE_NOT_FOUND (also for `assertReadable`).
 */
export function readContained(base: string, path: string, maxBytes: number, options: ReadFileOptions = {}): Buffer {
  const segments = fileSegments(path);
  assertReadable(segments, path);
  return readFile(base, segments, path, maxBytes, options);
}

/**
 * A person named the file: links and names such as `.env` are allowed; reserved paths, FIFOs and devices are not.
 * @throws As `readContained`, and as `realpath` when nothing exists there.
 */
export function readNamedFile(file: string, maxBytes: number, options: ReadFileOptions = {}): Buffer {
  const real = realpathSync(file);
  return readFile(dirname(real), [basename(real)], basename(real), maxBytes, options);
}

export interface FolderEntry {
  readonly name: string;
  /** `private`: never read (`isPrivateName`, `reserve`); only count it, and do not show its name. */
  readonly kind: 'file' | 'directory' | 'other' | 'private';
  /** Bytes; 0 when not a file, or without `sizes`. */
  readonly size: number;
}

/**
 * Direct children, by name. Links are `other` and not followed. @param path - `.` or empty: `base`.
 * @param options.sizes - Reading them takes most of the time in a large folder. Default: true.
 * @throws As `readContained`; RESOURCE_NOT_FOUND when it is not a folder.
 */
export function listContained(
  base: string,
  path: string,
  { own = false, sizes = true }: Pick<OpenOptions, 'own'> & { readonly sizes?: boolean } = {},
): readonly FolderEntry[] {
  const segments = path === '' || path === '.' ? [] : relativeSegments(path);
  // With an empty last segment the others are folders, which may have a name such as `site.key`.
  assertReadable([...segments, ''], path);
  /** Nothing for a file removed or replaced since it was listed. */
  const entryOf = (folder: string, entry: Dirent): FolderEntry | [] => {
    const { name } = entry;
    const isFolder = entry.isDirectory();
    const isPrivate =
      isPrivateName(name, isFolder ? 'folder' : 'file') || (!own && isReserved(join(base, ...segments, name), base));
    const kind = isPrivate ? 'private' : isFolder ? 'directory' : entry.isFile() ? 'file' : 'other';
    if (kind !== 'file' || !sizes) return { name, kind, size: 0 };
    const stats = statsOf(join(folder, name));
    return stats?.isFile() ? { name, kind, size: stats.size } : [];
  };
  const list = (_descriptor: number, folder: string): readonly FolderEntry[] => {
    try {
      return readdirSync(folder, { withFileTypes: true })
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((entry) => entryOf(folder, entry));
    } catch (error) {
      throw fromSystemError(error, path);
    }
  };
  return withContained(base, segments, path, list, { folder: true, own });
}

// --- internal ---

function readFile(
  base: string,
  segments: readonly string[],
  path: string,
  maxBytes: number,
  { own = false, into }: ReadFileOptions,
): Buffer {
  const read = (descriptor: number): Buffer => {
    const stats = fstatSync(descriptor);
    if (!stats.isFile())
      throw resourceNotFound(path, stats.isDirectory() ? 'it is a directory' : 'it is no regular file');
    if (stats.size > maxBytes) throw resourceTooLarge(path, stats.size, maxBytes);
    const buffer = into && stats.size < into.length ? into : Buffer.allocUnsafe(stats.size + 1);
    return readUpTo(descriptor, stats.size, maxBytes, path, buffer);
  };
  return withContained(base, segments, path, read, { own });
}

/** Reads at most one byte more than `maxBytes`: the file may grow meanwhile. */
function readUpTo(descriptor: number, size: number, maxBytes: number, path: string, given: Buffer): Buffer {
  let buffer = given;
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += count;
    if (length > maxBytes) throw resourceTooLarge(path, length, maxBytes);
    // A regular file ends at its size. Files of /proc have size 0; read until nothing comes.
    if (count === 0 || (size > 0 && length === size)) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(buffer.length * 2, maxBytes + 1));
      buffer.copy(larger);
      buffer = larger;
    }
  }
}
