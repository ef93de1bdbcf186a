import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { type OpenReview, openReview, useBrowser } from './open-review.ts';
import { seedUsage } from './seed.ts';

useBrowser();

/** Every kind of page. */
function pagesOf({ open, warned, stale }: OpenReview): readonly string[] {
  return [
    ...[
      '/',
      '/proposals',
      '/catalog',
      '/catalog?q=nothing+fits+this',
      '/usage',
      '/usage?agent=nobody',
      '/updates',
      '/problems',
      '/decisions',
    ],
    ...[`/proposals/${open}`, `/proposals/${open}?view=split`, `/proposals/${warned}`, `/proposals/${stale}`],
    ...[`/proposals/${open}/edit`, `/proposals/${stale}/edit`, '/extensions/ticket_tool', '/skills/fast-setup'],
    ...[
      '/skills/code-review',
      '/skills/code-review/files',
      '/skills/code-review/agents',
      '/skills/incident-report/history',
    ],
    ...['/skills/incident-report/history/2', '/skills/incident-report/rollback/1', '/no-such-page'],
  ];
}

/** What axe-core calls serious or critical. Its source is evaluated by the debugger, which the policy of the page does not bind. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate<
    readonly string[]
  >(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ')))`);
}

it.each(['light', 'dark'] as const)('has no serious fault for axe-core on any page, %s', async (colorScheme) => {
  const review = await openReview({}, { colorScheme });
  seedUsage(review.root, Date.now());
  const faults: string[] = [];
  for (const path of pagesOf(review)) {
    await review.page.goto(review.at(path));
    faults.push(...(await faultsOf(review.page)).map((fault) => `${path}: ${fault}`));
  }
  const refused = await review.context.newPage();
  await review.context.clearCookies();
  await refused.goto(review.at('/'));
  faults.push(...(await faultsOf(refused)));
  expect(faults).toEqual([]);
});

it('fits a screen of 360 pixels without being pushed sideways', async () => {
  const review = await openReview({}, { viewport: { width: 360, height: 740 } });
  seedUsage(review.root, Date.now());
  const wide: string[] = [];
  for (const path of pagesOf(review)) {
    await review.page.goto(review.at(path));
    const width = await review.page.evaluate<number>('document.documentElement.scrollWidth');
    if (width > 360) wide.push(`${path}: ${width}`);
  }
  expect(wide).toEqual([]);
});
