import { type Dirent, readdirSync } from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { futureRealPath, isInside, isOtherRoot } from '../../lib/files/index.ts';
import { openTrust } from '../../lib/trust/index.ts';

/**
 * Whether code of extensions lies at a path, by whatever name it is reached: below `extensions/` or `node_modules/` of the root, or
 * of any root above the path, and wherever links in there lead, and the links in what those lead to. What lies in `data/` of a root
 * that a person has approved counts as well: its settings say what may be done there.
 *
 * @param path - Absolute, real; it need not exist.
 */
export function isCode(rootDir: string, path: string): boolean {
  const above = foldersAbove(path);
  const trust = openTrust();
  const approved = above.filter((folder) => trust.allows('root', folder));
  if (approved.some((root) => isInside(path, futureRealPath(join(root, 'data'))))) return true;
  return [rootDir, ...approved, ...above.filter(isOtherRoot)].some((root) => {
    for (const place of placesOfCode(root)) if (isInside(path, place)) return true;
    return false;
  });
}

// --- internal ---

/** Who links to more folders than these has linked to everything. */
const MAX_FOLDERS = 10_000;

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Real paths. Links that lead in circles are followed once. */
function* placesOfCode(root: string): Generator<string> {
  const folders = [join(root, 'extensions'), join(root, 'node_modules')].map((folder) => futureRealPath(folder));
  yield* folders;
  const seen = new Set<string>();
  for (const folder of folders) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    if (seen.size > MAX_FOLDERS) return yield parse(folder).root;
    for (const entry of entriesOf(folder)) {
      const isLink = entry.isSymbolicLink();
      if (!isLink && !entry.isDirectory()) continue;
      const place = isLink ? futureRealPath(join(folder, entry.name)) : join(folder, entry.name);
      if (isLink) yield place;
      if (!isInstalled(place)) folders.push(place);
    }
  }
}

/** A package in `node_modules`, or a folder such as `.bin`: large, and its links lead to other packages. */
function isInstalled(folder: string): boolean {
  return /[\\/]node_modules[\\/](@[^\\/]+[\\/][^\\/]+|[^@\\/][^\\/]*)$/.test(folder);
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
