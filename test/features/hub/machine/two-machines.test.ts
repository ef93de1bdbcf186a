import { beforeEach, expect, it, vi } from 'vitest';
import { DEPLOY, type Hub, openHub } from '../../../helpers/hub.ts';
import { type HubMachine, hubMachine } from '../../../helpers/hub-machine.ts';
import { idsOf, problemsOf } from '../../../helpers/published-page.ts';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  return () => void vi.unstubAllEnvs();
});

const BUILDER = { agentId: 'builder' };

async function machineOf(hub: Hub, person: string): Promise<HubMachine> {
  return hubMachine(hub, { secret: await hub.token('proposer', person), watches: true });
}

const run = ({ registry }: HubMachine, tool: string, args: object) => runRegistryTool(registry, tool, args, BUILDER);

async function bodyOf(machine: HubMachine): Promise<string> {
  // Between two versions the hub gives neither.
  const read = await run(machine, 'read_skill', { skill_id: 'deploy', again: true });
  return String(read.content ?? '');
}

it('takes what an agent of one machine proposes to the other one, once a person has approved it, and back', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'root');
  const reviewer = await hub.token('reviewer', 'rita');
  expect((await hub.publish(admin, 'deploy', DEPLOY)).status).toBeLessThan(300);
  const [one, other] = [await machineOf(hub, 'ann'), await machineOf(hub, 'ben')];
  expect([idsOf(one.registry), idsOf(other.registry)]).toEqual([['deploy'], ['deploy']]);
  expect(await bodyOf(other)).toContain('2. Push it.');

  const receipt = await run(one, 'propose_skill_update', {
    skill_id: 'deploy',
    old_string: '2. Push it.',
    new_string: '2. Test it.\n3. Push it.',
    justification: 'It was pushed untested.',
  });
  expect(receipt).toMatchObject({ success: true, state: 'open', message: expect.stringContaining('a person decides') });
  const id = String(receipt.proposal_id);
  const { json: shown } = await hub.ask(reviewer, 'GET', `/proposals/${id}`);
  expect(shown).toMatchObject({ author: 'agent:builder of person:ann', skill_id: 'deploy', state: 'open' });
  expect(shown.diff).toContain('+2. Test it.');
  expect(await bodyOf(other)).not.toContain('Test it.');

  const decision = { decision: 'approve', version: shown.version };
  expect((await hub.ask(reviewer, 'POST', `/proposals/${id}/decide`, decision)).status).toBe(200);
  for (const machine of [one, other])
    await waitFor('the new text', async () => (await bodyOf(machine)).includes('3. Push it.'));
  expect(await run(one, 'list_proposals', { limit: 5 })).toEqual({
    success: true,
    proposals: [{ proposal_id: id, skill_id: 'deploy', state: 'approved', decided_by: 'person:rita', reason: null }],
  });
  expect(await run(other, 'list_proposals', { limit: 5 })).toEqual({ success: true, proposals: [] });

  expect((await hub.ask(reviewer, 'POST', '/skills/deploy/rollback', { revision: 1 })).status).toBe(200);
  for (const machine of [one, other])
    await waitFor('the old text', async () => (await bodyOf(machine)).includes('2. Push it.'));
  expect([one, other].flatMap(({ registry }) => problemsOf(registry))).toEqual([]);
});

it('finds by bodies at the hub, and a revoked token ends the polls and leaves what was read', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'root');
  await hub.publish(admin, 'deploy', DEPLOY);
  await hub.publish(admin, 'bake', DEPLOY.replaceAll('deploy', 'bake').replace('Push it', 'Knead the sourdough'));
  const machine = await machineOf(hub, 'ann');
  await waitFor('a hit by a word that is in a body only', async () => {
    const { skills } = await run(machine, 'list_skills', { query: 'knead sourdough' });
    return (skills as { skill_id: string }[])[0]?.skill_id === 'bake';
  });
  expect(await bodyOf(machine)).toContain('Push it.');
  const [token] = (await hub.store.tokens()).filter(({ person }) => person === 'person:ann');
  await hub.store.revokeToken(token?.id ?? '', 'person:root');
  await waitFor('the problem', async () => problemsOf(machine.registry).some((one) => one.includes('status 401')));
  expect(await bodyOf(machine)).toContain('Push it.');
  await hub.publish(admin, 'deploy', DEPLOY.replace('Push it', 'Leave it'));
  expect(await bodyOf(machine)).toContain('Push it.');
});
