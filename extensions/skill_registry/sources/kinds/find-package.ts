import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGE_NAME } from '../../config/package-name.ts';

export function isPackageName(name: string): boolean {
  return name.length <= 214 && PACKAGE_NAME.test(name);
}

/**
 * The folder of an installed package, looked for in `node_modules` of `from` and of every folder above it, the way Node does.
 * Its `exports` do not matter: the folder is wanted, not a module.
 */
export function findPackage(name: string, from: string): string | undefined {
  return packageFolders(name, from).find((folder) => existsSync(join(folder, 'package.json')));
}

/** Every folder the package could be in, nearest first. */
export function packageFolders(name: string, from: string): readonly string[] {
  const folder = join(from, 'node_modules', ...name.split('/'));
  return from === dirname(from) ? [folder] : [folder, ...packageFolders(name, dirname(from))];
}
