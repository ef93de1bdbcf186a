import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { withFallback } from '../errors/index.ts';
import { invalidPath, pathTraversal } from './errors.ts';

/** The limit of Linux. */
const MAX_CHARS = 4096;
/** Programs that walk trees can handle this depth, and trees of people are far less deep. */
const MAX_SEGMENTS = 64;

/** `name` or `@scope/name`, by npm's present rules; no name can leave node_modules. */
export const PACKAGE_NAME: RegExp = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/**
 * Drops `.` and empty segments. @throws PATH_TRAVERSAL for `..`, absolute paths, backslashes, NUL and drive letters;
 * INVALID_ARGUMENT when nothing is left, above 4,096 characters and above 64 segments.
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

/** @throws also INVALID_ARGUMENT for a path that ends in `/` or `/.`: it names a folder. */
export function fileSegments(path: string): readonly string[] {
  const segments = relativeSegments(path);
  if (/\/\.?$/.test(path)) throw invalidPath('it ends in a slash, so it names a folder; leave the slash out');
  return segments;
}

/** Both absolute and without symbolic links. A folder is inside itself. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function realPathOf(path: string): string | undefined {
  return withFallback(() => realpathSync(path));
}

/** Also for a path that does not exist yet. Follows broken links, too. */
export function futureRealPath(path: string, hops = 40): string {
  // Most paths that are asked for here do not exist, and an error costs more than a look.
  const isThere = withFallback(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
  const real = isThere ? realPathOf(path) : undefined;
  if (real !== undefined || dirname(path) === path || hops === 0) return real ?? path;
  const parent = futureRealPath(dirname(path), hops);
  const target = isThere ? withFallback(() => readlinkSync(path)) : undefined;
  return target === undefined ? join(parent, basename(path)) : futureRealPath(resolve(parent, target), hops - 1);
}

/** Relative, without `.`, `..`, empty segments, backslashes and drive letters. */
export function isPlainPath(path: string): boolean {
  return withFallback(() => relativeSegments(path).join('/') === path, false);
}

/** `a` and `a/b` of `a/b/c`. */
export function foldersAbove(path: string): readonly string[] {
  const above: string[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) above.push(path.slice(0, end));
  return above;
}
