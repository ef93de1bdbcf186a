import { sep } from 'node:path';
import { invalidPath, pathTraversal } from './errors.ts';

/**
 * The segments of a relative path with `/` between them; `.` and empty segments are dropped.
 *
 * @throws PATH_TRAVERSAL for `..`, absolute, backslash, NUL and drive forms, before the file system is asked anything;
 *   INVALID_ARGUMENT when nothing is left.
 */
export function relativeSegments(path: string): readonly string[] {
  if (path.includes('\0') || path.includes('\\') || path.startsWith('/') || /^[A-Za-z]:/.test(path))
    throw pathTraversal();
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw pathTraversal();
  if (segments.length === 0) throw invalidPath('expected a relative path such as references/guide.md');
  return segments;
}

/** Both absolute and without symbolic links. A folder is inside itself. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
