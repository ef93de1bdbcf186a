import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from '../errors.ts';
import { pathTraversal, writeFailed } from './errors.ts';
import { statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './relative-path.ts';

/**
 * Writes one file below a folder, whole or not at all: a temporary file beside it is filled, synced and renamed over it.
 *
 * Missing folders are made. No link is followed (see `withContained`). An existing file keeps its mode.
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
  const segments = fileSegments(path);
  const name = segments.at(-1) as string;
  try {
    mkdirSync(base, { recursive: true });
    return withContained(
      base,
      segments.slice(0, -1),
      path,
      (_descriptor, folder) => replaceFile(folder, name, path, content),
      { folder: true, make: true },
    );
  } catch (error) {
    // Something on the way could not be opened: for a write that is not a question of what was found.
    if (isCodedError(error) && error.code !== 'RESOURCE_NOT_FOUND') throw error;
    const reason = isCodedError(error) ? 'a folder on the way cannot be opened' : (error as NodeJS.ErrnoException).code;
    throw writeFailed(path, reason ?? String(error), error);
  }
}

// --- internal ---

function replaceFile(folder: string, name: string, shown: string, content: string | Uint8Array): { created: boolean } {
  const target = join(folder, name);
  const before = statsOf(target);
  if (before?.isSymbolicLink()) throw pathTraversal();
  if (before && !before.isFile()) throw writeFailed(shown, 'there is something else than a file');
  const temporary = join(folder, `.${randomBytes(9).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(temporary, flags, 0o644);
  try {
    fill(descriptor, typeof content === 'string' ? Buffer.from(content) : content, before?.mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return { created: before === undefined };
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
