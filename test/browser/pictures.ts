// Makes the pictures of docs/images from seeded data, light and dark. Usage: npm run pictures
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium, NO_CHROMIUM } from './find-chromium.ts';
import { startReview } from './review-process.ts';
import { seed, seedUsage } from './seed.ts';

const WIDTH = 1200;
const executablePath = findChromium();
if (executablePath === undefined) throw new Error(NO_CHROMIUM);
const images = process.argv[2] ?? join(import.meta.dirname, '../../docs/images');
mkdirSync(images, { recursive: true });
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-pictures-')));
const root = join(folder, 'team-skills');
mkdirSync(root);
const { warned } = await seed(root);
seedUsage(root, Date.now());
const review = await startReview(root, {
  XDG_STATE_HOME: join(folder, 'state'),
  XDG_CACHE_HOME: join(folder, 'cache'),
});
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
/** The address of each picture, and how much of the page is on it at most. */
const PAGES = {
  inbox: { path: '/', most: 1000 },
  proposal: { path: `/proposals/${warned}`, most: 1600 },
  catalog: { path: '/catalog', most: 900 },
  skill: { path: '/skills/code-review', most: 900 },
  usage: { path: '/usage', most: 1260 },
};
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width: WIDTH, height: 800 } });
    const page = await context.newPage();
    await page.goto(review.url);
    for (const [name, { path, most }] of Object.entries(PAGES)) {
      await page.goto(new URL(path, review.url).href);
      // Without the footer, which names a folder of this machine.
      const footer = await page.locator('footer').boundingBox();
      const height = Math.min(most, Math.floor(footer?.y ?? most));
      const clip = { x: 0, y: 0, width: WIDTH, height };
      await page.screenshot({ path: join(images, `${name}-${colorScheme}.png`), fullPage: true, clip });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await review.stop();
  rmSync(folder, { recursive: true, force: true });
}
