import type { ViteUserConfig } from 'vitest/config';
import fast from './vitest.config.ts';

/** The review page in a real browser. Needs Debian's chromium; without it every test is skipped, or fails where SKILL_BROWSER=required. */
const config: ViteUserConfig = {
  ...fast,
  test: {
    env: fast.test?.env ?? {},
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One browser at a time: each takes more than a core.
    fileParallelism: false,
  },
};
export default config;
