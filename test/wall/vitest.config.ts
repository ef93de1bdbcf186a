import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import fast from '../../vitest.config.ts';

const noGuard = { find: /^skill-registry$/, replacement: fileURLToPath(new URL('no-guard.ts', import.meta.url)) };
const [...alias] = (fast.resolve?.alias ?? []) as { readonly find: RegExp; readonly replacement: string }[];

/** For a copy without features. */
const config: ViteUserConfig = {
  ...fast,
  root: fileURLToPath(new URL('../..', import.meta.url)),
  resolve: { alias: [noGuard, ...alias.filter(({ find }) => find.source !== noGuard.find.source)] },
};
export default config;
