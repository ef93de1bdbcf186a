/** Packages that are loaded when they are first needed: that takes longer than most commands have to work. */
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type * as Zod from 'zod';

/**
 * `zod` as the kernel and its extensions use it, loaded at the first property anybody asks for. `package.json` lets `#zod` stand for this file, with the types of the package itself.
 */
export const z: typeof Zod.z = new Proxy({} as typeof Zod.z, {
  get: (_, key) => Reflect.get(load(), key),
  has: (_, key) => Reflect.has(load(), key),
});

/** The `yaml` package. */
export function yamlPackage(): typeof Yaml {
  loadedYaml ??= createRequire(import.meta.url)('yaml') as typeof Yaml;
  return loadedYaml;
}

// --- internal ---

let loadedYaml: typeof Yaml | undefined;
let loadedZod: typeof Zod.z | undefined;

function load(): typeof Zod.z {
  loadedZod ??= (createRequire(import.meta.url)('zod') as typeof Zod).z;
  return loadedZod;
}
