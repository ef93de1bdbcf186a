import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { join, sep } from 'node:path';
import { fromSystemError, pathTraversal, writeFailed } from './errors.ts';
import { fileSegments, isInside } from './paths.ts';
import { isReserved, reservedPath } from './withheld.ts';

export interface OpenOptions {
  /** Open a folder. Default: open any kind of entry, without waiting for a FIFO. */
  readonly folder?: boolean;
  /** Make missing folders. Default: false. */
  readonly make?: boolean;
  /**
   * The files are the caller's own: reserved paths may be opened (`reserve`), and folders below `base` that are made or
   * written to get the mode 0700. Default: false.
   */
  readonly own?: boolean;
}

/**
 * Opens a file or folder below `base` and calls `use` with its descriptor and, on Linux, a path that means the same
 * entry as long as it is open.
 *
 * No link below `base` is followed: each folder is opened separately, and the next segment is opened from its
 * descriptor. So nothing outside is opened (opening a FIFO or a device has effects), and a link that appears meanwhile
 * is refused. The check that the entry lies below `base` is made on the descriptor, not on the path. Reserved files are
 * not opened at all, because opening and closing a database file gives up SQLite's locks.
 *
 * @param base - Absolute, real (no symbolic link in it).
 * @param segments - See `relativeSegments`; none for `base` itself.
 * @param shown - The path that messages show.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND (also for reserved paths); WRITE_FAILED with `make`.
 */
export function withContained<T>(
  base: string,
  segments: readonly string[],
  shown: string,
  use: (descriptor: number, path: string) => T,
  { folder = false, make = false, own = false }: OpenOptions = {},
): T {
  if (!own && isReserved(segments.reduce(stepInto, base), base)) throw reservedPath(shown);
  // The most frequent case is a SKILL.md directly below `base`: one open is enough for it. Should `base` have become a
  // link, a file of this name is no database.
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

/** An entry of an open folder; it need not exist. */
export interface OpenEntry {
  readonly path: string;
  /** Path of the open folder. */
  readonly folder: string;
  /** Makes the names in the folder last on the disk. Some systems cannot: there they reach it a moment later. */
  sync(): void;
}

/** As `withContained`, for the folder that a path is in. @throws also INVALID_ARGUMENT when the path names no file. */
export function inParentOf<T>(
  base: string,
  path: string,
  use: (entry: OpenEntry) => T,
  options: Omit<OpenOptions, 'folder'> = {},
): T {
  const segments = fileSegments(path);
  const name = segments.at(-1) as string;
  const open = (descriptor: number, folder: string): T =>
    use({ path: join(folder, name), folder, sync: () => syncFolder(descriptor) });
  return withContained(base, segments.slice(0, -1), path, open, { ...options, folder: true });
}

/** The stats of the entry itself; a link in the last segment is not followed. Undefined when nothing exists there. */
export function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

// --- internal ---

function syncFolder(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch {
    // This system cannot sync a folder.
  }
}

/** Faster than `join`: a segment needs no normalization. */
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
    // With O_DIRECTORY a link gives ENOTDIR, as a file does.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR' && isLink(path)) throw pathTraversal();
    throw fromSystemError(error, shown);
  }
  const real = realPathOf(descriptor, path);
  if (isInside(real, base) && (own || !isReserved(real, base)))
    return { descriptor, path: process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path };
  closeSync(descriptor);
  throw pathTraversal();
}

/** The real path of a descriptor; without /proc that of `path`, if it is the same file. Empty when it is not known. */
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
  if (stats && !stats.isDirectory() && !stats.isSymbolicLink())
    throw writeFailed(shown, `${name} is a file, not a folder`);
  if (stats) return;
  try {
    mkdirSync(path, { mode: own ? 0o700 : 0o777 });
  } catch (error) {
    // Another process has made it; whether it is a folder shows when it is opened.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** An older version, or another program, may have made it with permissions for others. */
function keepToOwner(descriptor: number): void {
  const { mode } = fstatSync(descriptor);
  try {
    if (mode & 0o077) fchmodSync(descriptor, mode & 0o700);
  } catch {
    // It belongs to another user, who lets this one write there.
  }
}
