import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isCodedError, withFallback } from '../errors/index.ts';
import { pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { inParentOf, type OpenEntry, type OpenOptions, statsOf } from './open-contained.ts';
import { fileSegments, futureRealPath } from './paths.ts';
import { removeAbandoned, temporaryName } from './temporary-names.ts';
import { assertWritable } from './withheld.ts';

export interface WriteOptions {
  /** Permission bits. Default: 0600 with `own`, else those of the existing file, else 0644. */
  readonly mode?: number | undefined;
  readonly own?: boolean;
  /** Name of the temporary file, for a later process to find after a crash. Default: random. */
  readonly temporary?: string;
  /** Keeps the replaced file under this name, as a hard link, if the file system has these. Default: none. */
  readonly keep?: string;
  /** Called before the rename, when the temporary file is synced. */
  onTemporary?(): void;
}

/**
 * Writes atomically: syncs a temporary file beside the file, then renames it. Makes missing folders, follows no links,
 * syncs the folder, removes old temporary files there (`removeAbandoned`).
 * @param base - Absolute, real; made when missing. @returns `created`: the file is new.
 * @throws PATH_TRAVERSAL, also when the file is a link; INVALID_ARGUMENT, also for `assertWritable`; WRITE_FAILED.
 */
export function writeContained(
  base: string,
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): { readonly created: boolean } {
  const segments = fileSegments(path);
  const { own = false } = options;
  assertWritable(base, segments, own);
  const replace = (entry: OpenEntry): { created: boolean } => {
    const result = replaceFile(entry, path, content, options);
    removeAbandoned(entry.folder, join(base, ...segments.slice(0, -1)));
    entry.sync();
    return result;
  };
  try {
    mkdirSync(base, { recursive: true, mode: own ? 0o700 : 0o777 });
    return inParentOf(base, path, replace, { make: true, own });
  } catch (error) {
    // RESOURCE_NOT_FOUND, from a folder of the path, would be misleading for a write.
    if (isCodedError(error) && error.code !== 'RESOURCE_NOT_FOUND') throw error;
    const reason = isCodedError(error) ? 'a folder of the path cannot be opened' : codeOf(error);
    throw writeFailed(path, reason ?? String(error), error);
  }
}

/**
 * Also removes parent folders below `base` that are then empty. @param base - Absolute, real.
 * @throws PATH_TRAVERSAL, also when the file is a link; RESOURCE_NOT_FOUND, INVALID_ARGUMENT.
 */
export function removeContained(base: string, path: string, { own = false }: Pick<OpenOptions, 'own'> = {}): void {
  assertWritable(base, fileSegments(path), own);
  const remove = (entry: OpenEntry): void => {
    assertRegular(statsOf(entry.path), path);
    unlinkSync(entry.path);
    entry.sync();
  };
  inParentOf(base, path, remove, { own });
  removeEmptyFolders(base, path, { own });
}

/** Only folders below `base`, up to the first one that is not empty, or that another process has removed. */
export function removeEmptyFolders(base: string, path: string, options: Pick<OpenOptions, 'own'> = {}): void {
  const folders = fileSegments(path).slice(0, -1);
  withFallback(() => {
    for (; folders.length > 0; folders.pop())
      inParentOf(base, folders.join('/'), (entry) => rmdirSync(entry.path), options);
  });
}

/**
 * Within its folder; replaces an existing file. Needs no free disk space. @param base - Absolute, real.
 * @throws PATH_TRAVERSAL, also when one of the two is a link; RESOURCE_NOT_FOUND, INVALID_ARGUMENT, WRITE_FAILED.
 */
export function renameContained(
  base: string,
  path: string,
  name: string,
  options: Pick<OpenOptions, 'own'> = {},
): void {
  const rename = (entry: OpenEntry): void => {
    const [to = ''] = fileSegments(name);
    const target = join(entry.folder, to);
    if (statsOf(target)?.isSymbolicLink()) throw pathTraversal();
    assertRegular(statsOf(entry.path), path);
    try {
      renameSync(entry.path, target);
    } catch (error) {
      throw writeFailed(path, String(codeOf(error)), error);
    }
    entry.sync();
  };
  inParentOf(base, path, rename, options);
}

/**
 * Makes a relative link to a folder, with the missing folders above it. Replaces nothing.
 * @param base - Absolute, real. No link below it is followed. @param target - Absolute, real.
 * @returns false when something has this name.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND, INVALID_ARGUMENT, WRITE_FAILED.
 */
export function linkContained(base: string, path: string, target: string): boolean {
  assertWritable(base, [...fileSegments(path), '']);
  const link = (entry: OpenEntry): boolean => {
    try {
      symlinkSync(relative(dirname(join(base, path)), target), entry.path, 'dir');
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw writeFailed(path, String(codeOf(error)), error);
    }
    entry.sync();
    return true;
  };
  return inParentOf(base, path, link, { make: true });
}

/** Removes a link that leads to `target`, and nothing else. @param base, target - As of `linkContained`. */
export function unlinkContained(base: string, path: string, target: string): boolean {
  const leadsThere = (link: string): boolean =>
    futureRealPath(
      resolve(
        dirname(join(base, path)),
        withFallback(() => readlinkSync(link), '/'),
      ),
    ) === target;
  const unlink = (entry: OpenEntry): boolean => {
    if (!leadsThere(entry.path)) return false;
    // First another name: what somebody puts in its place at this moment stays.
    const aside = join(entry.folder, temporaryName());
    renameSync(entry.path, aside);
    const isLink = leadsThere(aside);
    if (isLink) unlinkSync(aside);
    else renameSync(aside, entry.path);
    entry.sync();
    return isLink;
  };
  return withFallback(() => inParentOf(base, path, unlink), false);
}

/** Mode 0700. Removes the permissions of others on an existing folder, unless a link may lead to somebody else's. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(dirname(folder), { throwIfNoEntry: false })?.isSymbolicLink()) narrow(folder, 0o700);
}

/**
 * Mode 0600. Removes the permissions of others on an existing file that is no link, without opening it: closing a
 * database file releases the locks of this process. @param file - Absolute; its folder exists.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') narrow(file, 0o600);
    // The next open reports any other failure.
  }
}

// --- internal ---

/** Nothing when it belongs to another user, or was removed. */
function narrow(path: string, most: number): void {
  withFallback(() => {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink() && stats.mode & 0o777 & ~most) chmodSync(path, stats.mode & most);
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function assertRegular(stats: Stats | undefined, shown: string): void {
  if (stats?.isSymbolicLink()) throw pathTraversal();
  if (!stats?.isFile()) throw resourceNotFound(shown, stats ? 'it is no regular file' : 'it does not exist');
}

function replaceFile(
  { path: target, folder }: OpenEntry,
  shown: string,
  content: string | Uint8Array,
  { mode, own, temporary = temporaryName(), keep, onTemporary }: WriteOptions,
): { created: boolean } {
  const before = statsOf(target);
  if (before?.isSymbolicLink()) throw pathTraversal();
  if (before && !before.isFile()) throw writeFailed(shown, 'it exists and is not a file');
  const temporaryFile = join(folder, temporary);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(temporaryFile, flags, own ? 0o600 : 0o644);
  try {
    const bits = mode ?? (own ? 0o600 : before?.mode);
    fill(descriptor, typeof content === 'string' ? Buffer.from(content) : content, bits);
    onTemporary?.();
    if (before && keep !== undefined) linkTo(target, join(folder, keep));
    renameSync(temporaryFile, target);
  } catch (error) {
    rmSync(temporaryFile, { force: true });
    throw error;
  }
  return { created: before === undefined };
}

/** Errors of a file system that cannot make this hard link. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR', 'UNKNOWN'];

function linkTo(file: string, kept: string): void {
  try {
    linkSync(file, kept);
  } catch (error) {
    if (!NO_LINKS.includes(String(codeOf(error)))) throw error;
  }
}

function fill(descriptor: number, bytes: Uint8Array, mode: number | undefined): void {
  try {
    if (mode !== undefined) fchmodSync(descriptor, mode & 0o777);
    let written = 0;
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
