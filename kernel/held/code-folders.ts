import { type Dirent, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { futureRealPath, isInside, isOtherRoot } from '../../lib/files/index.ts';

/**
 * Whether code of extensions lies at a path, by whatever name it is reached: below `extensions/` of the root, or of any root above
 * the path, and wherever links in there lead.
 *
 * @param path - Absolute, real; it need not exist.
 */
export function isCode(rootDir: string, path: string): boolean {
  const roots = [rootDir, ...foldersAbove(path).filter(isOtherRoot)];
  return roots.some((root) => {
    const extensions = futureRealPath(join(root, 'extensions'));
    return [extensions, ...linksBelow(extensions).map((link) => futureRealPath(link))].some((code) =>
      isInside(path, code),
    );
  });
}

// --- internal ---

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Not in `node_modules`, which is large and has a link for each program. */
function linksBelow(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) return [path];
    return entry.isDirectory() && entry.name !== 'node_modules' ? linksBelow(path) : [];
  });
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
