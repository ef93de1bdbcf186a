import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the installed package: of package.json, whether this file is a source or was built into dist/. */
export function packageRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir);
  return dir;
}

/** Our own extensions as they run: beside this kernel, so in dist/ when it was built. */
export function builtExtensions(): string {
  return join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'extensions');
}

/** Ids of the extensions that come with the package. */
export function ownExtensionIds(): readonly string[] {
  return readdirSync(builtExtensions(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

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
