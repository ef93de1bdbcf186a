import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './relative-path.ts';
import { syncFolder } from './write-contained.ts';

/**
 * Moves a folder that lies below `from` to a place below `to`, whole or not at all; between file systems it is copied,
 * links as links, and then removed.
 *
 * @param from - Base and path of the folder; the base is absolute and real. No link is followed below it.
 * @param to - The same for where it goes; nothing may be there. Missing folders are made.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND, INVALID_ARGUMENT; WRITE_FAILED, also when something is there already.
 */
export function moveFolder(
  from: { readonly base: string; readonly path: string },
  to: { readonly base: string; readonly path: string },
): void {
  const source = fileSegments(from.path);
  const target = fileSegments(to.path);
  mkdirSync(to.base, { recursive: true });
  within(from.base, source, from.path, false, (sourceDescriptor, here) =>
    within(to.base, target, to.path, true, (targetDescriptor, there) => {
      const stats = statsOf(here);
      if (stats?.isSymbolicLink()) throw pathTraversal();
      if (!stats?.isDirectory()) throw resourceNotFound(from.path, 'it is no folder');
      if (statsOf(there)) throw writeFailed(to.path, 'something is there already');
      rename(here, there, to.path);
      syncFolder(sourceDescriptor);
      syncFolder(targetDescriptor);
    }),
  );
}

// --- internal ---

/** Opens the folder around the last segment and hands on its descriptor and the path of the segment in it. */
function within(
  base: string,
  segments: readonly string[],
  shown: string,
  make: boolean,
  use: (descriptor: number, path: string) => void,
): void {
  const name = segments.at(-1) as string;
  const options = { folder: true, make };
  withContained(
    base,
    segments.slice(0, -1),
    shown,
    (descriptor, folder) => use(descriptor, join(folder, name)),
    options,
  );
}

function rename(here: string, there: string, shown: string): void {
  try {
    renameSync(here, there);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV') throw writeFailed(shown, String(code), error);
    copyAcross(here, there);
  }
}

/** Under another name until it is complete. */
function copyAcross(here: string, there: string): void {
  const partial = join(dirname(there), `.partial-${process.pid}`);
  try {
    cpSync(here, partial, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    renameSync(partial, there);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  rmSync(here, { recursive: true });
}
