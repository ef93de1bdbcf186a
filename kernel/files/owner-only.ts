import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';

/** Makes a folder for this user alone (0700), and those above it that are missing; one that others may enter is narrowed. */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  narrow(folder, 0o700);
}

/**
 * Makes an empty file for this user alone (0600), before somebody writes into it; one that others may read is narrowed. One that
 * is there is never opened: for a database that would give up the locks of this process.
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
    const mode = statSync(path).mode & 0o777;
    if (mode & ~most) chmodSync(path, mode & most);
  } catch {
    // It is another user's, or has gone: nobody is worse off than before.
  }
}
