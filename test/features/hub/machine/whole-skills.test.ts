import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DEPLOY, type Hub, openHub } from '../../../helpers/hub.ts';
import { type HubMachine, hubMachine, TOKEN } from '../../../helpers/hub-machine.ts';
import { idsOf, letAnHourPass } from '../../../helpers/published-page.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { HUB_TOKEN, scriptedHub } from '../../../helpers/scripted-hub.ts';
import { TEA } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const BUILDER = { agentId: 'builder' };
const TOOLS = { tools: ['read_skill', 'create_skill', 'list_proposals'] };
const WHY = { justification: 'The shop needs it.' };

beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  return () => void vi.unstubAllEnvs();
});

const create = ({ registry }: Pick<HubMachine, 'registry'>, id: string) => {
  const skill = { skill_id: id, description: 'How to pack the goods.', body: '1. Wrap.\n2. Pack.', ...WHY };
  return runRegistryTool(registry, 'create_skill', skill, BUILDER);
};

async function decide(hub: Hub, reviewer: string, id: string): Promise<void> {
  const { json } = await hub.ask(reviewer, 'GET', `/proposals/${id}`);
  const decision = { decision: 'approve', version: json.version };
  expect((await hub.ask(reviewer, 'POST', `/proposals/${id}/decide`, decision)).status).toBe(200);
}

describe('a skill as a whole', () => {
  it('is made and removed at the hub, when a person there has approved what an agent here proposes', async () => {
    const hub = await openHub();
    const [admin, reviewer] = [await hub.token('admin', 'root'), await hub.token('reviewer', 'rita')];
    await hub.publish(admin, 'deploy', DEPLOY);
    const machine = await hubMachine(hub, { secret: await hub.token('proposer', 'ann'), watches: true, config: TOOLS });
    const { registry } = machine;
    const made = await create(machine, 'packing');
    expect(made).toMatchObject({ success: true, state: 'open', file: hub.url });
    expect(idsOf(registry)).toEqual(['deploy']);
    await decide(hub, reviewer, String(made.proposal_id));
    await waitFor('the new skill', () => idsOf(registry).join() === 'deploy,packing');
    expect((await registry.read('packing', {}, BUILDER)).content).toContain('1. Wrap.');

    const removal = { skillId: 'deploy', kind: 'delete', ...WHY } as const;
    await expect(registry.proposals.propose(removal, BUILDER)).rejects.toMatchObject({ code: 'WRITE_DENIED' });
    const allowed = await hubMachine(hub, {
      ...machine,
      secret: await hub.token('proposer', 'ann'),
      config: { ...TOOLS, writes: { delete: 'propose' } },
    });
    const { proposalId, file } = await allowed.registry.proposals.propose(removal, BUILDER);
    expect(file).toBe(hub.url);
    await decide(hub, reviewer, proposalId);
    await waitFor('the removal', () => idsOf(registry).join() === 'packing');
    const { proposals } = await registry.admin.takenProposals('builder');
    expect(proposals.map(({ skillId, state }) => [skillId, state])).toEqual([
      ['deploy', 'approved'],
      ['packing', 'approved'],
    ]);
  });

  it('is checked here first, goes to the first source that takes it, and is sent once', async () => {
    const hub = await scriptedHub({ tea: TEA });
    const machine = await hubMachine(hub, { config: TOOLS });
    const { registry } = machine;
    const codeOf = async (answer: Promise<object>) => ((await answer) as { error?: { code: string } }).error?.code;
    expect([await codeOf(create(machine, 'tea')), await codeOf(create(machine, '../evil'))]).toEqual([
      'SKILL_EXISTS',
      'INVALID_ARGUMENT',
    ]);
    const wrong = { skillId: 'cup', kind: 'create', path: 'notes.md', content: 'x', ...WHY } as const;
    await expect(registry.proposals.propose(wrong, BUILDER)).rejects.toThrow('A new skill begins with its SKILL.md.');
    expect(hub.received).toEqual([]);
    await hub.away();
    expect(await create(machine, 'cup')).toMatchObject({ state: 'open', message: expect.stringContaining('is kept') });
    expect(await create(machine, 'cup')).toMatchObject({ error: { code: 'PROPOSAL_DUPLICATE' } });
    await hub.back();
    letAnHourPass(machine.cache);
    await waitFor('the proposal', async () => {
      await registry.refresh();
      return hub.received.length === 1;
    });
    expect(hub.received[0]).toMatchObject({ kind: 'create', skill_id: 'cup', path: 'SKILL.md', agent: 'builder' });
    expect(hub.received[0]).not.toHaveProperty('base');

    const root = tempFolder({ 'skills/pot/SKILL.md': TEA.replaceAll('tea', 'pot') });
    const config = { ...TOOLS, sources: [{ path: 'skills' }, { hub: hub.url, token: TOKEN }] };
    const own = await hubMachine(hub, { root, config });
    expect(await create(own, 'jug')).toMatchObject({ file: expect.stringMatching(/^data\/skill_registry\/proposals/) });
    const some = await hubMachine(hub, { entry: { only: ['tea'] }, config: TOOLS });
    expect(await codeOf(create(some, 'jug'))).toBe('SOURCE_NOT_WRITABLE');
    expect(hub.received).toHaveLength(1);
  });

  it('is sent before a short program ends, where the hub has not answered in time', async () => {
    const hub = await scriptedHub({ tea: TEA });
    const first = await hubMachine(hub, { config: TOOLS });
    await hub.away();
    await create(first, 'cup');
    await first.registry.close();
    await hub.back();
    // Its copy is new, so that it asks the hub nothing.
    const next = await hubMachine(hub, first);
    await next.registry.close();
    expect(hub.received.map(({ skill_id: id }) => id)).toEqual(['cup']);
  });
});

it('shows a person what waits at the hub, and refuses decisions with its address', async () => {
  const hub = await scriptedHub({ tea: TEA });
  vi.stubEnv('XDG_CACHE_HOME', tempFolder());
  const author = 'agent:builder of person:ann\u001b[31m';
  const row = { skill_id: 'tea', author, decided_by: null, reason: null, diff: '+Serve.\n', justification: 'Cold.' };
  hub.proposals = [
    { proposal_id: 'tea-20261129T050000Z-aaaaaa', state: 'open', ...row },
    { proposal_id: 'tea-20261128T050000Z-bbbbbb', state: 'approved', ...row },
  ];
  const sources = [{ hub: hub.url, token: TOKEN }];
  const root = tempFolder({ 'data/skill_registry/config.yaml': JSON.stringify({ sources }) });
  const run = (...args: readonly string[]) =>
    runCommand([...args, '--root', root], { trust: false, environment: { HUB_TOKEN } });
  await run('approvals', 'allow');
  await run('approvals', 'allow', `${hub.url}#authorization=HUB_TOKEN`);
  const listed = await run('proposals', 'list');
  expect(listed.stdout).toContain('aaaaaa');
  expect(listed.stdout).toContain(hub.url);
  expect(listed.stdout).not.toContain('bbbbbb');
  expect(listed.stdout).not.toContain('\u001b');
  const shown = await run('proposals', 'show', 'tea-20261129T050000Z-aaaaaa');
  expect(shown.stdout).toMatch(/People decide at http[\s\S]*\+Serve\.[\s\S]*Cold\./);
  expect(shown.stdout).not.toContain('\u001b');
  for (const args of [['approve'], ['reject', '--reason', 'No.']]) {
    const refused = await run('proposals', args[0] ?? '', 'tea-20261129T050000Z-aaaaaa', '--yes', ...args.slice(1));
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(`the hub ${hub.url}: people decide`)]);
  }
  expect(hub.asked.filter((one) => !one.startsWith('GET'))).toEqual([]);
  await hub.away();
  const away = await run('proposals', 'list', '--json');
  expect(JSON.parse(away.stdout)).toMatchObject({ elsewhere: [], sources_away: ['127.0.0.1'] });
});
