import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Catalog } from '../../../../extensions/skill_registry/core/catalog/catalog.ts';
import { FolderEvents, watchCatalog } from '../../../../extensions/skill_registry/core/catalog/watch.ts';
import { reserve } from '../../../../lib/files/index.ts';
import { type Tree, tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

/** Folders that this process watches. */
function watched(): number {
  const of = (descriptor: string): number => {
    try {
      return readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8').match(/^inotify wd/gm)?.length ?? 0;
    } catch {
      return 0;
    }
  };
  return readdirSync('/proc/self/fd').reduce((sum, descriptor) => sum + of(descriptor), 0);
}

const many = (below: string): Tree => Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${below}/${n}/x`, '']));

it.skipIf(process.platform !== 'linux')(
  'watches nothing of what the registry keeps for itself, which it writes again and again, nor of tools and secrets',
  async () => {
    const root = tempFolder({ 'skills/a/x': '', ...many('data/x'), ...many('.git/x'), ...many('node_modules/x') });
    const reservation = reserve(root);
    reservation.keep([join(root, 'data')]);
    let wakes = 0;
    const before = watched();
    const wake = (): void => void wakes++;
    const events = new FolderEvents({
      depth: 8,
      wake,
      onError(error) {
        throw error;
      },
    });
    onTestFinished(async () => {
      reservation.release();
      await events.close();
    });
    events.follow([root]);
    await waitFor('the watches', () => watched() - before >= 3);
    await waitFor('chokidar to be ready', () => wakes > 1);
    expect(watched() - before).toBeLessThan(10);
  },
);

it('looks at every interval without events, and beside events less often, when a look takes long', async () => {
  const looks = { events: 0, poll: 0 };
  const ending = new AbortController();
  const watching = (['events', 'poll'] as const).map((mode) => {
    const catalog = {
      sources: () => [],
      onChange: () => () => true,
      async refresh() {
        looks[mode] += 1;
        for (const until = performance.now() + 20; performance.now() < until; );
      },
    } as unknown as Catalog;
    const onError = (error: unknown): void => {
      throw error;
    };
    const options = { catalog, watch: { mode, interval_seconds: 0.05 }, scanDepth: 1, onMode: () => {}, onError };
    return watchCatalog(options, ending.signal);
  });
  await waitFor('twenty looks without events', () => looks.poll >= 20);
  ending.abort();
  await Promise.all(watching);
  // One at the first interval; the next after twenty milliseconds in 0.3 % of a core: seven seconds. Twenty looks take two.
  expect(looks.events).toBeGreaterThan(0);
  expect(looks.events).toBeLessThan(10);
});
