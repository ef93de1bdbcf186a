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
import { withFallback } from '../errors/index.ts';
import { fromSystemError, pathTraversal, writeFailed } from './errors.ts';
import { fileSegments, isInside } from './paths.ts';
import { isReserved, reservedPath } from './withheld.ts';

export interface OpenOptions {
  /** Default: any kind of entry, without waiting for a FIFO. */
  readonly folder?: boolean;
  readonly make?: boolean;
  /** The caller's own files: may be reserved (`reserve`); written folders get the mode 0700. Default: false. */
  readonly own?: boolean;
}

/**
 * Opens an entry below `base` while `use` runs; on Linux its `path` always means this entry. No link below `base` is
 * followed: each folder is opened from the descriptor before, and the descriptor, not the path, is checked to be below
 * `base`. Nothing outside is opened: opening a FIFO or device has effects. Reserved files are not opened: closing a
 * database file releases SQLite's locks.
 * @param base - Absolute, real. @param segments - None: `base` itself. @param shown - For messages.
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
  // The most frequent case, a SKILL.md in `base`, needs one open. Even below a link, such a file is no database.
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

export interface OpenEntry {
  readonly path: string;
  readonly folder: string;
  /** Makes names in the folder last on disk. Where the system cannot do this, they reach it a little later. */
  sync(): void;
}

/** Opens the folder that contains `path`. @throws as `withContained`; INVALID_ARGUMENT when `path` names no file. */
export function inParentOf<T>(
  base: string,
  path: string,
  use: (entry: OpenEntry) => T,
  options: Omit<OpenOptions, 'folder'> = {},
): T {
  const segments = fileSegments(path);
  const name = segments.at(-1) as string;
  const open = (descriptor: number, folder: string): T =>
    // Some systems cannot sync a folder.
    use({ path: join(folder, name), folder, sync: () => withFallback(() => fsyncSync(descriptor)) });
  return withContained(base, segments.slice(0, -1), path, open, { ...options, folder: true });
}

/** A link in the last segment is not followed. Undefined when nothing exists there. */
export function statsOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

// --- internal ---

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
    // With O_DIRECTORY, a link gives ENOTDIR like a file.
    const isLink = (): boolean => statsOf(path)?.isSymbolicLink() ?? false;
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR' && withFallback(isLink, false)) throw pathTraversal();
    throw fromSystemError(error, shown);
  }
  const real = withFallback(() => realPathOf(descriptor, path), '');
  if (isInside(real, base) && (own || !isReserved(real, base)))
    return { descriptor, path: process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path };
  closeSync(descriptor);
  throw pathTraversal();
}

/** Without /proc the real path of `path`, if it is the same file. Empty when not known. */
function realPathOf(descriptor: number, path: string): string {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${descriptor}`);
  const real = realpathSync(path);
  const [opened, found] = [fstatSync(descriptor), lstatSync(real)];
  return opened.ino === found.ino && opened.dev === found.dev ? real : '';
}

function makeFolder(path: string, name: string, shown: string, own: boolean): void {
  const stats = statsOf(path);
  if (stats && !stats.isDirectory() && !stats.isSymbolicLink())
    throw writeFailed(shown, `${name} is a file, not a folder`);
  if (stats) return;
  try {
    mkdirSync(path, { mode: own ? 0o700 : 0o777 });
  } catch (error) {
    // Another process has made it. The next open checks that it is a folder.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** An older version or another program may have given others permissions. It may belong to another user. */
function keepToOwner(descriptor: number): void {
  const { mode } = fstatSync(descriptor);
  if (mode & 0o077) withFallback(() => fchmodSync(descriptor, mode & 0o700));
}
