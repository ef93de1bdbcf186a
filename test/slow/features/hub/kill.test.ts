import { expect, it } from 'vitest';
import { digestOf } from '../../../../lib/digest/index.ts';
import { sentId, skillText } from '../../../helpers/hub.ts';
import { runCommand, startCommand } from '../../../helpers/run-command.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const ROUNDS = 6;

it('keeps what it has answered, and nothing half, when it is killed in the middle of approvals and publishing', async () => {
  const data = tempFolder();
  const tokenOf = async (role: string, person: string): Promise<string> => {
    const args = ['hub', 'token', 'add', '--data', data, '--space', 'team', '--role', role, '--person', person];
    return (await runCommand(args)).stdout.trim();
  };
  const [admin, carol] = [await tokenOf('admin', 'ada'), await tokenOf('proposer', 'carol')];
  const random = seededRandom(7);
  let url = '';
  const ask = async (token: string, method: string, path: string, body?: string, type = 'application/json') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const response = await fetch(`${url}/v1/spaces/team${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test looks at what it expects.
    return { status: response.status, json: (await response.json()) as any };
  };
  /** What a follower has seen, going on from its last number over every kill. */
  const seen = new Map<string, number>();
  let [after, epoch] = [0, ''];
  const follow = async (): Promise<void> => {
    const { json } = await ask(carol, 'GET', `/changes?after=${after}&epoch=${epoch}`);
    if (epoch !== '') expect(json.epoch).toBe(epoch);
    epoch = json.epoch;
    expect(json.head).toBeGreaterThanOrEqual(after);
    for (const { seq, id, entry } of json.changes) {
      expect(seq).toBeGreaterThan(after);
      after = seq;
      seen.set(id, entry.revision);
    }
  };
  const answered = new Map<string, number>();
  const decided: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const hub = startCommand(['serve', '--data', data, '--port', '0']);
    await hub.until('http://');
    url = hub.stdout().trim();
    let isKilled = false;
    const untilKilled = async (work: (step: number) => Promise<void>): Promise<void> => {
      for (let step = 0; !isKilled; step++) await work(step).catch(() => new Promise((end) => setTimeout(end, 5)));
    };
    const publishing = untilKilled(async (step) => {
      const id = `skill-${step % 5}`;
      const text = skillText(id, 'How to do it.', [`Round ${round}, step ${step}, ${random()}.`]);
      const { status, json } = await ask(admin, 'PUT', `/skills/${id}`, text, 'text/markdown');
      if (status === 200) answered.set(id, Math.max(answered.get(id) ?? 0, json.revision));
    });
    const deciding = untilKilled(async (step) => {
      const id = `new-${round}-${step}`;
      const content = skillText(id, 'How to do it.', ['1. Do it.']);
      const sent = { id: sentId(), skill_id: id, kind: 'create', content, justification: 'It is needed.', agent: id };
      const { json } = await ask(carol, 'POST', '/proposals', JSON.stringify(sent));
      const shown = await ask(carol, 'GET', `/proposals/${json.proposal_id}`);
      const decision = JSON.stringify({ decision: 'approve', version: shown.json.version });
      const done = await ask(admin, 'POST', `/proposals/${json.proposal_id}/decide`, decision);
      if (done.status === 200) decided.push(id);
    });
    const following = untilKilled(follow);
    const before = answered.size + decided.length;
    await waitFor('some answers', () => answered.size + decided.length > before + 1 && random() < 0.2);
    hub.child.kill('SIGKILL');
    isKilled = true;
    await Promise.all([publishing, deciding, following, hub.exited]);
  }
  const hub = startCommand(['serve', '--data', data, '--port', '0']);
  await hub.until('http://');
  url = hub.stdout().trim();
  await follow();
  const { json } = await ask(carol, 'GET', '/changes');
  // Published is seen: the one who followed has what a new one reads.
  const now = new Map(
    json.changes.map(({ id, entry }: { id: string; entry: { revision: number } }) => [id, entry.revision]),
  );
  expect(new Map([...seen].sort())).toEqual(new Map([...now].sort()));
  for (const [id, revision] of answered) expect(now.get(id)).toBeGreaterThanOrEqual(revision);
  for (const id of decided) expect(now.get(id)).toBe(1);
  for (const { entry } of json.changes) {
    const headers = { authorization: `Bearer ${carol}` };
    const response = await fetch(`${url}/v1/spaces/team/artifacts/${entry.digest}`, { headers });
    expect(digestOf(Buffer.from(await response.arrayBuffer()))).toBe(entry.digest);
  }
  // A skill that a decision has made is there if, and only if, its proposal is approved.
  const proposals = (await ask(admin, 'GET', '/proposals?limit=200')).json.proposals;
  for (const { skill_id: id, state } of proposals) expect([id, state === 'approved']).toEqual([id, now.has(id)]);
  hub.child.kill('SIGTERM');
  expect(await hub.exited).toBe(0);
  const audit = await runCommand(['hub', 'audit', '--data', data, '--json']);
  expect([audit.status, JSON.parse(audit.stdout).broken]).toEqual([0, null]);
});

it('puts a backup back under machines that go on, and revokes from another process', async () => {
  const data = tempFolder();
  const run = (...args: readonly string[]) => runCommand(['hub', ...args, '--data', data]);
  const added = await run('token', 'add', '--space', 'team', '--role', 'admin', '--person', 'ada', '--json');
  const { token, id } = JSON.parse(added.stdout);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/markdown' };
  const start = async () => {
    const hub = startCommand(['serve', '--data', data, '--port', '0']);
    await hub.until('http://');
    const space = `${hub.stdout().trim()}/v1/spaces/team`;
    const put = (line: string) =>
      fetch(`${space}/skills/deploy`, { method: 'PUT', headers, body: skillText('deploy', 'How.', [line]) });
    const changes = async (query = '') => (await fetch(`${space}/changes${query}`, { headers })).json();
    const stop = async () => {
      hub.child.kill('SIGTERM');
      expect(await hub.exited).toBe(0);
    };
    return { put, changes, stop, space };
  };
  const first = await start();
  await first.put('one');
  const copy = `${tempFolder()}/copy.db`;
  expect((await run('backup', copy)).status).toBe(0);
  await first.put('two');
  const before = (await first.changes()) as { epoch: string; head: number };
  await first.stop();
  expect((await run('restore', `${data}/nothing.db`)).status).toBe(2);
  expect((await run('restore', copy)).status).toBe(0);
  const second = await start();
  await second.put('three');
  const told = (await second.changes(`?after=${before.head}&epoch=${before.epoch}&wait=20`)) as {
    epoch: string;
    changes: unknown;
  };
  expect(told.epoch).not.toBe(before.epoch);
  expect(told.changes).toEqual([]);
  expect(await second.changes()).toMatchObject({ epoch: told.epoch, head: 2, changes: [{ entry: { revision: 2 } }] });
  const waiting = fetch(`${second.space}/changes?after=2&wait=50`, { headers });
  expect((await run('token', 'revoke', id)).status).toBe(0);
  expect((await waiting).status).toBe(401);
  expect((await second.put('four')).status).toBe(401);
  expect((await run('token', 'revoke', id)).status).toBe(2);
  await second.stop();
});
