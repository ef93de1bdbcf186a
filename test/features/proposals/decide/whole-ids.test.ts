import { expect, it } from 'vitest';
import { reviewTools } from '../../../../extensions/skill_reviewer/tools.ts';
import { runTool } from '../../../../kernel/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../../helpers/tea.ts';

const WHY = { ...ADA, reason: 'No.' };

it('programs decide, recommend, edit and purge by whole ids only, and are told them', async () => {
  const { registry, propose, tea } = await teaRegistry();
  const { proposals } = registry;
  const id = await propose(LONGER);
  for (const part of [id.slice(0, 6), id.slice(0, -1), id.slice(-6), id.toUpperCase()]) {
    expect((await proposals.get(part)).id).toBe(id);
    for (const decide of [
      () => proposals.approve(part, ADA),
      () => proposals.reject(part, WHY),
      () => proposals.recommend(part, 'reject', WHY),
      () => proposals.edit(part, { content: TEA.replace('two', 'nine'), ...ADA }),
      () => proposals.purge([part], ADA),
    ])
      await expect(decide()).rejects.toMatchObject({
        code: 'PROPOSAL_NOT_FOUND',
        message: expect.stringContaining(`only a whole id decides. Give it: ${id}`),
      });
  }
  expect([(await proposals.get(id)).state, tea()]).toEqual(['open', TEA]);
  expect(await proposals.reject(id, WHY)).toMatchObject({ proposalId: id });
});

it('a reviewing agent rejects by a whole id, and what it has read', async () => {
  const { registry, propose } = await teaRegistry();
  const { proposals } = registry;
  const id = await propose(LONGER);
  const tools = reviewTools(registry, 'reviewer', true);
  const call = (name: string, args: object) => {
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool) throw new Error(name);
    return runTool(tool, args, { turn: { agentId: 'reviewer' }, signal: new AbortController().signal });
  };
  const read = async () => (await call('read_proposal', { proposal_id: id })) as { readonly version?: string };
  const { version } = await read();
  const reject = { version, verdict: 'reject', reason: 'Weak.' };
  const NOT_FOUND = { success: false, error: { code: 'PROPOSAL_NOT_FOUND', message: expect.stringContaining(id) } };
  expect(await call('decide_proposal', { ...reject, proposal_id: id.slice(0, 6) })).toMatchObject(NOT_FOUND);
  const recommendation = { proposal_id: id.slice(-6), verdict: 'reject', reason: 'Weak.' };
  expect(await call('recommend_proposal', recommendation)).toMatchObject(NOT_FOUND);
  await proposals.edit(id, { content: TEA.replace('two', 'nine'), ...ADA });
  const changed = { success: false, error: { code: 'PROPOSAL_CHANGED' } };
  expect(await call('decide_proposal', { ...reject, proposal_id: id })).toMatchObject(changed);
  expect(await call('decide_proposal', { ...reject, version: (await read()).version, proposal_id: id })).toMatchObject({
    success: true,
    state: 'rejected',
  });
});

it('a whole id names its proposal, whatever other id begins with it, and as the name of its report', async () => {
  const opened = await teaRegistry();
  const id = await opened.propose(LONGER);
  // A skill may be called as a proposal is.
  const name = id.toLowerCase();
  const content = TEA.replace('name: tea', `name: ${name}`);
  const other = { skillId: name, kind: 'create', content, justification: 'New.', author: 'agent:brewer' } as const;
  const { proposalId } = await opened.registry.proposals.propose(other);
  expect(proposalId.startsWith(name)).toBe(true);
  for (const wanted of [id, ` ${id}`, `${id}.md`]) expect((await opened.registry.proposals.get(wanted)).id).toBe(id);
  const get = (part: string) => opened.registry.proposals.get(part);
  await expect(get(name)).rejects.toMatchObject({ message: expect.stringContaining('several ids') });
  expect((await get(`${name}-2`)).id).toBe(proposalId);
});
