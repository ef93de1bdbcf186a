import { expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { DEPLOY, type Hub, openHub, sentChange, sentId, skillText } from '../../helpers/hub.ts';

/** A proposal of an agent of that token, as it is shown. */
async function propose(hub: Hub, token: string, base: string, from: string, to: string) {
  const change = { skill_id: 'deploy', base, old_string: from, new_string: to };
  const sent = { id: sentId(), ...change, justification: 'It is better.', agent: `a${sentId()}` };
  const { status, json } = await hub.ask(token, 'POST', '/proposals', sent);
  expect([status, json.state]).toEqual([201, 'open']);
  return (await hub.ask(token, 'GET', `/proposals/${json.proposal_id}`)).json;
}

function decide(hub: Hub, token: string, proposal: { proposal_id: string; version: string }, more = {}) {
  const body = { decision: 'approve', version: proposal.version, ...more };
  return hub.ask(token, 'POST', `/proposals/${proposal.proposal_id}/decide`, body);
}

async function teamWithDeploy(fourEyes = false) {
  const hub = await openHub({ fourEyes: false });
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  const base = await hub.digest(admin, 'deploy');
  if (!fourEyes) return { hub, admin, base };
  await hub.close();
  return { hub: await openHub({ fourEyes, folder: hub.folder }), admin, base };
}

it('decides each of a hundred proposals once, whoever of ten approves first', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  const reviewers = await Promise.all(Array.from({ length: 10 }, (_, at) => hub.token('reviewer', `reviewer-${at}`)));
  const proposer = await hub.token('proposer', 'carol');
  const ids = Array.from({ length: 100 }, (_, at) => `skill-${at}`);
  for (const id of ids) {
    const content = skillText(id, `How to do ${id}.`, ['1. Do it.']);
    const sent = { id: sentId(), skill_id: id, kind: 'create', content, justification: 'It is needed.', agent: id };
    expect((await hub.ask(proposer, 'POST', '/proposals', sent)).status).toBe(201);
  }
  const all = (await hub.ask(admin, 'GET', '/proposals?state=open&limit=200')).json.proposals;
  expect(all).toHaveLength(100);
  const done: number[] = [];
  for (const proposal of all) {
    const answers = await Promise.all(reviewers.map((token) => decide(hub, token, proposal)));
    done.push(answers.filter(({ status }) => status === 200).length);
    const others = answers.filter(({ status }) => status !== 200).map(({ json }) => json.error.code);
    expect(new Set(others)).toEqual(new Set(['PROPOSAL_DECIDED']));
  }
  expect(done).toEqual(ids.map(() => 1));
  const { changes, head } = (await hub.ask(admin, 'GET', '/changes')).json;
  expect([changes.length, head]).toEqual([100, 100]);
  expect(hub.errors).toEqual([]);
});

it('merges two changes of one base in different lines, and makes one of two in the same line stale', async () => {
  const { hub, admin, base } = await teamWithDeploy();
  const proposer = await hub.token('proposer', 'carol');
  const first = await propose(hub, proposer, base, '1. Build it.', '1. Build it twice.');
  const same = await propose(hub, proposer, base, '1. Build it.', '1. Build it never.');
  const other = await propose(hub, proposer, base, '# deploy', '# Deploy');
  expect((await decide(hub, admin, first)).json).toMatchObject({ state: 'approved', revision: 2, merged: false });
  const refused = await decide(hub, admin, same);
  expect([refused.status, refused.json.error.code]).toEqual([409, 'PROPOSAL_STALE']);
  expect((await decide(hub, admin, other)).json).toMatchObject({ state: 'approved', revision: 3, merged: true });
  // Nobody has the commands of one machine here.
  const again = (await decide(hub, admin, first)).json.error.message;
  expect([refused.json.error.message, again].join()).toMatch(/Its page opens its text.*roll the skill back.*history/s);
  expect([refused.json.error.message, again].join()).not.toContain('`skill-registry');
  const text = (await hub.ask(admin, 'GET', `/artifacts/${await hub.digest(admin, 'deploy')}`)).text;
  expect(text).toContain('# Deploy\n');
  expect(text).toContain('1. Build it twice.\n');
  expect((await hub.ask(proposer, 'GET', `/proposals/${same.proposal_id}`)).json).toMatchObject({ state: 'stale' });
});

it('applies exactly one of two on one base that are approved at the same moment', async () => {
  const { hub, admin, base } = await teamWithDeploy();
  const proposer = await hub.token('proposer', 'carol');
  const both = [
    await propose(hub, proposer, base, '1. Build it.', '1. Build it here.'),
    await propose(hub, proposer, base, '1. Build it.', '1. Build it there.'),
  ];
  const answers = await Promise.all(both.map((one) => decide(hub, admin, one)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await hub.store.revisions('team', 'deploy')).map(({ number }) => number)).toEqual([1, 2]);
});

it('decides about the version that was shown, and about nothing that looks like an attack without a look', async () => {
  const { hub, admin, base } = await teamWithDeploy();
  const proposer = await hub.token('proposer', 'carol');
  const shown = await propose(hub, proposer, base, '2. Push it.', '2. Send it.');
  const changed = await decide(hub, admin, { ...shown, version: `sha256:${'0'.repeat(64)}` });
  expect([changed.status, changed.json.error.code]).toEqual([409, 'PROPOSAL_CHANGED']);
  const bad = await propose(hub, proposer, base, '2. Push it.', attack(7));
  const refused = await decide(hub, admin, bad);
  expect([refused.status, refused.json.error.code]).toEqual([409, 'BLOCK_NOT_CONFIRMED']);
  const { inspected } = refused.json.error.details;
  expect((await decide(hub, admin, bad, { inspected: base })).json.error.code).toBe('SHOWN_CHANGED');
  expect((await decide(hub, admin, bad, { inspected })).json).toMatchObject({ state: 'approved' });
  // It is let in at the hub with the decision, and nothing else is.
  const held = async (id: string) => (await hub.registry()).snapshot().byId.get(id)?.heldBecause;
  expect(await held('deploy')).toBeUndefined();
  expect((await hub.ask(admin, 'GET', '/search?q=deploy+the+shop')).json.hits).toMatchObject([{ id: 'deploy' }]);
  expect(
    (await hub.publish(admin, 'other', DEPLOY.replaceAll('deploy', 'other').replace('2. Push it.', attack(7)))).status,
  ).toBe(409);
  expect((await decide(hub, admin, shown, { decision: 'reject' })).json.error.code).toBe('INVALID_ARGUMENT');
  const rejected = await decide(hub, admin, shown, { decision: 'reject', reason: 'No.' });
  expect(rejected.json).toMatchObject({ state: 'rejected' });
  const { code, message } = (await decide(hub, admin, shown)).json.error;
  expect([code, message]).toEqual(['PROPOSAL_DECIDED', expect.stringContaining('propose it anew')]);
});

it('has another person approve than who proposed, by whatever token, where four eyes are wanted', async () => {
  const { hub, base } = await teamWithDeploy(true);
  const carol = await hub.token('proposer', 'carol');
  const carolReviews = await hub.token('reviewer', 'carol');
  const alsoCarol = await hub.token('reviewer', 'CAROL');
  const bob = await hub.token('reviewer', 'bob');
  const proposal = await propose(hub, carol, base, '2. Push it.', '2. Send it.');
  for (const token of [carolReviews, alsoCarol]) {
    const { status, json } = await decide(hub, token, proposal);
    expect([status, json.error.code]).toEqual([403, 'FOUR_EYES']);
  }
  expect((await decide(hub, bob, proposal)).status).toBe(200);
});

it('has another person approve than who edited, and than who wrote what a roll-back brings, where four eyes are wanted', async () => {
  const { hub, admin, base } = await teamWithDeploy(true);
  const carol = await hub.token('proposer', 'carol');
  const bob = await hub.token('reviewer', 'bob');
  const proposal = await propose(hub, carol, base, '2. Push it.', '2. Send it.');
  const { openSpace } = await import('../../../extensions/skill_registry/features/hub/serve/space.ts');
  const registry = await openSpace({ space: 'team', store: hub.store, fourEyes: true, root: hub.folder });
  const { content } = await registry.proposals.text(proposal.proposal_id);
  const edit = { content: content.replace('Send', 'Mail'), by: 'person:bob' };
  const { version } = await registry.proposals.edit(proposal.proposal_id, edit);
  await registry.close();
  expect((await decide(hub, bob, { ...proposal, version })).json.error.code).toBe('FOUR_EYES');
  expect((await decide(hub, admin, { ...proposal, version })).status).toBe(200);
  // The first revision is of ada, the second of carol and bob.
  const back = (token: string, revision: number) =>
    hub.ask(token, 'POST', '/skills/deploy/rollback', { revision, reason: 'Back.' });
  expect((await back(admin, 1)).json.error.code).toBe('FOUR_EYES');
  expect((await back(bob, 1)).json).toEqual({ skill_id: 'deploy', revision: 3 });
  expect((await back(bob, 2)).json.error.code).toBe('FOUR_EYES');
  expect((await back(admin, 2)).json).toEqual({ skill_id: 'deploy', revision: 4 });
  for (const answer of [
    await hub.publish(admin, 'new', skillText('new', 'New.', ['1.'])),
    await hub.ask(admin, 'DELETE', '/skills/deploy'),
  ])
    expect([answer.status, answer.json.error.code]).toEqual([403, 'FOUR_EYES']);
});

it('takes what is sent again once, and refuses another text under the same id', async () => {
  const { hub, admin, base } = await teamWithDeploy();
  const carol = await hub.token('proposer', 'carol');
  const sent = sentChange(base);
  const answers = await Promise.all([1, 2, 3].map(() => hub.ask(carol, 'POST', '/proposals', sent)));
  expect(new Set(answers.map(({ json }) => json.proposal_id)).size).toBe(1);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  const other = await hub.ask(carol, 'POST', '/proposals', { ...sent, new_string: '1. Buy it.' });
  expect([other.status, other.json.error.code]).toEqual([409, 'HUB_ID_TAKEN']);
  const [{ version, proposal_id: id }] = (await hub.ask(admin, 'GET', '/proposals')).json.proposals;
  await decide(hub, admin, { version, proposal_id: id });
  const late = await hub.ask(carol, 'POST', '/proposals', sent);
  expect([late.status, late.json]).toEqual([200, { proposal_id: id, state: 'approved' }]);
  expect((await hub.ask(admin, 'GET', '/proposals')).json.proposals).toHaveLength(1);
  // Of another person the same id is another proposal.
  const dan = await hub.token('proposer', 'dan');
  const ofDan = { ...sent, old_string: '2. Push it.', new_string: '2. Pull it.' };
  expect((await hub.ask(dan, 'POST', '/proposals', ofDan)).status).toBe(201);
});

it('withdraws, brings back, and makes and deletes by proposals', async () => {
  const { hub, admin, base } = await teamWithDeploy();
  const carol = await hub.token('proposer', 'carol');
  const sent = { id: sentId(), skill_id: 'deploy', base, kind: 'delete', justification: 'Nobody needs it.' };
  const { proposal_id: id } = (await hub.ask(carol, 'POST', '/proposals', sent)).json;
  const proposal = (await hub.ask(carol, 'GET', `/proposals/${id}`)).json;
  expect((await decide(hub, admin, proposal)).json).toMatchObject({ state: 'approved', revision: 2 });
  expect((await hub.ask(carol, 'GET', '/changes?after=1')).json.changes).toEqual([
    { seq: 2, id: 'deploy', entry: null },
  ]);
  expect((await hub.ask(carol, 'GET', `/artifacts/${base}`)).status).toBe(404);
  expect((await hub.ask(admin, 'DELETE', '/skills/deploy')).status).toBe(404);
  expect((await hub.ask(admin, 'POST', '/skills/deploy/rollback', { revision: 1 })).json.revision).toBe(3);
  expect(await hub.digest(carol, 'deploy')).toBe(base);
  expect((await hub.ask(admin, 'POST', '/skills/deploy/rollback', { revision: 2 })).status).toBe(404);
});
