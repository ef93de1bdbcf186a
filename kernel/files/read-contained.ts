import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fromSystemError, pathTraversal, resourceNotFound, resourceTooLarge } from './errors.ts';
import { isInside, relativeSegments } from './relative-path.ts';

/**
 * Reads one regular file below a folder, whatever links or devices somebody has put there.
 *
 * The file is opened without following a link in its last segment and without blocking on a FIFO; then the descriptor, not
 * the path, is checked and read, so that nothing can be swapped in between. Hard links cannot be told from files.
 *
 * @param base - Absolute, real (no symbolic link in it).
 * @param path - Relative, see `relativeSegments`.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND (also for what is no regular file), RESOURCE_TOO_LARGE, INVALID_ARGUMENT.
 */
export function readContained(base: string, path: string, maxBytes: number): Buffer {
  const file = join(base, ...relativeSegments(path));
  return withContained(base, file, path, (descriptor) => {
    const stats = fstatSync(descriptor);
    if (!stats.isFile())
      throw resourceNotFound(path, stats.isDirectory() ? 'it is a directory' : 'it is no regular file');
    if (stats.size > maxBytes) throw resourceTooLarge(path, stats.size, maxBytes);
    return readUpTo(descriptor, stats.size, maxBytes, path);
  });
}

/**
 * Opens `file`, checks that what was opened lies below `base`, and hands the descriptor to `use`.
 *
 * @param shown - The path in messages.
 */
export function withContained<T>(
  base: string,
  file: string,
  shown: string,
  use: (descriptor: number) => T,
  extraFlags = 0,
): T {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | extraFlags);
  } catch (error) {
    throw fromSystemError(error, shown);
  }
  try {
    if (!isInside(realPathOf(descriptor, file), base)) throw pathTraversal();
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

// --- internal ---

/** Where the descriptor really is. Without /proc: where the path leads now, if that is the same file. */
function realPathOf(descriptor: number, file: string): string {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${descriptor}`);
  try {
    const real = realpathSync(file);
    const [opened, found] = [fstatSync(descriptor), lstatSync(real)];
    return opened.ino === found.ino && opened.dev === found.dev ? real : '';
  } catch {
    return '';
  }
}

/** A file may grow while it is read: one byte past the limit is enough to know. */
function readUpTo(descriptor: number, size: number, maxBytes: number, path: string): Buffer {
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += count;
    if (length > maxBytes) throw resourceTooLarge(path, length, maxBytes);
    if (count === 0) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(buffer.length * 2, maxBytes + 1));
      buffer.copy(larger);
      buffer = larger;
    }
  }
}
