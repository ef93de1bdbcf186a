import { randomBytes } from 'node:crypto';
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
import { assertWritable } from './withheld.ts';

export interface WriteOptions {
  /** Permission bits. Default: those of the file that is there, else 0644; 0600 of what is `own`. */
  readonly mode?: number;
  /** It is the caller's own, see `OpenOptions`. Default: false. */
  readonly own?: boolean;
  /** Name of the temporary file, so that a later process can find what a crash has left. Default: a random one. */
  readonly temporary?: string;
  /** Name, beside it, under which the file that is replaced stays: a link, so that it takes no room. Not where there are none. */
  readonly keep?: string;
  /** Called when the temporary file is complete and on disk, before it is renamed. */
  onTemporary?(): void;
}

/**
 * Writes one file below a folder, whole or not at all: a temporary file beside it is filled, synced and renamed over it.
 *
 * Missing folders are made. No link is followed (see `withContained`). The rename is on disk, too, when this returns.
 *
 * @param base - Absolute, real; made when it is missing.
 * @returns whether the file was new.
 * @throws PATH_TRAVERSAL, also for a link in the place of the file; INVALID_ARGUMENT, also for what is never written
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
        syncFolder(descriptor);
        return result;
      },
      { folder: true, make: true, own },
    );
  } catch (error) {
    // Something on the way could not be opened: for a write that is not a question of what was found.
    if (isCodedError(error) && error.code !== 'RESOURCE_NOT_FOUND') throw error;
    const reason = isCodedError(error) ? 'a folder on the way cannot be opened' : (error as NodeJS.ErrnoException).code;
    throw writeFailed(path, reason ?? String(error), error);
  }
}

/** Whether a file is called so only until it is complete; a crash may have left it. */
export function isTemporaryName(name: string): boolean {
  return /^\.[0-9a-f]{18}\.tmp$/.test(name);
}

/** Not every system can sync a folder; there the rename is on disk a moment later. */
export function syncFolder(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch {
    // As said.
  }
}

// --- internal ---

function replaceFile(
  folder: string,
  name: string,
  shown: string,
  content: string | Uint8Array,
  { mode, own, temporary = `.${randomBytes(9).toString('hex')}.tmp`, keep, onTemporary }: WriteOptions,
): { created: boolean } {
  const target = join(folder, name);
  const before = statsOf(target);
  if (before?.isSymbolicLink()) throw pathTraversal();
  if (before && !before.isFile()) throw writeFailed(shown, 'there is something else than a file');
  const filled = join(folder, temporary);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(filled, flags, own ? 0o600 : 0o644);
  try {
    const bits = mode ?? (own ? 0o600 : before?.mode);
    fill(descriptor, typeof content === 'string' ? Buffer.from(content) : content, bits);
    onTemporary?.();
    if (before && keep !== undefined) keepAs(target, join(folder, keep));
    renameSync(filled, target);
  } catch (error) {
    rmSync(filled, { force: true });
    throw error;
  }
  return { created: before === undefined };
}

/** How a file system says that it has no hard links, or none of this file. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EISDIR', 'UNKNOWN'];

function keepAs(file: string, kept: string): void {
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
