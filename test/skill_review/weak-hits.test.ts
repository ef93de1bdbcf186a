import { expect, it } from 'vitest';
import { reviewPage, textOf } from '../helpers/review-page.ts';
import { skillMd } from '../helpers/temp-folder.ts';

const SAID = 'These may not fit; they are only the nearest.';

it('says above what a search found that it may not fit, and only then', async () => {
  const page = await reviewPage({
    'skills/trip/SKILL.md': skillMd({ name: 'trip', description: 'Plans a trip: hotels, trains and days.' }),
  });
  const found = async (path: string): Promise<string> => textOf((await page.get(path)).text);
  const weak = await found('/catalog?q=which+trains+would+elephants+elect+for+their+council');
  expect(weak).toContain(`1 skill. ${SAID}`);
  expect(weak).toContain('trip');
  for (const path of ['/catalog', '/catalog?q=trip+with+trains', '/catalog?q=trip', '/catalog?q=zyxvut'])
    expect(await found(path), path).not.toContain(SAID);
});
