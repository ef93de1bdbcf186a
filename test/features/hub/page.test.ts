import { expect, it } from 'vitest';
import { DEPLOY, openHub, sentChange } from '../../helpers/hub.ts';
import { enter } from '../../helpers/hub-page.ts';

async function withProposal() {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  const base = await hub.digest(admin, 'deploy');
  const carol = await hub.token('proposer', 'carol');
  const sent = { ...sentChange(base), agent: 'builder' };
  const { proposal_id: id } = (await hub.ask(carol, 'POST', '/proposals', sent)).json;
  return { hub, admin, carol, id: id as string };
}

it('lets a reviewer in by a token, and shows the inbox of the team, where a proposal is approved', async () => {
  const { hub, carol, id } = await withProposal();
  const bob = await enter(hub, await hub.token('reviewer', 'bob'));
  expect(bob.status).toBe(303);
  expect(bob.attributes).toMatch(/HttpOnly; SameSite=Strict/);
  const inbox = await bob.get('/');
  expect(inbox.text).toContain('agent:builder of person:carol');
  expect(inbox.text).not.toContain(hub.folder);
  const page = (await bob.get(`/proposals/${id}`)).text;
  const fields = {
    csrf: bob.field(page, 'csrf'),
    version: bob.field(page, 'version'),
    blocks: bob.field(page, 'blocks'),
  };
  expect((await bob.post(`/proposals/${id}/approve`, { ...fields, csrf: 'x' })).status).toBe(403);
  expect((await bob.post(`/proposals/${id}/approve`, fields, { origin: 'http://evil.example' })).status).toBe(403);
  expect((await bob.post(`/proposals/${id}/approve`, fields)).status).toBe(303);
  const shown = (await hub.ask(carol, 'GET', `/proposals/${id}`)).json;
  expect(shown).toMatchObject({ state: 'approved', decided_by: 'person:bob', revision: 2 });
  expect((await bob.get('/skills/deploy')).text).toContain('Make it.');
  expect((await bob.get('/skills/deploy/history')).text).toContain('person:bob');
  const back = (await bob.get('/skills/deploy/rollback/1')).text;
  const rollback = {
    csrf: bob.field(back, 'csrf'),
    present: bob.field(back, 'present'),
    blocks: bob.field(back, 'blocks'),
  };
  expect((await bob.post('/skills/deploy/rollback/1', rollback)).status).toBe(303);
  expect((await bob.get('/skills/deploy')).text).toContain('Build it.');
  for (const path of [
    '/catalog',
    '/proposals',
    '/problems',
    '/several',
    '/skills/deploy/files',
    '/skills/deploy/agents',
  ])
    expect([path, (await bob.get(path)).status]).toEqual([path, 200]);
  expect(hub.errors).toEqual([]);
});

it('has no page of the machine that it runs on', async () => {
  const { hub, id } = await withProposal();
  const bob = await enter(hub, await hub.token('reviewer', 'bob'));
  const csrf = bob.field((await bob.get(`/proposals/${id}`)).text, 'csrf');
  expect((await bob.get('/decisions')).status).toBe(404);
  expect((await bob.post('/decisions/root/allow', { csrf })).status).toBe(404);
  expect((await bob.post('/extensions/x/approve', { csrf, digest: 'x' })).status).toBe(404);
  expect((await bob.post('/catalog/off', { csrf, skill: 'deploy' })).status).toBe(400);
  expect((await bob.get('/catalog')).text).not.toContain('href="/decisions"');
  for (const path of ['/catalog', '/skills/deploy']) expect((await bob.get(path)).text).not.toContain('Disable');
});

it('lets in nobody without a token of a reviewer, another space or a revoked one', async () => {
  const { hub, carol, id } = await withProposal();
  expect((await enter(hub, carol)).status).toBe(401);
  expect((await enter(hub, 'skh_nothing')).status).toBe(401);
  const nobody = await enter(hub, '');
  expect((await nobody.get('/')).location).toBe('/enter');
  for (const path of [`/proposals/${id}`, '/events', '/assets/base.css', '/skills/deploy', '/open/x'])
    expect([path, (await nobody.get(path)).status]).toEqual([path, 401]);
  expect((await nobody.post(`/proposals/${id}/approve`, { csrf: '' })).status).toBe(401);
  const other = await enter(hub, await hub.token('reviewer', 'eve', 'other'));
  expect(other.status).toBe(303);
  expect((await other.get(`/proposals/${id}`)).status).toBe(404);
  expect((await other.get('/')).text).not.toContain('deploy');
  const bob = await enter(hub, await hub.token('reviewer', 'bob'));
  expect((await bob.get('/')).status).toBe(200);
  for (const token of await hub.store.tokens()) await hub.store.revokeToken(token.id, 'person:root');
  expect((await bob.get('/proposals')).status).toBe(401);
});

it('tells a browser on a page what is refused, and a program as JSON', async () => {
  const { hub } = await withProposal();
  const nobody = await enter(hub, '');
  const refused = async (accept: string) => nobody.post('/enter', { token: 'x'.repeat(20_000) }, { accept });
  const page = await refused('text/html,application/xhtml+xml');
  expect([page.status, page.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('<p role="alert">The body may have');
  expect(await (await refused('*/*')).json()).toMatchObject({ error: { code: 'HUB_TOO_LARGE' } });
});

it('offers among several what is plain, and no change that would be merged with a newer text', async () => {
  const { hub, admin, id } = await withProposal();
  const bob = await enter(hub, await hub.token('reviewer', 'bob'));
  const before = (await bob.get('/several')).text;
  expect([before.includes('/several/approve'), before.includes(id)]).toEqual([true, true]);
  await hub.publish(admin, 'deploy', DEPLOY.replace('2. Push it.', '2. Push it.\n3. Tell the shop.\n4. Rest.'));
  expect((await hub.ask(admin, 'GET', `/proposals/${id}`)).json.state).toBe('open');
  const { text } = await bob.get('/several');
  expect(text).toContain('Can only be rejected here');
  expect(text).not.toContain('/several/approve');
});
