import type { ViteUserConfig } from 'vitest/config';
import fast from './vitest.config.ts';

/** What takes longer than a developer wants to wait: packing, installing, killing. */
const config: ViteUserConfig = {
  ...fast,
  test: { env: fast.test?.env ?? {}, include: ['test/slow/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 },
};
export default config;
