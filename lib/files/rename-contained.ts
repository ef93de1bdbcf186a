import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './relative-path.ts';
import { syncFolder } from './write-contained.ts';

/**
 * Gives a regular file below a folder another name beside it. A file that has this name is replaced; no room is needed.
 *
 * @param base - Absolute, real. No link is followed below it.
 * @param name - Without a slash.
 * @throws PATH_TRAVERSAL, also for a link in the place of either; RESOURCE_NOT_FOUND, INVALID_ARGUMENT, WRITE_FAILED.
 */
export function renameContained(base: string, path: string, name: string): void {
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
    { folder: true },
  );
}
