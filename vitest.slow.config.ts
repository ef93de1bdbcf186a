import type { ViteUserConfig } from 'vitest/config';
import fast from './vitest.config.ts';

/** What takes longer than a developer wants to wait: packing, installing, killing. Nothing that ends takes a quarter of an hour. */
const config: ViteUserConfig = {
  ...fast,
  test: { env: fast.test?.env ?? {}, include: ['test/slow/**/*.test.ts'], testTimeout: 900_000, hookTimeout: 900_000 },
};
export default config;
