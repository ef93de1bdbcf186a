import type { Page } from 'playwright-core';
import type { SkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { attack } from '../helpers/held.ts';
import { openReview, useBrowser } from './open-review.ts';

useBrowser();

/** With a harmless line, or what looks like an attack. */
async function proposeTen({ proposals, read }: SkillRegistry, seeded: readonly string[]): Promise<readonly string[]> {
  for (const id of seeded) await proposals.reject(id, { by: 'person:eve', reason: 'Not of this test.' });
  for (const { id } of await proposals.list())
    await proposals.reject(id, { by: 'person:eve', reason: 'Not of this test.' });
  const skills = ['code-review', 'release-notes', 'sql-review', 'changelog-style', 'accessible-forms'];
  const ids: string[] = [];
  for (let at = 0; at < 10; at++) {
    const skillId = skills[at % skills.length] as string;
    const { content } = await read(skillId, { audience: 'person' });
    const line = at % 4 === 1 ? attack(60 + at) : `Say it in ${at + 2} words.`;
    // Two of one skill are in different places, so that the second still applies.
    const title = content.match(/^# .*$/m)?.[0] ?? '';
    const last = content.trim().split('\n').at(-1) ?? '';
    const input =
      at < 5
        ? { skillId, oldString: title, newString: `${title}\n\n${line}` }
        : { skillId, oldString: last, newString: `${last}\n\n${line}` };
    ids.push((await proposals.propose({ ...input, justification: `Reason ${at}.`, author: `agent:${at}` })).proposalId);
  }
  return ids;
}

const IS_TAKEN = "document.readyState === 'complete' && document.getAnimations().length === 0";

/** Keys count when a page has been there for half a second. The policy of the page forbids to wait in it. */
const untilTaken = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate(IS_TAKEN), { timeout: 20_000 }).toBe(true);

/** Counts what a person presses, and how far the page was moved. */
function hands(page: Page) {
  const done = { keys: 0, scrolled: 0 };
  return {
    done,
    async press(key: string): Promise<void> {
      await untilTaken(page);
      done.keys += 1;
      done.scrolled += Number(await page.evaluate('scrollY > 0'));
      await page.keyboard.press(key);
    },
  };
}

it('decides ten proposals, three of them hostile, with two keys for each and without scrolling', async () => {
  const { page, at, registry, open, warned, stale } = await openReview({}, { viewport: { width: 1280, height: 800 } });
  const ids = await proposeTen(registry, [open, warned, stale]);
  await page.goto(at('/proposals'));
  const { done, press } = hands(page);
  await press('j');
  await press('Enter');
  for (let left = 10; left > 0; left -= 1) {
    await page.getByText(new RegExp(`\\d of ${left}\\b`)).waitFor();
    const isHostile = (await page.getByText('This looks like an attack').count()) > 0;
    expect(await page.locator('.diff tr.add').first().isVisible()).toBe(true);
    await untilTaken(page);
    await press(isHostile ? 'r' : 'a');
    const address = page.url();
    await press('Enter');
    await page.waitForURL((url) => url.href !== address);
    await page
      .getByText(isHostile ? 'Rejected. Its author' : 'Approved')
      .first()
      .waitFor();
  }
  const states = await Promise.all(ids.map(async (id) => (await registry.proposals.get(id)).state));
  expect(states.filter((state) => state === 'rejected')).toHaveLength(3);
  expect(states.filter((state) => state === 'approved')).toHaveLength(7);
  expect(done).toEqual({ keys: 22, scrolled: 0 });
});

it('takes no key just after a page appears, goes to each finding before approving, and undoes the last decision', async () => {
  const { context, page, at, registry, open, warned } = await openReview(
    {},
    { viewport: { width: 1280, height: 800 } },
  );
  const early = await context.newPage();
  const submits =
    "addEventListener('pageshow', () => setTimeout(() => document.querySelector('.decide form').requestSubmit()))";
  await early.addInitScript(submits);
  await early.goto(at(`/proposals/${open}`));
  await untilTaken(early);
  expect(early.url()).toBe(at(`/proposals/${open}`));
  await early.close();
  expect(await registry.proposals.get(open)).toMatchObject({ state: 'open' });
  await page.goto(at(`/proposals/${open}`));
  const { press } = hands(page);
  await press('a');
  await press('Enter');
  await page.getByText('Approved, and in effect.').waitFor();
  // What this person has done is no news.
  await expect.poll(() => page.evaluate('performance.now() > 2_500'), { timeout: 20_000 }).toBe(true);
  expect(await page.getByText('Something has changed').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Rolled back.').waitFor();
  await page.goto(at(`/proposals/${warned}`));
  const focused = (): Promise<string> => page.evaluate('document.activeElement.innerText.trim()');
  await press('a');
  expect(await focused()).toMatch(/^warning/);
  const findings = await page.locator('[data-finding]').count();
  for (let more = 1; more < findings; more += 1) await press('a');
  await press('a');
  expect(await focused()).toBe('Approve');
  expect(await registry.proposals.get(warned)).toMatchObject({ state: 'open' });
});
