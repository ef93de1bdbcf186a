import { expect, it } from 'vitest';
import { usageLine } from '../../../extensions/skill_registry/features/usage/pages.ts';
import type { UsageReport } from '../../../extensions/skill_registry/features/usage/types.ts';
import { reviewPage, textOf } from '../../helpers/review-page.ts';

it('says one of a thing in the singular', () => {
  const totals = { offers: 1, loads: 1, resources: 0, refusals: 1, failures: 1, tokens: 1 };
  const range = { since: '2026-11-21T00:00:00.000Z', until: '2026-11-22T16:00:00.000Z' };
  const line = textOf(String(usageLine({ totals, ...range } as UsageReport, 'tea')));
  expect(line).toContain('In the last 1 day: loaded 1 time, offered 1 time, refused 1 time, failed 1 time.');
});

it('says of the usage of 30 days that it is of 30 days, at every hour', async () => {
  const page = await reviewPage();
  expect(textOf((await page.get('/skills/tea/evidence')).text)).toContain('In the last 30 days:');
  for (const until of ['2026-11-22T00:00:00.000Z', '2026-11-22T23:59:59.999Z']) {
    const totals = { offers: 0, loads: 0, resources: 0, refusals: 0, failures: 0, tokens: 0 };
    const report = { totals, since: '2026-10-23T00:00:00.000Z', until } as UsageReport;
    expect(textOf(String(usageLine(report, 'tea')))).toContain('In the last 30 days:');
  }
  const { text } = await page.get('/usage');
  expect(textOf(text)).toContain('last 30 days');
  expect(textOf(text)).not.toMatch(/\b31\b days/);
});
