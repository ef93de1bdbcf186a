import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import fast from '../../vitest.config.ts';

const noGuard = fileURLToPath(new URL('no-guard.ts', import.meta.url));
const [...alias] = (fast.resolve?.alias ?? []) as { readonly find: RegExp; readonly replacement: string }[];
const LIBRARY = /^skill-registry$/;

/** For a copy without a guard: the library, and the extension, are opened without one. */
const config: ViteUserConfig = {
  ...fast,
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { ...fast.test, include: ['test/**/*.test.ts', 'test/wall/*.wall.ts'] },
  plugins: [
    {
      name: 'no-guard',
      enforce: 'pre',
      resolveId: (source, importer) =>
        source === './registry.ts' && importer?.endsWith('/skill_registry/main.ts') ? noGuard : undefined,
    },
  ],
  resolve: {
    alias: [{ find: LIBRARY, replacement: noGuard }, ...alias.filter(({ find }) => find.source !== LIBRARY.source)],
  },
};
export default config;
