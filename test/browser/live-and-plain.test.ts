import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openReview, useBrowser } from './open-review.ts';

useBrowser();

const TEXT = '---\nname: tea\ndescription: Brews tea.\n---\n\nWarm the pot.\n';

const FOCUSED = "(document.activeElement.labels?.[0] ?? document.activeElement).innerText ?? ''";

/** Presses Tab until the element that has the focus has this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  // Nothing is decided just after a page appears.
  await expect.poll(() => page.evaluate('document.getAnimations().length === 0'), { timeout: 20_000 }).toBe(true);
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(FOCUSED);
    if (focused.trim() === name) return;
  }
  throw new Error(`no Tab leads to ${name}`);
}

it('shows what arrives from another process without being loaded again', async () => {
  const { page, registry } = await openReview();
  await page.evaluate('window.stayed = true');
  const input = {
    skillId: 'tea',
    kind: 'create' as const,
    content: TEXT,
    justification: 'Asked for.',
    author: 'agent:x',
  };
  const { proposalId } = await registry.proposals.propose(input);
  const link = page.getByRole('link', { name: /tea/ });
  await link.waitFor();
  await registry.proposals.reject(proposalId, { by: 'person:eve', reason: 'No.' });
  await link.waitFor({ state: 'detached' });
  expect(await page.evaluate('window.stayed')).toBe(true);
});

it('is used by the keyboard alone, with the focus in sight', async () => {
  const { page, at, registry, open, root } = await openReview();
  await page.keyboard.press('Tab');
  expect(await page.evaluate("document.activeElement.getAttribute('href')")).toBe('#main');
  await tabTo(page, 'release-notes/SKILL.md');
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
  expect(outline).not.toBe('none');
  await page.keyboard.press('Enter');
  await page.waitForURL(at(`/proposals/${open}`));
  await tabTo(page, 'Approve');
  await page.keyboard.press('Enter');
  await page.getByText('Approved, and in effect.').waitFor();
  expect(await registry.proposals.get(open)).toMatchObject({ state: 'approved' });
  await page.goto(at('/catalog'));
  await tabTo(page, 'Search');
  await page.keyboard.type('slow query');
  await page.getByRole('status').getByText('1 skill').waitFor();
  await tabTo(page, 'Disable');
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Enable sql-review for every agent' }).waitFor();
  expect(readFileSync(join(root, 'data/skill_registry/config.yaml'), 'utf8')).toContain('sql-review');
});

it('does the same without JavaScript', async () => {
  const { page, at, registry, open, warned } = await openReview({}, { javaScriptEnabled: false });
  await page.goto(at(`/proposals/${open}`));
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('Approved, and in effect.').waitFor();
  await page.goto(at(`/proposals/${warned}/edit`));
  await page.getByLabel('The whole text of SKILL.md').fill(TEXT.replaceAll('tea', 'sql-review'));
  await page.getByRole('button', { name: 'Save and look at it' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await registry.proposals.text(warned)).toMatchObject({ content: expect.stringContaining('Warm the pot.') });
  await page.goto(at('/catalog'));
  await page.getByLabel('Search').fill('slow query');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('1 skill').waitFor();
  await page.getByRole('button', { name: 'Disable sql-review for every agent' }).click();
  await page.getByRole('button', { name: 'Enable sql-review for every agent' }).waitFor();
  expect(page.url()).toBe(at('/catalog?q=slow+query'));
});

it('searches as one types, keeps the words in the address, and switches a skill off and on at once', async () => {
  const { page, at, root } = await openReview();
  await page.goto(at('/catalog'));
  await page.evaluate('window.stayed = true');
  await page.getByText('9 skills').waitFor();
  await page.getByLabel('Search').pressSequentially('report of an incident');
  await page.waitForURL(/q=report\+of\+an\+incident/);
  const first = page.locator('#skills li').first();
  await first.getByRole('link', { name: 'incident-report' }).waitFor();
  await page.getByLabel('Search').fill('');
  await page.getByText('9 skills').waitFor();
  await page.getByLabel('Tag').selectOption('quality');
  await page.getByText('3 skills').waitFor();
  expect(await page.evaluate('window.stayed')).toBe(true);
  const config = (): string => readFileSync(join(root, 'data/skill_registry/config.yaml'), 'utf8');
  await page.getByRole('button', { name: 'Disable code-review for every agent' }).click();
  const card = page.locator('#skills li', { hasText: 'code-review' });
  await card.getByText('shown to nobody: disabled in the config').waitFor();
  expect(config()).toContain('code-review');
  await card.getByRole('button').click();
  await card.getByText(/shown to all/).waitFor();
  expect(config()).not.toContain('code-review');
  expect(page.url()).toBe(at('/catalog?tag=quality'));
});
