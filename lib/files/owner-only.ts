import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { withFallback } from '../errors/index.ts';

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
