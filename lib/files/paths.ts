import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { invalidPath, pathTraversal } from './errors.ts';

/** Characters of a path: the limit of Linux. */
const MAX_CHARS = 4096;
/** Segments of a path. Trees that people make are far less deep, and tools that walk trees can handle this depth. */
const MAX_SEGMENTS = 64;

/**
 * The segments of a relative path with `/` between them; `.` and empty segments are dropped.
 *
 * @throws PATH_TRAVERSAL for `..`, absolute paths, backslashes, NUL and drive letters, before the file system is used;
 *   INVALID_ARGUMENT when nothing is left, for more than 4,096 characters and for more than 64 segments.
 */
export function relativeSegments(path: string): readonly string[] {
  if (path.includes('\0') || path.includes('\\') || path.startsWith('/') || /^[A-Za-z]:/.test(path))
    throw pathTraversal();
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw pathTraversal();
  if (segments.length === 0) throw invalidPath('expected a relative path such as references/guide.md');
  if (path.length > MAX_CHARS) throw invalidPath(`it has ${path.length} characters, more than ${MAX_CHARS}`);
  if (segments.length > MAX_SEGMENTS) throw invalidPath(`it is ${segments.length} folders deep, over ${MAX_SEGMENTS}`);
  return segments;
}

/**
 * As `relativeSegments`, for a path that must lead to a file.
 *
 * @throws also INVALID_ARGUMENT for a path that ends in `/` or `/.`: it names a folder.
 */
export function fileSegments(path: string): readonly string[] {
  const segments = relativeSegments(path);
  if (/\/\.?$/.test(path)) throw invalidPath('it ends in a slash, so it names a folder; leave the slash out');
  return segments;
}

/** Both absolute and without symbolic links. A folder is inside itself. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** @returns Undefined when the path does not exist. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The real path that a path has, or will have when its missing parts exist. Broken links are followed as well. */
export function futureRealPath(path: string, hops = 40): string {
  const real = realPathOf(path);
  if (real !== undefined || dirname(path) === path || hops === 0) return real ?? path;
  const parent = futureRealPath(dirname(path), hops);
  const target = linkTarget(path);
  return target === undefined ? join(parent, basename(path)) : futureRealPath(resolve(parent, target), hops - 1);
}

/** Relative, without `.`, `..`, empty segments, backslashes and names of drives. */
export function isPlainPath(path: string): boolean {
  try {
    return relativeSegments(path).join('/') === path;
  } catch {
    return false;
  }
}

// --- internal ---

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
