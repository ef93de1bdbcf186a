import type { ViteUserConfig } from 'vitest/config';
import fast from './vitest.config.ts';

/**
 * What takes longer than a developer wants to wait: packing, installing, killing, hostile input, limits. Nothing that ends takes a
 * quarter of an hour.
 */
const config: ViteUserConfig = {
  ...fast,
  test: {
    env: fast.test?.env ?? {},
    setupFiles: fast.test?.setupFiles ?? [],
    include: ['test/slow/**/*.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // On two cores one process is the default; most of these tests wait for processes of their own.
    maxWorkers: 2,
  },
};
export default config;
