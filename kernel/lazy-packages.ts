/** Packages that are loaded at their first use: loading them takes longer than most commands run. */
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type * as Zod from 'zod';

const require = createRequire(import.meta.url);
const zod = (): typeof Zod.z => (require('zod') as typeof Zod).z;

/** `zod` for the kernel and its extensions. `package.json` maps `#zod` to this file. */
export const z: typeof Zod.z = new Proxy({} as typeof Zod.z, {
  get: (_, key) => Reflect.get(zod(), key),
  has: (_, key) => Reflect.has(zod(), key),
});

/** The `yaml` package. */
export function yamlPackage(): typeof Yaml {
  return require('yaml') as typeof Yaml;
}
