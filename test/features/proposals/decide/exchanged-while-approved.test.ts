import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import type { TurnContext } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { proposalsCommand } from '../../../../extensions/skill_registry/features/proposals/conversation.ts';
import { attack } from '../../../helpers/held.ts';
import { openRegistry } from '../../../helpers/open-registry.ts';
import { pageOf } from '../../../helpers/review-page.ts';
import { ADA, TEA, teaRegistry } from '../../../helpers/tea.ts';
import { writeTree } from '../../../helpers/temp-folder.ts';

const ATTACK = TEA.replace('Serve.', `Serve.\n${attack(151)}`);
/** The proposal does not apply to it. */
const OTHER = TEA.replace('Serve.', 'Pour it into cups.');

/** A proposal of an attack. Each inspection of it finds the text to which it does not apply, and leaves the other one. */
async function exchanged() {
  const { registry, root, tea, propose } = await teaRegistry();
  const id = await propose(ATTACK);
  const file = join(root, 'skills/tea/SKILL.md');
  const admin: SkillRegistry['admin'] = {
    ...registry.admin,
    async blockFindingsAfter(change) {
      writeFileSync(file, OTHER);
      const found = await registry.admin.blockFindingsAfter(change);
      writeFileSync(file, TEA);
      return found;
    },
  };
  return { registry, exchanging: { ...registry, admin }, root, tea, id };
}

it('writes no attack into a skill that is exchanged while a person approves in a conversation', async () => {
  const { exchanging, id, tea } = await exchanged();
  const command = proposalsCommand(exchanging);
  const approve = async (): Promise<unknown> => command.execute(`approve ${id}`, { userId: 'ada' } as TurnContext);
  expect(await approve()).toMatchObject({ text: expect.stringContaining('Nothing is decided') });
  await expect(approve()).rejects.toMatchObject({ code: 'SHOWN_CHANGED' });
  expect(tea()).toBe(TEA);
});

it('writes no attack into a skill that is exchanged while a person approves at the page', async () => {
  const { registry, exchanging, id, root, tea } = await exchanged();
  const { version } = await registry.proposals.get(id);
  const page = await pageOf({ registry: exchanging, root, by: 'person:ada' });
  const refused = await page.post(`/proposals/${id}/approve`, { version, blocks: '' });
  expect([refused.status, tea()]).toEqual([409, TEA]);
  expect(refused.text).toContain('have changed since they were inspected');
});

it('approves, rolls back and restores only what was inspected', async () => {
  const { registry, root, tea, propose } = await teaRegistry();
  const { admin, history, proposals } = registry;
  const changed = { code: 'SHOWN_CHANGED', message: expect.stringContaining('Nothing was changed') };
  const id = await propose(ATTACK);
  const { digest } = await admin.blockFindingsAfter({ proposalId: id });
  writeFileSync(join(root, 'skills/tea/more.md'), attack(152));
  for (const inspected of [digest, null])
    await expect(proposals.approve(id, { ...ADA, inspected })).rejects.toMatchObject(changed);
  expect(tea()).toBe(TEA);
  const now = await admin.blockFindingsAfter({ proposalId: id });
  expect(now.blocks.map(({ file }) => file).sort()).toEqual(['SKILL.md', 'more.md']);
  await proposals.approve(id, { ...ADA, inspected: now.digest });
  expect(tea()).toBe(ATTACK);

  const first = await admin.blockFindingsAfter({ skillId: 'tea', revision: 1 });
  await expect(history.rollback('tea', 2, { ...ADA, inspected: first.digest })).rejects.toMatchObject(changed);
  await history.rollback('tea', 1, { ...ADA, inspected: first.digest });
  expect(tea()).toBe(TEA);

  await admin.management.remove('tea', ADA);
  const empty = await admin.blockFindingsAfter({ restoredId: 'tea' });
  const data = join(root, 'data/skill_registry');
  const archived = readdirSync(data, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('SKILL.md'));
  writeFileSync(join(data, `${archived}`), ATTACK);
  await expect(history.restore('tea', { ...ADA, inspected: empty.digest })).rejects.toMatchObject(changed);
  const { digest: last } = await admin.blockFindingsAfter({ restoredId: 'tea' });
  await history.restore('tea', { ...ADA, inspected: last });
  expect(tea()).toBe(ATTACK);
});

it('approves what is no attack while other files change, and not after another decision on the skill', async () => {
  const { registry, root, tea, propose } = await teaRegistry();
  const { admin, proposals } = registry;
  const first = await propose(OTHER);
  const more = {
    skillId: 'tea',
    path: 'more.md',
    content: 'More.\n',
    justification: 'Better.',
    author: 'agent:brewer',
  };
  const { proposalId: second } = await proposals.propose(more);
  const inspected = (await admin.blockFindingsAfter({ proposalId: first })).digest;
  const old = (await admin.blockFindingsAfter({ proposalId: second })).digest;
  writeFileSync(join(root, 'skills/tea/brewing.log'), 'One more.\n');
  await proposals.approve(first, { ...ADA, inspected });
  expect(tea()).toBe(OTHER);
  await expect(proposals.approve(second, { ...ADA, inspected: old })).rejects.toMatchObject({ code: 'SHOWN_CHANGED' });
});

it('rolls back to what is no attack while files change that no revision records', async () => {
  const { registry, root, tea } = await teaRegistry({ 'skills/tea/node_modules/x/log': '' });
  await registry.admin.management.write('tea', 'SKILL.md', OTHER, ADA);
  const inspected = (await registry.admin.blockFindingsAfter({ skillId: 'tea', revision: 1 })).digest;
  writeFileSync(join(root, 'skills/tea/node_modules/x/log'), 'One more.\n');
  await registry.history.rollback('tea', 1, { ...ADA, inspected });
  expect(tea()).toBe(TEA);
});

it('allows the skill that was changed, and not another one that has its id now', async () => {
  const sources = [
    { id: 'first', path: 'first' },
    { id: 'skills', path: 'skills' },
  ];
  const { registry, root } = await openRegistry({ 'skills/tea/SKILL.md': TEA, 'first/x.txt': '' }, { sources });
  const input = { skillId: 'tea', content: ATTACK, justification: 'Better.', author: 'agent:brewer' };
  const change = { proposalId: (await registry.proposals.propose(input)).proposalId };
  const shown = await registry.admin.blockFindingsAfter(change);
  writeTree(root, { 'first/tea/SKILL.md': ATTACK });
  await registry.refresh();
  await registry.proposals.approve(change.proposalId, { ...ADA, inspected: shown.digest });
  expect(await registry.admin.allowShown(change, shown, ADA)).toBeNull();
  const heldOf = async (id: string) => (await registry.admin.trustOf(id)).heldBecause;
  expect([await heldOf('skills:tea'), await heldOf('first:tea')]).toEqual([null, expect.stringContaining('SKILL.md')]);
});

it('allows nothing of a skill that has other files than those that were shown', async () => {
  const { registry, root, propose } = await teaRegistry();
  const change = { proposalId: await propose(ATTACK) };
  const shown = await registry.admin.blockFindingsAfter(change);
  await registry.proposals.approve(change.proposalId, { ...ADA, inspected: shown.digest });
  writeFileSync(join(root, 'skills/tea/more.md'), 'More.\n');
  expect(await registry.admin.allowShown(change, shown, ADA)).toMatch(/SKILL\.md/);
});

it('says that a change cannot be made now instead of what it would leave', async () => {
  const { registry, root, propose } = await teaRegistry();
  const id = await propose(ATTACK);
  writeFileSync(join(root, 'skills/tea/SKILL.md'), OTHER);
  expect(await registry.admin.blockFindingsAfter({ proposalId: id })).toEqual({ blocks: [], digest: null });
});
