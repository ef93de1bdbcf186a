import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { invalidPath, pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { statsOf, withContained } from './open-contained.ts';
import { assertWritable, holdsReserved } from './reach.ts';
import { fileSegments } from './relative-path.ts';
import { syncFolder } from './write-contained.ts';

/** A folder, or the place for one. */
export interface FolderPlace {
  /** Absolute, real. */
  readonly base: string;
  readonly path: string;
  /** It is the caller's own, see `OpenOptions`. Default: false. */
  readonly own?: boolean;
}

/**
 * Moves a folder that lies below `from` to a place below `to`, whole or not at all; between file systems it is copied,
 * links as links, and then removed.
 *
 * @param from - No link is followed below its base.
 * @param to - Where it goes; nothing may be there. Missing folders are made.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND; INVALID_ARGUMENT, also when something reserved lies in it; WRITE_FAILED, also when
 *   something is there already.
 */
export function moveFolder(from: FolderPlace, to: FolderPlace): void {
  const source = fileSegments(from.path);
  const target = fileSegments(to.path);
  // A folder may be called like a key.
  assertWritable(from.base, [...source, ''], from.own);
  assertWritable(to.base, [...target, ''], to.own);
  if (!from.own && holdsReserved(join(from.base, ...source)))
    throw invalidPath('the registry keeps its own files in there');
  mkdirSync(to.base, { recursive: true, mode: to.own ? 0o700 : 0o777 });
  within(from, source, false, (sourceDescriptor, here) =>
    within(to, target, true, (targetDescriptor, there) => {
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
  { base, path, own = false }: FolderPlace,
  segments: readonly string[],
  make: boolean,
  use: (descriptor: number, path: string) => void,
): void {
  const name = segments.at(-1) as string;
  const options = { folder: true, make, own };
  withContained(
    base,
    segments.slice(0, -1),
    path,
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
