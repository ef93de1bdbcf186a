import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { dataFile } from '../../../../extensions/skill_registry/features/hub/commands/open-store.ts';
import { addToken } from '../../../../extensions/skill_registry/features/hub/serve/principals.ts';
import { SqliteStore } from '../../../../extensions/skill_registry/features/hub/store/sqlite.ts';
import { DEPLOY, type Hub, openHub, sentId } from '../../../helpers/hub.ts';
import { hubMachine } from '../../../helpers/hub-machine.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const SHARES = { entry: { usage: 'share' } };
const COOK = { agentId: 'the cook', threadId: 'secret-thread', paths: ['secret/path.ts'] };
const TODAY = () => new Date().toISOString().slice(0, 10);

async function hubWithSkill() {
  const hub = await openHub();
  const admin = await hub.token('admin', 'root');
  await hub.publish(admin, 'deploy', DEPLOY);
  return { hub, admin, ada: await hub.token('reader', 'ada'), bob: await hub.token('reader', 'bob') };
}

function posts({ requests }: Pick<Hub, 'requests'>): readonly string[] {
  return requests.filter((request) => request.startsWith('POST'));
}

/** What waits on disk for the hub. */
function waiting(root: string): readonly string[] {
  const folder = join(root, 'data', 'skill_registry', 'outbox');
  const [name = ''] = readdirSync(folder);
  return readdirSync(join(folder, name)).flatMap((file) =>
    file.startsWith('usage-') ? [join(folder, name, file)] : [],
  );
}

it('tells a hub how often agents were given its skills, and nothing from a machine that does not share it', async () => {
  const { hub, admin, ada, bob } = await hubWithSkill();
  const [shares, other] = [await hubMachine(hub, { secret: ada, ...SHARES }), await hubMachine(hub, { secret: bob })];
  for (const { registry } of [shares, other]) {
    await registry.read('deploy', {}, COOK);
    await registry.read('deploy', {}, COOK);
    await registry.read('deploy', {}, {});
    await registry.read('deploy', {}, { ...COOK, preview: true });
    await registry.read('deploy');
    await registry.read('no-such-skill', {}, COOK).catch(() => undefined);
    await registry.read('deploy', {}, { agentId: 'guest', boundSkills: ['tea'] }).catch(() => undefined);
    expect(posts(hub)).toEqual([]);
  }
  await other.registry.close();
  expect(posts(hub)).toEqual([]);
  await shares.registry.close();
  expect(posts(hub)).toEqual(['POST /v1/spaces/:space/usage 201']);
  expect(waiting(shares.root)).toEqual([]);
  expect((await hub.ask(admin, 'GET', '/usage')).json).toMatchObject({
    usage: [
      { skill_id: 'deploy', agent: 'the-cook', loads: 2, refused: 0, machines: 1, last_day: TODAY() },
      { skill_id: 'deploy', agent: '', loads: 1, machines: 1 },
      { skill_id: 'deploy', agent: 'guest', loads: 0, refused: 1 },
    ],
  });
});

it('keeps what it has counted while the hub is away, without words, and has it counted once', async () => {
  const { hub, ada } = await hubWithSkill();
  const { root, cache, registry } = await hubMachine(hub, { secret: ada, ...SHARES });
  await registry.context('Some secret words about how to deploy the shop.', COOK);
  await registry.read('deploy', {}, COOK);
  await hub.close();
  await registry.close();
  const [file = ''] = waiting(root);
  const batch = readFileSync(file, 'utf8');
  expect(JSON.parse(batch)).toEqual({
    id: expect.any(String),
    machine: expect.stringMatching(/^[0-9a-f-]{36}$/),
    counts: [{ day: TODAY(), skill_id: 'deploy', agent: 'the-cook', loads: 1, refused: 0 }],
  });
  expect(batch).not.toContain('secret');

  const back = await openHub({ folder: hub.folder, port: Number(new URL(hub.url).port) });
  const reviewer = await back.token('reviewer', 'rita');
  const counted = async () => (await back.ask(reviewer, 'GET', '/usage')).json.usage.map((one: object) => one);
  const again = async (secret = ada) => {
    const machine = await hubMachine(back, { root, cache, secret, ...SHARES });
    await machine.registry.close();
  };
  await again();
  expect(await counted()).toMatchObject([{ loads: 1, machines: 1 }]);
  // It died after the hub had it, and before it took the file away.
  writeFileSync(file, batch);
  await again();
  expect(posts(back)).toEqual(['POST /v1/spaces/:space/usage 201', 'POST /v1/spaces/:space/usage 200']);
  expect(await counted()).toMatchObject([{ loads: 1, machines: 1 }]);
  // With a new token of the same person, too.
  writeFileSync(file, batch);
  await again(await back.token('reader', 'ada'));
  expect(await counted()).toMatchObject([{ loads: 1, machines: 1 }]);
  expect(waiting(root)).toEqual([]);
});

it('sends what a long process has counted every few minutes, and what a hub never takes is gone', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const { hub, ada } = await hubWithSkill();
    const { root, registry } = await hubMachine(hub, { secret: ada, ...SHARES });
    for (let read = 1; read <= 3; read++) await registry.read('deploy', {}, COOK);
    vi.advanceTimersByTime(4 * 60_000);
    expect(posts(hub)).toEqual([]);
    vi.advanceTimersByTime(60_000);
    await waitFor('the counts', () => posts(hub).length === 1);
    await waitFor('the file', () => waiting(root).length === 0);
    const [folder = ''] = readdirSync(join(root, 'data', 'skill_registry', 'outbox'));
    const old = batchOf([{ ...COUNT, day: '2020-01-01' }]);
    const at = (name: string) => join(root, 'data', 'skill_registry', 'outbox', folder, name);
    writeFileSync(at(`usage-${crypto.randomUUID()}.json`), JSON.stringify(old));
    writeFileSync(at(`usage-${crypto.randomUUID()}.json`), '{ "broken');
    vi.advanceTimersByTime(5 * 60_000);
    await waitFor('the files', () => waiting(root).length === 0);
    expect(posts(hub)).toEqual(['POST /v1/spaces/:space/usage 201', 'POST /v1/spaces/:space/usage 400']);
  } finally {
    vi.useRealTimers();
  }
});

it('keeps no more than five hundred batches, and says it', async () => {
  const { hub, ada } = await hubWithSkill();
  const { root, cache, registry } = await hubMachine(hub, { secret: ada, ...SHARES });
  await registry.read('deploy', {}, COOK);
  await hub.close();
  await registry.close();
  const [file = ''] = waiting(root);
  for (let more = 1; more < 500; more++)
    writeFileSync(join(file, '..', `usage-${crypto.randomUUID()}.json`), readFileSync(file));
  const full = await hubMachine(hub, { root, cache, secret: ada, ...SHARES });
  expect(full.registry.problems().filter(({ code }) => code === 'HUB_OUTBOX')).toHaveLength(1);
  await full.registry.read('deploy', {}, COOK);
  await full.registry.close();
  expect(waiting(root)).toHaveLength(500);
});

describe('what a machine sends as usage', () => {
  it.each<readonly [string, (batch: ReturnType<typeof batchOf>) => unknown]>([
    ['no object', () => [1, 2]],
    ['no counts', (batch) => ({ ...batch, counts: [] })],
    ['too many counts', () => batchOf(Array.from({ length: 1001 }, () => COUNT))],
    ['a thread', () => batchOf([{ ...COUNT, thread: 't' }])],
    ['a name of a machine', (batch) => ({ ...batch, machine: 'adas-laptop' })],
    ['less than nothing', () => batchOf([{ ...COUNT, loads: -5 }])],
    ['a number without end', () => batchOf([{ ...COUNT, loads: 1e300 }])],
    ['half a load', () => batchOf([{ ...COUNT, loads: 0.5 }])],
    ['no day', () => batchOf([{ ...COUNT, day: '2026-13-45' }])],
    ['a day long ago', () => batchOf([{ ...COUNT, day: '2020-01-01' }])],
    ['a day that is to come', () => batchOf([{ ...COUNT, day: '2999-01-01' }])],
    ['a path as a skill', () => batchOf([{ ...COUNT, skill_id: '../deploy' }])],
    ['another agent than one', () => batchOf([{ ...COUNT, agent: 'agent:x of person:root\u202e' }])],
    ['no id', (batch) => ({ ...batch, id: 'x' })],
  ])('is refused with %s', async (_what, make) => {
    const { hub, admin, ada } = await hubWithSkill();
    const refused = await hub.ask(ada, 'POST', '/usage', make(batchOf([COUNT])));
    expect([refused.status, refused.json.error.code]).toEqual([400, 'INVALID_ARGUMENT']);
    expect((await hub.ask(admin, 'GET', '/usage')).json.usage).toEqual([]);
    expect(hub.errors).toEqual([]);
  });

  it('counts no skill that the space never had, and one that it had', async () => {
    const { hub, admin, ada } = await hubWithSkill();
    await hub.ask(admin, 'DELETE', '/skills/deploy');
    const batch = batchOf([{ ...COUNT, skill_id: 'constructor' }, COUNT, { ...COUNT, skill_id: 'never' }]);
    expect((await hub.ask(ada, 'POST', '/usage', batch)).json).toEqual({ counted: 1 });
    expect((await hub.ask(admin, 'GET', '/usage')).json.usage).toMatchObject([{ skill_id: 'deploy', loads: 3 }]);
  });

  it('stays in its space, and is seen by who reviews there', async () => {
    const { hub, admin, ada } = await hubWithSkill();
    const [eve, proposer] = [await hub.token('admin', 'eve', 'other'), await hub.token('proposer', 'pat')];
    const batch = batchOf([COUNT]);
    expect((await hub.ask(eve, 'POST', '/usage', batch)).status).toBe(403);
    expect((await hub.ask(undefined, 'POST', '/usage', batch)).status).toBe(401);
    expect((await hub.ask(eve, 'POST', '/v1/spaces/other/usage', batch)).json).toEqual({ counted: 0 });
    for (const token of [ada, proposer, eve]) expect((await hub.ask(token, 'GET', '/usage')).status).toBe(403);
    for (const days of ['0', '91', 'x', '-1'])
      expect((await hub.ask(admin, 'GET', `/usage?days=${days}`)).status).toBe(400);
    expect((await hub.ask(admin, 'GET', '/usage')).json.usage).toEqual([]);
  });

  it('is refused when it is too large, or a token sends it without end', async () => {
    const { hub, admin, ada } = await hubWithSkill();
    const counts = Array.from({ length: 1000 }, () => ({ ...COUNT, skill_id: 'never' }));
    const statuses: number[] = [];
    for (let sent = 1; sent <= 201; sent++)
      statuses.push((await hub.ask(ada, 'POST', '/usage', batchOf(counts))).status);
    expect([statuses[0], statuses[199], statuses[200]]).toEqual([201, 201, 429]);
    expect((await hub.ask(admin, 'POST', '/usage', batchOf([COUNT]))).status).toBe(201);
    const large = { ...batchOf([COUNT]), machine: 'x'.repeat(600_000) };
    expect((await hub.ask(admin, 'POST', '/usage', large)).status).toBe(413);
  });
});

it('shows at the hub what machines have shared, with a command', async () => {
  const data = tempFolder();
  mkdirSync(data, { recursive: true });
  const show = (...args: readonly string[]) => runCommand(['hub', 'usage', '--data', data, '--space', 'team', ...args]);
  expect(await show()).toMatchObject({ status: 2, stderr: expect.stringContaining('of a space "team"') });
  const store = new SqliteStore(dataFile(data));
  await addToken(store, { space: 'team', role: 'reader', person: 'person:ada', by: 'person:root' });
  expect(JSON.parse((await show('--json')).stdout)).toMatchObject({ space: 'team', usage: [] });
  await store.addUsage('team', { ...batchOf([]), counts: [COUNT], person: 'person:ada' });
  await store.close();
  expect((await show()).stdout).toMatch(/deploy\s+cook\s+3\s+1\s+1\s+\d{4}-/);
  expect(JSON.parse((await show('--json', '--days', '7')).stdout).usage).toMatchObject([
    { skill_id: 'deploy', loads: 3 },
  ]);
  expect((await show('--days', '0')).status).toBe(2);
});

const COUNT = { day: TODAY(), skill_id: 'deploy', agent: 'cook', loads: 3, refused: 1 };

function batchOf(counts: readonly object[]) {
  return { id: sentId(), machine: crypto.randomUUID() as string, counts };
}
