import { createRequire } from 'node:module';
import type * as Zod from 'zod';

/**
 * `zod` as the kernel and its extensions use it, loaded at the first property anybody asks for: that takes longer than most
 * commands have to work. `package.json` lets `#zod` stand for this file, with the types of the package itself.
 */
export const z: typeof Zod.z = new Proxy({} as typeof Zod.z, {
  get: (_, key) => Reflect.get(load(), key),
  has: (_, key) => Reflect.has(load(), key),
});

// --- internal ---

let loaded: typeof Zod.z | undefined;

function load(): typeof Zod.z {
  loaded ??= (createRequire(import.meta.url)('zod') as typeof Zod).z;
  return loaded;
}
