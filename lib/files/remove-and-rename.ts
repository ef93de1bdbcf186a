import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { type OpenOptions, statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './paths.ts';
import { assertWritable } from './withheld.ts';
import { syncFolder } from './write-contained.ts';

/**
 * Removes one regular file below a folder, and the folders above it that are empty then.
 *
 * @param base - Absolute, real; stays.
 * @param options.own - It is the caller's own, see `OpenOptions`. Default: false.
 * @throws PATH_TRAVERSAL, also for a link in the place of the file; RESOURCE_NOT_FOUND, INVALID_ARGUMENT.
 */
export function removeContained(base: string, path: string, { own = false }: Pick<OpenOptions, 'own'> = {}): void {
  const segments = fileSegments(path);
  assertWritable(base, segments, own);
  const name = segments.at(-1) as string;
  withContained(
    base,
    segments.slice(0, -1),
    path,
    (descriptor, folder) => {
      const target = join(folder, name);
      const stats = statsOf(target);
      if (stats?.isSymbolicLink()) throw pathTraversal();
      if (!stats?.isFile()) throw resourceNotFound(path, stats ? 'it is no regular file' : 'it does not exist');
      unlinkSync(target);
      syncFolder(descriptor);
    },
    { folder: true, own },
  );
  removeEmptyFolders(base, path, { own });
}

/** Removes the folders above a path that are empty, up to `base`, which stays. */
export function removeEmptyFolders(base: string, path: string, { own = false }: Pick<OpenOptions, 'own'> = {}): void {
  const folders = fileSegments(path).slice(0, -1);
  for (let name = folders.pop(); name !== undefined; name = folders.pop()) {
    const target = name;
    try {
      withContained(base, folders, path, (_, folder) => rmdirSync(join(folder, target)), { folder: true, own });
    } catch {
      // Something is in it, or somebody else was faster.
      return;
    }
  }
}

/**
 * Gives a regular file below a folder another name beside it. A file that has this name is replaced; no room is needed.
 *
 * @param base - Absolute, real. No link is followed below it.
 * @param name - Without a slash.
 * @param options.own - It is the caller's own, see `OpenOptions`. Default: false.
 * @throws PATH_TRAVERSAL, also for a link in the place of either; RESOURCE_NOT_FOUND, INVALID_ARGUMENT, WRITE_FAILED.
 */
export function renameContained(
  base: string,
  path: string,
  name: string,
  { own = false }: Pick<OpenOptions, 'own'> = {},
): void {
  const segments = fileSegments(path);
  const [to] = fileSegments(name);
  withContained(
    base,
    segments.slice(0, -1),
    path,
    (descriptor, folder) => {
      const [source, target] = [join(folder, segments.at(-1) as string), join(folder, to as string)];
      const [stats, replaced] = [statsOf(source), statsOf(target)];
      if (stats?.isSymbolicLink() || replaced?.isSymbolicLink()) throw pathTraversal();
      if (!stats?.isFile()) throw resourceNotFound(path, stats ? 'it is no regular file' : 'it does not exist');
      try {
        renameSync(source, target);
      } catch (error) {
        throw writeFailed(path, String((error as NodeJS.ErrnoException).code), error);
      }
      syncFolder(descriptor);
    },
    { folder: true, own },
  );
}
