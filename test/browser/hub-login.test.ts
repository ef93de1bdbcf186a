import { expect, it, onTestFinished } from 'vitest';
import { DEPLOY, openHub, sentChange } from '../helpers/hub.ts';
import { hubWithProvider } from '../helpers/identity-provider.ts';
import { newContext, useBrowser } from './open-review.ts';

useBrowser();

it('takes a person by the page of another site to the inbox, to a decision, and out again', async () => {
  const before = await openHub();
  const admin = await before.token('admin', 'root');
  await before.publish(admin, 'deploy', DEPLOY);
  await before.close();
  const accounts = { 'sub-bob': { email: 'bob@shop.example', groups: ['reviewers', 'ops'] } };
  const hub = await hubWithProvider(accounts, { folder: before.folder });
  const carol = await hub.token('proposer', 'carol');
  const { json } = await hub.ask(carol, 'POST', '/proposals', sentChange(await hub.digest(carol, 'deploy')));
  const context = await newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(hub.url);
  await page.getByRole('link', { name: /^Log in at localhost:/ }).click();
  await page.locator('[name=login]').fill('sub-bob');
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
  await page
    .getByRole('heading', { name: /Inbox|to decide/i })
    .first()
    .waitFor();
  expect(page.url()).toBe(`${hub.url}/`);
  // A link of a message opens it as well.
  await page.goto('about:blank');
  await page.goto(`${hub.url}/proposals/${json.proposal_id}`);
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByText('Approved, and in effect.').first().waitFor();
  expect((await hub.store.proposal('team', json.proposal_id))?.decided_by).toBe('person:bob@shop.example');
  await page.getByRole('link', { name: 'Log out, or another space' }).click();
  await page.getByRole('button', { name: 'ops' }).click();
  await page
    .getByText('the space ops')
    .or(page.getByText('ops', { exact: true }))
    .first()
    .waitFor();
  await page.goto(`${hub.url}/enter`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Your token').waitFor();
  await page.goto(`${hub.url}/catalog`);
  await page.getByText('You are not let in.').waitFor();
  expect(hub.errors).toEqual([]);
});
