import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder for this user alone (0700), and those above it that are missing. One that others may enter is narrowed, unless a
 * link leads to it or to the folder around it: then nobody knows whose it is.
 */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(dirname(folder), { throwIfNoEntry: false })?.isSymbolicLink()) narrow(folder, 0o700);
}

/**
 * Makes an empty file for this user alone (0600), before somebody writes into it. One that others may read is narrowed, unless it
 * is a link. One that is there is never opened: for a database that would give up the locks of this process.
 *
 * @param file - Absolute; its folder is there.
 */
export function privateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') narrow(file, 0o600);
    // Else whoever opens it next says why it cannot be.
  }
}

// --- internal ---

function narrow(path: string, most: number): void {
  try {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink() && stats.mode & 0o777 & ~most) chmodSync(path, stats.mode & most);
  } catch {
    // It is another user's, or has gone: nobody is worse off than before.
  }
}
