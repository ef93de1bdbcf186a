import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'skill-registry-user-'));
const home = join(folder, 'home');
mkdirSync(home);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const config: ViteUserConfig = defineConfig({
  resolve: {
    alias: [
      { find: /^#zod$/, replacement: source('./kernel/zod.ts') },
      { find: /^skill-registry\/kernel$/, replacement: source('./kernel/index.ts') },
      { find: /^skill-registry\/mcp$/, replacement: source('./extensions/skill_mcp/index.ts') },
      { find: /^skill-registry\/ai-sdk$/, replacement: source('./extensions/skill_registry/ai-sdk.ts') },
      { find: /^skill-registry\/testing$/, replacement: source('./extensions/skill_registry/testing.ts') },
      { find: /^skill-registry$/, replacement: source('./extensions/skill_registry/index.ts') },
    ],
  },
  test: {
    // Decisions, caches and skills of whoever runs the tests are not touched. Packages come from the cache that is there.
    env: {
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      HOME: home,
      npm_config_cache: join(homedir(), '.npm'),
    },
    setupFiles: [source('./test/own-user-folders.ts')],
    include: ['test/**/*.test.ts'],
    exclude: ['test/slow/**', 'test/browser/**', '**/node_modules/**'],
    // For what hangs: a test that is slow where others work, too, has not failed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One process for many files: to load the kernel anew for each takes longer than most of them.
    isolate: false,
    // One more than the cores of a small machine: a third of their time goes into waiting for timers and other processes.
    maxWorkers: 3,
  },
});
export default config;
