import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { tarGz } from '../../../helpers/archives.ts';
import { DEPLOY, type Hub, openHub, sentId } from '../../../helpers/hub.ts';

/** Sends chunks without saying how many, until the hub ends it. */
function endless({ url }: Hub, token: string, method: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/markdown' };
    const sending = request(`${url}/v1/spaces/team${path}`, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
      sending.destroy();
    });
    // The hub may end the connection before its answer is read.
    sending.on('error', () => resolve(0));
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    let left = 200;
    const more = (): void => {
      if (sending.destroyed) return;
      if (left-- === 0) return void reject(new Error('it took 200 MiB'));
      sending.write(chunk, () => setImmediate(more));
    };
    more();
  });
}

it('stays whole and small under bodies without an end, bombs, and archives that lead out', async () => {
  // Made first: it takes longer than a connection is kept.
  const skill = { path: 'SKILL.md', content: DEPLOY };
  const bombs = [
    gzipSync(Buffer.alloc(700 * 1024 * 1024)),
    gzipSync(gzipSync(Buffer.alloc(1024))),
    tarGz([skill, { path: '../out.md', content: 'x' }]),
    tarGz([skill, { path: '/etc/out', content: 'x' }]),
    tarGz([skill, { path: 'link', type: 'SymbolicLink', leadsTo: '/etc/passwd' }]),
    tarGz([skill, { path: 'a', content: 'x', toldSize: 2 ** 40 }]),
    tarGz([skill, skill]),
    tarGz([{ path: 'inner/SKILL.md', content: DEPLOY }]),
    tarGz([]),
  ];
  const hub = await openHub();
  const [admin, carol] = [await hub.token('admin', 'ada'), await hub.token('proposer', 'carol')];
  await hub.publish(admin, 'deploy', DEPLOY);
  for (const [token, method, path] of [
    [admin, 'PUT', '/skills/large'],
    [carol, 'POST', '/proposals'],
    [admin, 'POST', '/proposals/x/decide'],
  ] as const)
    expect([413, 0]).toContain(await endless(hub, token, method, path));
  for (const [at, bomb] of bombs.entries()) {
    const { status } = await hub.ask(admin, 'PUT', '/skills/deploy', bomb);
    expect([at, [400, 413, 422].includes(status)]).toEqual([at, true]);
  }
  expect((await hub.ask(carol, 'GET', '/changes')).json).toMatchObject({
    head: 1,
    changes: [{ entry: { revision: 1 } }],
  });
  expect((await hub.ask(undefined, 'GET', '//healthz')).status).toBe(200);
});

it('takes nothing of a machine that lies about itself', async () => {
  const hub = await openHub();
  const [admin, carol] = [await hub.token('admin', 'ada'), await hub.token('proposer', 'carol')];
  await hub.publish(admin, 'deploy', DEPLOY);
  await hub.ask(
    await hub.token('admin', 'eve', 'other'),
    'PUT',
    '//v1/spaces/other/skills/secret',
    DEPLOY.replaceAll('deploy', 'secret'),
  );
  const base = await hub.digest(carol, 'deploy');
  const [, { digest: foreign = '' } = {}] = [0, (await hub.store.skill('other', 'secret'))?.entry ?? undefined];
  const good = { skill_id: 'deploy', base, content: DEPLOY.replace('Push', 'Ship'), justification: 'Why.', agent: 'a' };
  const propose = async (change: object) => {
    const { status, json } = await hub.ask(carol, 'POST', '/proposals', { id: sentId(), ...good, ...change });
    return status >= 400 ? json.error.code : status;
  };
  const cases: readonly (readonly [change: object, code: string])[] = [
    [{ base: foreign }, 'HUB_NOT_FOUND'],
    [{ base: `sha256:${'0'.repeat(64)}` }, 'HUB_NOT_FOUND'],
    [{ base: 'sha256:../../x' }, 'INVALID_ARGUMENT'],
    [{ skill_id: 'secret', base: foreign }, 'SKILL_NOT_FOUND'],
    [{ skill_id: '../deploy' }, 'SKILL_NOT_FOUND'],
    [{ kind: 'create', skill_id: '../x', base: undefined }, 'INVALID_ARGUMENT'],
    [{ kind: 'create', skill_id: 'deploy' }, 'SKILL_EXISTS'],
    [{ path: '../SKILL.md' }, 'PATH_TRAVERSAL'],
    [{ path: '/etc/passwd' }, 'PATH_TRAVERSAL'],
    [{ path: 'a\u0000b' }, 'PATH_TRAVERSAL'],
    [{ path: '.git/hooks/x' }, 'INVALID_ARGUMENT'],
    [{ person: 'person:ada' }, 'INVALID_ARGUMENT'],
    [{ space: 'other' }, 'INVALID_ARGUMENT'],
    [{ author: 'person:ada' }, 'INVALID_ARGUMENT'],
    [{ agent: 'x of person:ada' }, 'INVALID_ARGUMENT'],
    [{ id: 'short' }, 'INVALID_ARGUMENT'],
    [{ justification: '' }, 'INVALID_ARGUMENT'],
    [{ justification: 'a\u0000b' }, 'NOT_TEXT'],
    [{ content: undefined }, 'INVALID_ARGUMENT'],
    [{ content: 'x'.repeat(5 * 1024 * 1024) }, 'RESOURCE_TOO_LARGE'],
    [{ content: DEPLOY }, 'PROPOSAL_NO_CHANGE'],
  ];
  for (const [change, code] of cases) expect([change, await propose(change)]).toEqual([change, code]);
  expect(await propose({ path: '.env', content: 'KEY=1' })).not.toBe(201);
  expect((await hub.store.proposals('team', {})).length).toBe(0);
  const deep = Buffer.from('['.repeat(3_000_000));
  expect((await hub.ask(carol, 'POST', '/proposals', deep)).status).toBe(400);
  // The author is who the token says, whatever the agent is called.
  expect(await propose({ agent: 'ada' })).toBe(201);
  const [made] = await hub.store.proposals('team', {});
  expect([made?.person, made?.author]).toEqual(['person:carol', 'agent:ada of person:carol']);
  const polls = Array.from({ length: 12 }, () => hub.ask(carol, 'GET', '/changes?after=1&wait=50'));
  const busy = polls.map(async (poll) => expect((await poll).json.error.code).toBe('HUB_BUSY'));
  await Promise.any(busy);
  expect((await hub.ask(admin, 'GET', '/changes')).status).toBe(200);
  expect(hub.errors).toEqual([]);
  await hub.close();
  expect((await Promise.allSettled(busy)).filter(({ status }) => status === 'fulfilled')).not.toEqual([]);
});
