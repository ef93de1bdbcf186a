import { readdirSync, realpathSync } from 'node:fs';

/** Folders of `<root>/extensions`, without those of ours in a checkout of the package. */
export function foldersOfRoot(rootDir: string, packageDir: string, twins: string): readonly string[] {
  const rootIsOurs = sameFolder(rootDir, twins) || sameFolder(rootDir, packageDir);
  const own = rootIsOurs ? foldersOf(packageDir) : [];
  return foldersOf(rootDir).filter((name) => !own.includes(name));
}

/** Names of the folders in a folder, links to folders included, without hidden ones; none where it does not exist. */
export function foldersOf(dir: string): readonly string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort();
  } catch {
    // A root without an extensions folder is the usual case.
    return [];
  }
}

// --- internal ---

function sameFolder(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}
