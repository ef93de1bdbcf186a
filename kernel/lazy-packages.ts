/** Packages that are loaded when they are first used: that takes longer than most commands have to work. */
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type * as Zod from 'zod';

const require = createRequire(import.meta.url);
const zod = (): typeof Zod.z => (require('zod') as typeof Zod).z;

/** `zod` as the kernel and its extensions use it. `package.json` lets `#zod` stand for this file, with the types of the package. */
export const z: typeof Zod.z = new Proxy({} as typeof Zod.z, {
  get: (_, key) => Reflect.get(zod(), key),
  has: (_, key) => Reflect.has(zod(), key),
});

/** The `yaml` package. */
export function yamlPackage(): typeof Yaml {
  return require('yaml') as typeof Yaml;
}
