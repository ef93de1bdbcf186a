import { mkdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { realPathOf, writeFailed } from '../../lib/files/index.ts';

/** Below `data/`; not a name that the data folder of an extension can have. */
export const HELD = '.held';

/** Real path of what waits; undefined when nothing ever did. What a link leads to does not wait here. */
export function heldFolder(rootDir: string): string | undefined {
  const folder = join(realPathOf(join(rootDir, 'data')) ?? '', HELD);
  return realPathOf(folder) === folder ? folder : undefined;
}

/** The same folder, which is made. @throws WRITE_FAILED. */
export function heldFolderFor(rootDir: string): string {
  folderFor(join(rootDir, 'data', HELD));
  const folder = heldFolder(rootDir);
  if (folder === undefined) throw writeFailed(`data/${HELD}`, 'it is a link. Remove the link');
  return folder;
}

/** The real path of a folder, which is made. @throws WRITE_FAILED. */
export function folderFor(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return realpathSync(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw writeFailed(basename(path), `it is no folder and cannot be made (${reason})`, error);
  }
}
