import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { type OpenOptions, statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './paths.ts';
import { assertWritable } from './withheld.ts';
import { syncFolder } from './write-contained.ts';

/**
 * Removes one regular file below a folder, and its parent folders that are empty afterwards.
 *
 * @param base - Absolute, real. It is not removed.
 * @param options.own - See `OpenOptions`. Default: false.
 * @throws PATH_TRAVERSAL, also when the file is a link; RESOURCE_NOT_FOUND, INVALID_ARGUMENT.
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

/** Removes the empty parent folders of a path, below `base`. */
export function removeEmptyFolders(base: string, path: string, { own = false }: Pick<OpenOptions, 'own'> = {}): void {
  const folders = fileSegments(path).slice(0, -1);
  for (let name = folders.pop(); name !== undefined; name = folders.pop()) {
    const target = name;
    try {
      withContained(base, folders, path, (_, folder) => rmdirSync(join(folder, target)), { folder: true, own });
    } catch {
      // It is not empty, or another process has removed it.
      return;
    }
  }
}

/**
 * Renames a regular file below a folder, within its folder. An existing file of the new name is replaced. It needs no free space on
 * the disk.
 *
 * @param base - Absolute, real. No link below it is followed.
 * @param name - The new name, without a slash.
 * @param options.own - See `OpenOptions`. Default: false.
 * @throws PATH_TRAVERSAL, also when one of the two is a link; RESOURCE_NOT_FOUND, INVALID_ARGUMENT, WRITE_FAILED.
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
