import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { sep } from 'node:path';
import { fromSystemError, pathTraversal, writeFailed } from './errors.ts';
import { isInside } from './paths.ts';
import { isReserved, reservedPath } from './withheld.ts';

export interface OpenOptions {
  /** Open a folder; without it whatever is there, without blocking on a FIFO. */
  readonly folder?: boolean;
  /** Make folders that are missing. */
  readonly make?: boolean;
  /**
   * It is for this user alone: what is reserved may be reached (`reserve`), and folders below `base` that are made, or written into,
   * are 0700.
   */
  readonly own?: boolean;
}

/**
 * Opens what lies below `base` and hands it to `use`, with a path that stands for it as long as it is open (Linux).
 *
 * No link below `base` is followed, on the way or at the end: each folder is opened by itself and the next step starts from
 * its descriptor, so nothing outside is even opened (a FIFO or a device acts on that), and a link put in the way at any
 * moment is refused. What was opened, not its path, is then checked to lie below `base`. What is reserved is not even opened:
 * that alone does harm to a database.
 *
 * @param base - Absolute, real (no symbolic link in it).
 * @param segments - See `relativeSegments`; none for `base` itself.
 * @param shown - The path in messages.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND (also for what is reserved); WRITE_FAILED with `make`.
 */
export function withContained<T>(
  base: string,
  segments: readonly string[],
  shown: string,
  use: (descriptor: number, path: string) => T,
  { folder = false, make = false, own = false }: OpenOptions = {},
): T {
  if (!own && isReserved(segments.reduce(stepInto, base), base)) throw reservedPath(shown);
  // Reading a SKILL.md directly below `base` is what is done most, and one open is enough for it: no database is called so, if
  // `base` should have become a link.
  const fromBase = make || segments.length !== 1 || !/\.md$/i.test(segments[0] as string);
  let at: Opened | undefined = fromBase ? openStep(base, base, shown, constants.O_DIRECTORY, own) : undefined;
  try {
    for (const [index, segment] of segments.entries()) {
      const next = stepInto(at?.path ?? base, segment);
      if (make) makeFolder(next, segment, shown, own);
      const isFolder = folder || index < segments.length - 1;
      const opened = openStep(base, next, shown, isFolder ? constants.O_DIRECTORY : 0, own);
      if (at) closeSync(at.descriptor);
      at = opened;
      if (make && own) keepToOwner(at.descriptor);
    }
    const { descriptor, path } = at as Opened;
    return use(descriptor, path);
  } finally {
    if (at) closeSync(at.descriptor);
  }
}

/** What is there itself, not what a link in the last segment leads to. */
export function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

// --- internal ---

/** A segment is no path, so there is nothing to normalise. */
function stepInto(folder: string, segment: string): string {
  return folder.endsWith(sep) ? folder + segment : folder + sep + segment;
}

interface Opened {
  readonly descriptor: number;
  readonly path: string;
}

function openStep(base: string, path: string, shown: string, flags: number, own: boolean): Opened {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags);
  } catch (error) {
    // With O_DIRECTORY a link is ENOTDIR, as a file is.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR' && isLink(path)) throw pathTraversal();
    throw fromSystemError(error, shown);
  }
  const real = realPathOf(descriptor, path);
  if (isInside(real, base) && (own || !isReserved(real, base)))
    return { descriptor, path: process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path };
  closeSync(descriptor);
  throw pathTraversal();
}

/** Where the descriptor really is; without /proc, where the path leads now if that is the same file. Else nothing. */
function realPathOf(descriptor: number, path: string): string {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${descriptor}`);
    const real = realpathSync(path);
    const [opened, found] = [fstatSync(descriptor), lstatSync(real)];
    return opened.ino === found.ino && opened.dev === found.dev ? real : '';
  } catch {
    return '';
  }
}

function isLink(path: string): boolean {
  try {
    return statsOf(path)?.isSymbolicLink() ?? false;
  } catch {
    return false;
  }
}

function makeFolder(path: string, name: string, shown: string, own: boolean): void {
  const stats = statsOf(path);
  if (stats === undefined) {
    try {
      mkdirSync(path, { mode: own ? 0o700 : 0o777 });
    } catch (error) {
      // Somebody was faster; whether it is a folder is seen when it is opened.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  } else if (!stats.isDirectory() && !stats.isSymbolicLink()) {
    throw writeFailed(shown, `${name} is a file, not a folder`);
  }
}

/** An older version, or somebody else, may have made it for all to enter. */
function keepToOwner(descriptor: number): void {
  const { mode } = fstatSync(descriptor);
  try {
    if (mode & 0o077) fchmodSync(descriptor, mode & 0o700);
  } catch {
    // It is another user's, who lets us write there.
  }
}
