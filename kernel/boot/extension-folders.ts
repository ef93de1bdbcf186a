import { type Dirent, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { withFallback } from '../errors.ts';

export interface Root {
  readonly dir: string;
  /** A person may approve the root while the kernel runs. */
  trusted: boolean;
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
}

/** The folder with this package's package.json, both for sources and for dist/. */
export function packageRoot(): string {
  return nearestWith('package.json');
}

export function isExtensionName(name: string): boolean {
  return /^[a-z][a-z0-9_-]{0,63}$/.test(name);
}

/** In dist/ when the kernel runs from dist/. */
export function builtExtensions(): string {
  return join(nearestWith('extensions'), 'extensions');
}

export function ownExtensionIds(): readonly string[] {
  return foldersOf(builtExtensions());
}

/** In a checkout of the package, without the package's own extensions. */
export function foldersOfRoot(
  rootDir: string,
  packageDir: string = builtExtensions(),
  ownSources: string = join(packageRoot(), 'extensions'),
): readonly string[] {
  const rootIsOurs = sameFolder(rootDir, ownSources) || sameFolder(rootDir, packageDir);
  const own = rootIsOurs ? foldersOf(packageDir) : [];
  return foldersOf(rootDir).filter((name) => !own.includes(name));
}

/** In the order they are tried. */
export const CODE_ENDINGS: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];

export function codeFilesOf(dir: string): readonly string[] {
  return entriesOf(dir)
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && !/\.d\.m?ts$/.test(entry.name))
    .map(({ name }) => name)
    .filter((name) => CODE_ENDINGS.includes(extname(name)))
    .sort();
}

/** Folders and links, without hidden ones. Empty when the folder does not exist. */
export function foldersOf(dir: string): readonly string[] {
  return entriesOf(dir)
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

// --- internal ---

function entriesOf(dir: string): readonly Dirent[] {
  return withFallback(() => readdirSync(dir, { withFileTypes: true }), []);
}

/** Searches upwards, because the build moves modules. */
function nearestWith(name: string): string {
  let dir = import.meta.dirname;
  while (!existsSync(join(dir, name))) dir = dirname(dir);
  return dir;
}

function sameFolder(a: string, b: string): boolean {
  return withFallback(() => realpathSync(a) === realpathSync(b), false);
}
