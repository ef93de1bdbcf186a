import { existsSync, readdirSync } from 'node:fs';
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
