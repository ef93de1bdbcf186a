import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from '../errors/index.ts';
import { pathTraversal, writeFailed } from './errors.ts';
import { statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './paths.ts';
import { removeAbandoned, temporaryName } from './temporary-names.ts';
import { assertWritable } from './withheld.ts';

export interface WriteOptions {
  /** Permission bits. Default: 0600 with `own`, else those of the existing file, else 0644. */
  readonly mode?: number;
  /** See `OpenOptions`. Default: false. */
  readonly own?: boolean;
  /** Name of the temporary file, so that a later process can find it after a crash. Default: a random one. */
  readonly temporary?: string;
  /**
   * Name, in the same folder, under which the replaced file is kept: a hard link, so it takes no space. Nothing is kept when the
   * file system has no hard links. Default: none.
   */
  readonly keep?: string;
  /** Called when the temporary file is complete and synced, before it is renamed. */
  onTemporary?(): void;
}

/**
 * Writes one file below a folder atomically: a temporary file beside it is written, synced and renamed.
 *
 * Missing folders are made. Links are not followed (see `withContained`). The folder is synced as well when this returns, and old
 * temporary files in it are gone (`removeAbandoned`).
 *
 * @param base - Absolute, real; made when it is missing.
 * @returns Whether the file is new.
 * @throws PATH_TRAVERSAL, also when the file is a link; INVALID_ARGUMENT, also for paths that are never written
 *   (`assertWritable`); WRITE_FAILED.
 */
export function writeContained(
  base: string,
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): { readonly created: boolean } {
  const segments = fileSegments(path);
  const name = segments.at(-1) as string;
  const { own = false } = options;
  assertWritable(base, segments, own);
  try {
    mkdirSync(base, { recursive: true, mode: own ? 0o700 : 0o777 });
    return withContained(
      base,
      segments.slice(0, -1),
      path,
      (descriptor, folder) => {
        const result = replaceFile(folder, name, path, content, options);
        removeAbandoned(folder, join(base, ...segments.slice(0, -1)));
        syncFolder(descriptor);
        return result;
      },
      { folder: true, make: true, own },
    );
  } catch (error) {
    // A folder of the path could not be opened: RESOURCE_NOT_FOUND would be misleading for a write.
    if (isCodedError(error) && error.code !== 'RESOURCE_NOT_FOUND') throw error;
    const reason = isCodedError(error)
      ? 'a folder of the path cannot be opened'
      : (error as NodeJS.ErrnoException).code;
    throw writeFailed(path, reason ?? String(error), error);
  }
}

/** Some systems cannot sync a folder: there the rename reaches the disk a moment later. */
export function syncFolder(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch {
    // See above.
  }
}

// --- internal ---

function replaceFile(
  folder: string,
  name: string,
  shown: string,
  content: string | Uint8Array,
  { mode, own, temporary = temporaryName(), keep, onTemporary }: WriteOptions,
): { created: boolean } {
  const target = join(folder, name);
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

/** Errors of file systems without hard links, or that cannot link this file. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR', 'UNKNOWN'];

function linkTo(file: string, kept: string): void {
  try {
    linkSync(file, kept);
  } catch (error) {
    if (!NO_LINKS.includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}

/** Writes everything, syncs and closes. */
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
