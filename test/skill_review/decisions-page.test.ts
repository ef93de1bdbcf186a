import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTrust } from '../../lib/trust/index.ts';
import { formsOf, reviewPage, textOf } from '../helpers/review-page.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const BY_ADA = { by: 'person:ada', reason: 'review page' };

it('says who decided what, when and why, and approves and revokes the root', async () => {
  const page = await reviewPage();
  expect(textOf((await page.get('/decisions')).text)).toContain('Not approved');
  await page.send('/decisions', '/decisions/root/allow', { reason: 'It is mine.' });
  expect(openTrust().allows('root', page.root)).toBe(true);
  const text = textOf((await page.get('/decisions')).text);
  expect(text).toContain('Approved: its extensions, packages, addresses and .env take effect.');
  expect(text).toMatch(/allowed\s*root.*person:ada.*It is mine\. \(review page\)/s);
  await page.send('/decisions', '/decisions/root/revoke');
  expect(openTrust().allows('root', page.root)).toBe(false);
});

it('revokes where skills come from, so that nothing is taken from there, and takes it back', async () => {
  const from = tempFolder({ 'cup/SKILL.md': skillMd({ name: 'cup', description: 'A cup.' }, 'Drink.') });
  const page = await reviewPage();
  const plan = await page.registry.origin.add(from, { all: true });
  await plan.apply({ by: 'person:ada' });
  const source = (await page.registry.origin.sources())[0]?.source ?? '';
  expect(textOf((await page.get('/decisions')).text)).toContain(source);
  await page.send('/decisions', '/decisions/source/revoke');
  expect(openTrust().decisions()).toContainEqual(
    expect.objectContaining({ kind: 'source', path: source, action: 'revoke', ...BY_ADA }),
  );
  await expect(page.registry.origin.add(from, { all: true })).rejects.toMatchObject({ code: 'SOURCE_REVOKED' });
  await page.send('/decisions', '/decisions/source/allow');
  expect(await page.registry.origin.add(from, { all: true })).toMatchObject({ skills: [], installed: ['cup'] });
  const other = await page.post('/decisions/source/revoke', { source: 'https://elsewhere.example/' });
  expect(other.status).toBe(400);
});

it('records who switched a skill off and on, also for one agent', async () => {
  const page = await reviewPage({}, {}, { agents: async () => [{ agentId: 'brewer' }] });
  await page.send('/skills/tea/agents', '/skills/tea/agents/off');
  await page.send('/skills/tea/agents', '/skills/tea/agents/on');
  await page.send('/skills/tea', '/skills/tea/disabled');
  const made = openTrust().decisions();
  const of = { kind: 'switch', path: page.root, skill: 'tea', ...BY_ADA };
  expect(made).toContainEqual(expect.objectContaining({ ...of, agent: 'brewer', action: 'allow' }));
  expect(made).toContainEqual(expect.objectContaining({ ...of, agent: null, action: 'revoke' }));
});

it('removes a skill as it was shown, which its history restores', async () => {
  const page = await reviewPage();
  const form = formsOf((await page.get('/skills/tea')).text).find(({ action }) => action === '/skills/tea/remove');
  const stale = await page.post('/skills/tea/remove', { ...form?.fields, digest: 'sha256:0' });
  expect([stale.status, textOf(stale.text).includes('has changed since this page was shown.')]).toEqual([409, true]);
  const gone = await page.post('/skills/tea/remove', { ...form?.fields, reason: 'Nobody drinks it.' });
  expect([gone.status, gone.headers.location]).toEqual([303, '/skills/tea/history']);
  expect(existsSync(join(page.root, 'skills/tea'))).toBe(false);
  expect((await page.registry.history.revisions('tea')).at(-1)).toMatchObject({
    ...{ kind: 'removed', by: 'person:ada', reason: 'Nobody drinks it. (review page)' },
  });
  await page.send('/skills/tea/history', '/skills/tea/restore');
  expect(existsSync(join(page.root, 'skills/tea/SKILL.md'))).toBe(true);
});
