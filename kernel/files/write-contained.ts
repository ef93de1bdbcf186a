import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from '../errors.ts';
import { pathTraversal, writeFailed } from './errors.ts';
import { withContained } from './read-contained.ts';
import { relativeSegments } from './relative-path.ts';

/**
 * Writes one file below a folder, whole or not at all: a temporary file beside it is filled, synced and renamed over it.
 *
 * Missing folders are made. Each folder on the way is opened without following links and the next step starts from that
 * descriptor (Linux), so a link put in the way at any moment is refused. An existing file keeps its mode.
 *
 * @param base - Absolute, real; made when it is missing.
 * @returns whether the file was new.
 * @throws PATH_TRAVERSAL, also for a link in the place of the file; INVALID_ARGUMENT; WRITE_FAILED.
 */
export function writeContained(
  base: string,
  path: string,
  content: string | Uint8Array,
): { readonly created: boolean } {
  const segments = relativeSegments(path);
  const name = segments.at(-1) as string;
  try {
    mkdirSync(base, { recursive: true });
    return inFolder(base, base, segments.slice(0, -1), path, (folder) => replaceFile(folder, name, path, content));
  } catch (error) {
    if (isCodedError(error)) throw error;
    throw writeFailed(path, (error as NodeJS.ErrnoException).code ?? String(error), error);
  }
}

// --- internal ---

/** Walks down `segments` and calls `use` with a path that stands for the last folder as long as it is open. */
function inFolder<T>(
  base: string,
  folder: string,
  segments: readonly string[],
  shown: string,
  use: (folder: string, descriptor: number) => T,
): T {
  const [next, ...rest] = segments;
  return withContained(
    base,
    folder,
    shown,
    (descriptor) => {
      const here = process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : folder;
      if (next === undefined) return use(here, descriptor);
      const child = join(here, next);
      const stats = statsOf(child);
      if (stats === undefined) mkdirSync(child);
      else if (stats.isSymbolicLink()) throw pathTraversal();
      else if (!stats.isDirectory()) throw writeFailed(shown, `${next} is a file, not a folder`);
      return inFolder(base, child, rest, shown, use);
    },
    constants.O_DIRECTORY,
  );
}

function replaceFile(folder: string, name: string, shown: string, content: string | Uint8Array): { created: boolean } {
  const target = join(folder, name);
  const before = statsOf(target);
  if (before?.isSymbolicLink()) throw pathTraversal();
  if (before && !before.isFile()) throw writeFailed(shown, 'there is something else than a file');
  const temporary = join(folder, `.${name.slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`);
  const descriptor = openSync(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o644,
  );
  try {
    if (before) fchmodSync(descriptor, before.mode & 0o777);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    let written = 0;
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, target);
  return { created: before === undefined };
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
