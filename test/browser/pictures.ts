// Makes the pictures of docs/images from seeded data, light and dark. Usage: npm run pictures
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium, NO_CHROMIUM } from './find-chromium.ts';
import { startReview } from './review-process.ts';
import { seed, seedUsage } from './seed.ts';

const executablePath = findChromium();
if (executablePath === undefined) throw new Error(NO_CHROMIUM);
const images = process.argv[2] ?? join(import.meta.dirname, '../../docs/images');
mkdirSync(images, { recursive: true });
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-pictures-')));
const root = join(folder, 'team-skills');
mkdirSync(root);
const { open, warned } = await seed(root);
seedUsage(root, Date.now());
const review = await startReview(root, {
  XDG_STATE_HOME: join(folder, 'state'),
  XDG_CACHE_HOME: join(folder, 'cache'),
});
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const PAGES = {
  inbox: '/',
  proposal: `/proposals/${open}`,
  warned: `/proposals/${warned}`,
  catalog: '/catalog',
  skill: '/skills/code-review',
  usage: '/usage',
};
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1200, height: 800 } });
    const page = await context.newPage();
    await page.goto(review.url);
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(new URL(path, review.url).href);
      await page.screenshot({ path: join(images, `${name}-${colorScheme}.png`) });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await review.stop();
  rmSync(folder, { recursive: true, force: true });
}
