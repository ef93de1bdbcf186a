import { request } from 'node:http';
import { expect, it } from 'vitest';
import { DEPLOY, type Hub, type HubOptions, openHub, sentChange } from '../../helpers/hub.ts';
import { enter } from '../../helpers/hub-page.ts';

const SECRET = 'a-secret-of-hub-and-proxy';

/** A hub behind a proxy, with a proposal of `carol`. */
async function behindProxy(options: HubOptions = {}) {
  const before = await openHub();
  const admin = await before.token('admin', 'root');
  await before.publish(admin, 'deploy', DEPLOY);
  await before.close();
  const proxy = { header: 'X-User', secret_header: 'X-Proxy-Secret', secret: SECRET };
  const hub = await openHub({ entrance: { proxy }, folder: before.folder, ...options });
  const carol = await hub.token('proposer', 'carol');
  const sent = sentChange(await hub.digest(admin, 'deploy'));
  const { proposal_id: id } = (await hub.ask(carol, 'POST', '/proposals', sent)).json;
  const person = (name: string, role: 'reader' | 'proposer' | 'reviewer' | 'admin', space = 'team') =>
    hub.store.addPerson({ key: `person:${name.toLowerCase()}`, person: `person:${name}`, space, role }, 'person:root');
  return { hub, carol, person, id: id as string };
}

const by = (name: string, secret = SECRET) => ({ 'x-user': name, 'x-proxy-secret': secret });

/** Headers as they are given, twice where they are given twice. */
function statusOf(hub: Hub, path: string, headers: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${hub.url}${path}`, { headers: [...headers, 'host', new URL(hub.url).host] }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });
}

it('lets in whom the proxy names, with the role of the list, and a decision is made as this person', async () => {
  const { hub, person, carol, id } = await behindProxy();
  await person('bob', 'reviewer');
  const bob = await enter(hub, by('bob'));
  const page = (await bob.get(`/proposals/${id}`)).text;
  expect(page).toContain('person:bob');
  const fields = Object.fromEntries(['csrf', 'version', 'blocks'].map((name) => [name, bob.field(page, name)]));
  const eve = await enter(hub, by('eve'));
  expect((await eve.post(`/proposals/${id}/approve`, fields)).status).toBe(401);
  expect((await bob.post(`/proposals/${id}/approve`, { ...fields, csrf: 'x' })).status).toBe(403);
  expect((await bob.post(`/proposals/${id}/approve`, fields, { origin: 'http://evil.example' })).status).toBe(403);
  expect((await bob.post(`/proposals/${id}/approve`, fields)).status).toBe(303);
  expect((await hub.ask(carol, 'GET', `/proposals/${id}`)).json).toMatchObject({ decided_by: 'person:bob' });
  expect(hub.errors).toEqual([]);
});

it('believes the header only with the secret of the proxy, and one name in it', async () => {
  const { hub, person } = await behindProxy();
  await person('bob', 'admin');
  const paths = ['/catalog', '/v1/spaces/team/changes', '/readyz'];
  const right = ['x-user', 'bob', 'x-proxy-secret', SECRET];
  for (const path of paths) expect([path, await statusOf(hub, path, right)]).toEqual([path, 200]);
  const wrong = [
    ['x-user', 'bob'],
    ['x-user', 'bob', 'x-proxy-secret', ''],
    ['x-user', 'bob', 'x-proxy-secret', `${SECRET}x`],
    ['x-user', 'bob', 'x-proxy-secret', SECRET.slice(0, -1)],
    ['x-user', 'bob', 'x-proxy-secret', SECRET, 'x-proxy-secret', 'other'],
    ['x-user', 'bob', 'x-proxy-secret', SECRET, 'x-proxy-secret', SECRET],
    ['x-user', 'bob', 'x-user', 'bob', 'x-proxy-secret', SECRET],
    ['x-user', 'eve', 'x-user', 'bob', 'x-proxy-secret', SECRET],
    ['x-user', 'bob, eve', 'x-proxy-secret', SECRET],
    ['x-user', 'eve', 'x-proxy-secret', SECRET],
    ['x-user', '', 'x-proxy-secret', SECRET],
    ['x-user', 'b\xffob', 'x-proxy-secret', SECRET],
    ['x-user', 'bob\xe2\x80\xae', 'x-proxy-secret', SECRET],
    ['x-proxy-secret', SECRET],
  ];
  for (const headers of wrong)
    for (const path of paths) expect([path, headers, await statusOf(hub, path, headers)]).toEqual([path, headers, 401]);
  const without = await openHub();
  expect(await statusOf(without, '/catalog', right)).toBe(401);
});

it('lets a person without a token read at the wire what the role may, and change nothing', async () => {
  const { hub, person, id } = await behindProxy();
  await person('bob', 'admin');
  await person('dan', 'reader', 'other');
  const ask = (name: string, path: string, method = 'GET') =>
    fetch(`${hub.url}/v1/spaces/${path}`, { method, headers: by(name), ...(method === 'GET' ? {} : { body: '{}' }) });
  expect((await ask('bob', 'team/changes')).status).toBe(200);
  expect((await ask('bob', 'other/changes')).status).toBe(403);
  expect((await ask('dan', 'other/changes')).status).toBe(200);
  expect((await ask('dan', 'other/proposals')).status).toBe(403);
  for (const [method, path] of [
    ['POST', `team/proposals/${id}/decide`],
    ['POST', 'team/proposals'],
    ['DELETE', 'team/skills/deploy'],
    ['PUT', 'team/skills/deploy'],
  ] as const)
    expect([path, (await ask('bob', path, method)).status]).toEqual([path, 401]);
  // Nothing is to be decided by a reader.
  const dan = await enter(hub, by('dan'));
  expect((await dan.get('/')).status).toBe(403);
  expect((await dan.get('/enter')).text).toContain('other reader');
});

it('refuses who is unknown or removed, and lets unknown people read where the config says so', async () => {
  const { hub, person } = await behindProxy();
  const read = async (at: Hub, name: string) =>
    (await fetch(`${at.url}/v1/spaces/team/changes`, { headers: by(name) })).status;
  expect(await read(hub, 'eve')).toBe(401);
  expect((await (await enter(hub, by('<b>eve'))).get('/enter')).text).toContain('&lt;b&gt;eve');
  await person('eve', 'proposer');
  expect(await read(hub, 'eve')).toBe(200);
  // Who has chosen a name that is nearly the same has not the role of the other one.
  for (const name of ['EVE', 'e ve', 'eve\u00a0x', Buffer.from('ｅｖｅ').toString('latin1')])
    expect([name, await read(hub, name)]).toEqual([name, 401]);
  const reading = (await behindProxy({ unknown: [{ space: 'team', role: 'reader' }] })).hub;
  expect(await read(reading, 'eve')).toBe(200);
  expect(await read(reading, 'eve, dan')).toBe(401);
  expect((await (await enter(reading, by('eve'))).get('/catalog')).status).toBe(403);
  await reading.store.removePerson({ key: 'person:eve', person: 'person:eve' }, 'person:root');
  expect([await read(reading, 'eve'), await read(reading, 'Eve'), await read(reading, 'dan')]).toEqual([401, 401, 200]);
});

it('ends an open page and an open poll of who was removed, within a second', async () => {
  const { hub, person } = await behindProxy();
  await person('bob', 'reviewer');
  const events = await fetch(`${hub.url}/events`, { headers: by('bob') });
  const { head } = await hub.store.state('team');
  const polled = fetch(`${hub.url}/v1/spaces/team/changes?after=${head}&wait=50`, { headers: by('bob') });
  await hub.store.removePerson({ key: 'person:bob', person: 'person:bob' }, 'person:root');
  const began = performance.now();
  await events.text().catch(() => undefined);
  expect((await polled).status).toBe(401);
  // Far from the fifty seconds of the poll.
  expect(performance.now() - began).toBeLessThan(20_000);
});

it('keeps four eyes for one person with a token and behind the proxy, however the name is written', async () => {
  const { hub, person, id } = await behindProxy({ fourEyes: true });
  await person('CAROL', 'reviewer');
  const carol = await enter(hub, by('CAROL'));
  const page = (await carol.get(`/proposals/${id}`)).text;
  const fields = Object.fromEntries(['csrf', 'version', 'blocks'].map((name) => [name, carol.field(page, name)]));
  const answer = await carol.post(`/proposals/${id}/approve`, fields);
  expect(await answer.text()).toContain('four_eyes');
  expect((await hub.store.proposal('team', id))?.state).toBe('open');
});

it('opens the space that was chosen, of those in which the person decides', async () => {
  const { hub, person, id } = await behindProxy();
  await person('bob', 'reviewer');
  await person('bob', 'admin', 'ops');
  await person('bob', 'reader', 'read');
  const bob = await enter(hub, by('bob'));
  const chosen = async (space: string) => {
    const answer = await bob.post('/enter', { space });
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const status = (cookie: string) =>
    fetch(`${hub.url}/proposals/${id}`, { headers: { ...by('bob'), cookie } }).then((answer) => answer.status);
  expect(await status(await chosen('team'))).toBe(200);
  expect(await status(await chosen('ops'))).toBe(404);
  // One that is not open to this person is none.
  expect(await status(await chosen('read'))).toBe(404);
  expect((await bob.post('/enter', { space: 'team' }, { origin: 'http://evil.example' })).status).toBe(403);
});
