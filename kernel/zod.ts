/** `package.json` maps `#zod` to this file, with the types of the package. zod loads at first use. */
import type * as Zod from 'zod';
import { zod } from '../lib/arguments/index.ts';

export const z: typeof Zod.z = new Proxy({} as typeof Zod.z, {
  get: (_, key) => Reflect.get(zod(), key),
  has: (_, key) => Reflect.has(zod(), key),
});
