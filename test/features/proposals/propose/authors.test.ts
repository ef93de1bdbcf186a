import type { ProposalInput } from 'skill-registry';
import type { TurnContext } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import { runRegistryTool } from '../../../helpers/run-registry-tool.ts';
import { ADA, LONGER, TEA, type TeaRegistry, teaRegistry } from '../../../helpers/tea.ts';

const BREWER: TurnContext = { agentId: 'brewer' };

const version = (n: number): string => TEA.replace('two minutes', `${n} minutes`);

/** What the tool answers an agent that proposes a content. */
function ask({ registry }: TeaRegistry, content: string, turn: TurnContext = BREWER, skill_id = 'tea') {
  return runRegistryTool(registry, 'propose_skill_update', { skill_id, content, justification: 'Needed.' }, turn);
}

/** The arguments of a new file beside SKILL.md. */
const note = (n: number) => ({
  skill_id: 'tea',
  path: `references/n${n}.md`,
  content: 'New.\n',
  justification: 'Yes.',
});

/** As a program proposes. @returns what a tool would answer. */
function proposes(proposals: TeaRegistry['registry']['proposals'], input: Partial<ProposalInput>) {
  return proposals.propose({ skillId: 'tea', justification: 'Needed.', ...input }).then(
    (receipt) => ({ success: true, ...receipt }),
    ({ code }: { readonly code: string }) => ({ success: false, error: { code } }),
  );
}

/** Proposes and rejects. @returns the id. */
async function rejected(opened: TeaRegistry, input: Partial<ProposalInput>, reason = 'Two is right.'): Promise<string> {
  const { proposals } = opened.registry;
  const given = { skillId: 'tea', justification: 'Needed.', author: 'agent:brewer', ...input };
  const { proposalId } = await proposals.propose(given);
  await proposals.reject(proposalId, { ...ADA, reason });
  return proposalId;
}

describe('a content that was rejected', () => {
  it('is refused with the reason when any agent proposes it again, whatever way it is given', async () => {
    const opened = await teaRegistry();
    const id = await rejected(opened, { content: LONGER });
    const error = { code: 'PROPOSAL_REJECTED', message: expect.stringContaining('Two is right.') };
    expect(await ask(opened, LONGER)).toMatchObject({ success: false, error });
    expect(await ask(opened, LONGER, { agentId: 'other' })).toMatchObject({ success: false, error });
    const parts = { skill_id: 'tea', old_string: 'two minutes', new_string: 'three minutes', justification: 'Again.' };
    const answer = await runRegistryTool(opened.registry, 'propose_skill_update', parts, BREWER);
    expect(answer).toMatchObject({ error: { ...error, message: expect.stringContaining(id) } });
    expect(await opened.registry.proposals.list()).toEqual([]);
    // Its advice: another content, or a person.
    expect(await ask(opened, version(4))).toMatchObject({ success: true });
    const byPerson = { skillId: 'tea', content: LONGER, justification: 'It is needed.', author: 'person:eve' };
    expect(await opened.registry.proposals.propose(byPerson)).toMatchObject({ state: 'open' });
  });

  it('is also the text that its author gave before a person edited it', async () => {
    const opened = await teaRegistry();
    const id = await opened.propose(LONGER);
    await opened.registry.proposals.edit(id, { content: version(5), ...ADA });
    await opened.registry.proposals.reject(id, { ...ADA, reason: 'No.' });
    for (const content of [LONGER, version(5)])
      expect(await ask(opened, content)).toMatchObject({ error: { code: 'PROPOSAL_REJECTED' } });
  });

  it('is not a removal of what is another text by now', async () => {
    const opened = await teaRegistry({ 'skills/tea/references/a.md': 'a\n' });
    const { proposals, admin } = opened.registry;
    const removal = { skillId: 'tea', path: 'references/a.md', remove: true, justification: 'Old.' } as const;
    await rejected(opened, removal);
    await expect(proposals.propose(removal)).rejects.toMatchObject({ code: 'PROPOSAL_REJECTED' });
    await admin.management.write('tea', 'references/a.md', 'b\n', ADA);
    expect(await proposals.propose(removal)).toMatchObject({ state: 'open' });
  });
});

describe('open proposals', () => {
  it('are at most five of one agent for one skill; the sixth is told which wait, and may come when one is decided', async () => {
    const opened = await teaRegistry({ 'skills/mate/SKILL.md': TEA.replace('name: tea', 'name: mate') });
    const ids: string[] = [];
    for (let n = 11; n <= 15; n++) ids.push(String((await ask(opened, version(n))).proposal_id));
    const sixth = await ask(opened, version(16));
    expect(sixth).toMatchObject({ success: false, error: { code: 'PROPOSAL_LIMIT' } });
    for (const id of ids) expect(JSON.stringify(sixth)).toContain(id);
    expect(await ask(opened, version(16), { agentId: 'other' })).toMatchObject({ success: true });
    const other = version(17).replace('name: tea', 'name: mate');
    expect(await ask(opened, other, BREWER, 'mate')).toMatchObject({ success: true });
    await opened.registry.proposals.reject(ids[0] ?? '', { ...ADA, reason: 'No.' });
    expect(await ask(opened, version(18))).toMatchObject({ success: true });
    expect(await ask(opened, version(19))).toMatchObject({ error: { code: 'PROPOSAL_LIMIT' } });
  });

  it('are five whatever the file, the kind, the name of the skill and of the agent is written like, and at once', async () => {
    const opened = await teaRegistry({ 'skills/tea/references/a.md': 'a\n' });
    const { proposals } = opened.registry;
    const ways: readonly ((n: number) => Promise<{ readonly success?: boolean }>)[] = [
      (n) => ask(opened, version(n), { agentId: 'Brewer' }),
      (n) => ask(opened, version(n), { agentId: 'bre\u200bwer ' }),
      (n) => ask(opened, version(n), BREWER, opened.registry.snapshot().skills[0]?.qualifiedId),
      (n) => runRegistryTool(opened.registry, 'propose_skill_update', note(n), BREWER),
      (n) => proposes(proposals, { path: `references/${n}.md`, content: 'New.\n', author: 'agent:Brewer' }),
      (n) => proposes(proposals, { content: version(n), author: 'agent: BREWER' }),
      () => proposes(proposals, { kind: 'delete', author: 'agent:brewer' }),
    ];
    const answers = await Promise.all([...ways, ...ways].map((way, at) => way(20 + at)));
    expect(answers.filter(({ success }) => success)).toHaveLength(5);
    expect(await proposals.list()).toHaveLength(5);
    for (const way of ways.slice(0, -1)) expect(await way(50)).toMatchObject({ error: { code: 'PROPOSAL_LIMIT' } });
  });

  it('are five of a skill that an agent wants to create, and stale ones count, since they wait as well', async () => {
    const opened = await teaRegistry();
    const { proposals } = opened.registry;
    const create = (n: number) => {
      const content = version(n).replace('name: tea', 'name: mate');
      return proposes(proposals, { skillId: 'mate', kind: 'create', content, author: 'agent:brewer' });
    };
    for (let n = 11; n <= 15; n++) expect(await create(n)).toMatchObject({ state: 'open' });
    await opened.registry.admin.management.create('mate', version(9).replace('name: tea', 'name: mate'), ADA);
    for (const { id } of await proposals.list()) await proposals.approve(id, ADA).catch(() => undefined);
    expect((await proposals.list()).map(({ state }) => state)).toEqual(Array(5).fill('stale'));
    const update = version(16).replace('name: tea', 'name: mate');
    const answer = await ask(opened, update, BREWER, 'mate');
    expect(answer).toMatchObject({ error: { code: 'PROPOSAL_LIMIT', message: expect.stringContaining('wait') } });
  });

  it('are as many as a person wants', async () => {
    const opened = await teaRegistry();
    for (let n = 11; n <= 17; n++) {
      const input = { skillId: 'tea', content: version(n), justification: 'Needed.', author: 'person:eve' };
      expect(await opened.registry.proposals.propose(input)).toMatchObject({ state: 'open' });
    }
  });
});

describe('list_proposals', () => {
  const list = (opened: TeaRegistry, args: object = {}, turn: TurnContext = BREWER) =>
    runRegistryTool(opened.registry, 'list_proposals', args, turn);

  it('tells an agent what became of its own, newest first, with who decided and why', async () => {
    const opened = await teaRegistry();
    const ids: unknown[] = [];
    for (const n of [11, 12, 13]) ids.push((await ask(opened, version(n))).proposal_id);
    await ask(opened, version(14), { agentId: 'other' });
    await opened.registry.proposals.reject(String(ids[0]), { ...ADA, reason: 'Too long.' });
    await opened.registry.proposals.approve(String(ids[1]), ADA);
    expect(await list(opened)).toEqual({
      success: true,
      proposals: [
        { proposal_id: ids[2], skill_id: 'tea', state: 'stale', decided_by: null, reason: null },
        { proposal_id: ids[1], skill_id: 'tea', state: 'approved', decided_by: 'person:ada', reason: null },
        { proposal_id: ids[0], skill_id: 'tea', state: 'rejected', decided_by: 'person:ada', reason: 'Too long.' },
      ],
    });
    expect(await list(opened, { limit: 1 })).toMatchObject({ proposals: [{ proposal_id: ids[2] }] });
    expect(await list(opened, { skill_id: 'mate' })).toEqual({ success: true, proposals: [] });
  });

  it('shows nobody else’s, and nothing to a caller that is no agent', async () => {
    const opened = await teaRegistry();
    await ask(opened, LONGER);
    await ask(opened, version(12), {});
    await opened.propose(version(13));
    expect(await list(opened, {}, { agentId: 'other' })).toEqual({ success: true, proposals: [] });
    expect(await list(opened, {}, {})).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
    expect((await list(opened)).proposals).toHaveLength(2);
  });
});
