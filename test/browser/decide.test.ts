import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openReview, useBrowser } from './open-review.ts';

useBrowser();

const PRINTED = /^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}$/;

it('lets a person in by the printed address, shows a proposal, and writes what is approved to the disk', async () => {
  const { root, page, at, open, process, registry } = await openReview();
  expect(process.url).toMatch(PRINTED);
  expect(page.url()).toBe(at('/'));
  await page.getByRole('link', { name: 'release-notes/SKILL.md' }).click();
  const text = page.locator('main');
  await text.getByText('Readers ask for what breaks first.').waitFor();
  await text.getByText('Why', { exact: true }).click();
  await text.getByText('6 of the last 10 notes').waitFor();
  expect(await text.textContent()).toContain('Put breaking changes first, each with what a reader has to do.');
  const file = join(root, 'skills/release-notes/SKILL.md');
  expect(readFileSync(file, 'utf8')).not.toContain('breaking');
  await page.getByLabel('A note').fill('As agreed.');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByRole('status').getByText('Approved, and in effect.').waitFor();
  expect(readFileSync(file, 'utf8')).toContain('2. Put breaking changes first');
  await page.goto(at('/skills/release-notes/history'));
  const row = page.getByRole('row', { name: /proposal.*person:ada.*As agreed\./ });
  await row.getByRole('link', { name: '2', exact: true }).click();
  await page.getByText('Put breaking changes first').first().waitFor();
  const { decision } = await registry.proposals.get(open);
  expect(decision).toMatchObject({ by: 'person:ada', reason: expect.stringContaining('As agreed.') });
  // The address works until the process ends.
  await page.goto(process.url);
  expect(page.url()).toBe(at('/'));
});

it('rejects with a reason, and not without one', async () => {
  const { page, at, warned, registry, root } = await openReview();
  await page.goto(at(`/proposals/${warned}`));
  await page.getByRole('button', { name: 'Reject' }).click();
  // The browser asks for the field.
  expect(await registry.proposals.get(warned)).toMatchObject({ state: 'open' });
  await page.getByLabel('Why it is rejected').fill('   ');
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Nothing was decided.').waitFor();
  await page.getByLabel('Why it is rejected').fill('It hides what it skips.');
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Rejected. Its author is shown the reason.').waitFor();
  expect(await registry.proposals.get(warned)).toMatchObject({
    state: 'rejected',
    decision: { by: 'person:ada', reason: expect.stringContaining('It hides what it skips.') },
  });
  expect(readFileSync(join(root, 'skills/sql-review/SKILL.md'), 'utf8')).not.toContain('curl');
});

it('approves nothing that does not apply any more, or that has changed since it was shown', async () => {
  const { page, at, open, stale, registry, root } = await openReview();
  await page.goto(at(`/proposals/${stale}`));
  await page.getByText('It does not apply any more').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await page.goto(at(`/proposals/${open}`));
  const file = join(root, 'skills/release-notes/SKILL.md');
  const before = readFileSync(file, 'utf8');
  const { content } = await registry.proposals.text(open);
  await registry.proposals.edit(open, { content: `${content}\nAnd one more line.\n`, by: 'person:eve' });
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('Nothing was decided.').waitFor();
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(await page.locator('main').textContent()).toContain('And one more line.');
});

it('solves the conflict of a stale one in the editor, and approves what was written there', async () => {
  const { page, at, stale, root } = await openReview();
  await page.goto(at(`/proposals/${stale}`));
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  const field = page.getByLabel('The whole text of SKILL.md');
  const both = await field.inputValue();
  expect(both).toMatch(/<{7}[\s\S]*within five working days[\s\S]*={7}[\s\S]*within one day[\s\S]*>{7}/);
  await field.fill(both.replace(/<{7}[\s\S]*>{7}.*\n/, 'The report is due within three days.\n'));
  await page.getByRole('button', { name: 'Save and approve' }).click();
  await page.getByText('Approved').first().waitFor();
  const text = readFileSync(join(root, 'skills/incident-report/SKILL.md'), 'utf8');
  expect(text).toContain('The report is due within three days.\n');
  expect(text).not.toContain('<<<<');
});

it('allows a held skill, and an extension that an agent wrote, after both were shown', async () => {
  const { page, at, registry, root } = await openReview();
  await page.getByRole('link', { name: 'fast-setup' }).click();
  await page.getByText('Held: no agent is given it').waitFor();
  expect(await page.locator('main').textContent()).toContain('203.0.113.90');
  await page.getByLabel('Reason, for people who ask later').fill('Our own server.');
  await page.getByRole('button', { name: 'Allow' }).click();
  // The browser asks for the id of the skill, and one that was mistyped allows nothing.
  const id = page.getByLabel('To allow it, type the id of the skill: fast-setup');
  await id.fill('fast');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('Nothing was decided.').waitFor();
  await id.fill('fast-setup');
  await page.getByLabel('Reason, for people who ask later').fill('Our own server.');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('Allowed. Agents are given it').waitFor();
  await registry.refresh();
  expect(registry.visible().map(({ id }) => id)).toContain('fast-setup');
  await page.goto(at('/'));
  await page.getByRole('link', { name: 'extensions/ticket_tool' }).click();
  await page.getByText('export class TicketTool').first().waitFor();
  expect(existsSync(join(root, 'extensions/ticket_tool'))).toBe(false);
  await page.getByRole('button', { name: /Approve/ }).click();
  await page.getByText('Approved. The next start').waitFor();
  expect(readFileSync(join(root, 'extensions/ticket_tool/main.js'), 'utf8')).toContain('TicketTool');
});
