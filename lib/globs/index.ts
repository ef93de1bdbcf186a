import { createRequire } from 'node:module';
import type * as Minimatch from 'minimatch';

const require = createRequire(import.meta.url);

/** Loading it takes as long as reading a hundred skills: only at the first glob. */
export function minimatch(): typeof Minimatch {
  return require('minimatch') as typeof Minimatch;
}
