import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder with the mode 0700, and its missing parents. An existing folder that others may enter loses their
 * permissions, unless it or its parent is a link: then it may belong to somebody else.
 */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(dirname(folder), { throwIfNoEntry: false })?.isSymbolicLink()) narrow(folder, 0o700);
}

/**
 * Makes an empty file with the mode 0600. An existing file that others may read loses their permissions, unless it is a
 * link. An existing file is never opened: opening and closing a database file gives up the locks of this process.
 *
 * @param file - Absolute; its folder exists.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') narrow(file, 0o600);
    // Any other failure is reported by whoever opens the file next.
  }
}

// --- internal ---

function narrow(path: string, most: number): void {
  try {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink() && stats.mode & 0o777 & ~most) chmodSync(path, stats.mode & most);
  } catch {
    // It belongs to another user, or was removed: the permissions stay as they were.
  }
}
