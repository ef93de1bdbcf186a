import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { ADA, LONGER, TEA } from '../../../helpers/tea.ts';
import { type Tree, tempFolder } from '../../../helpers/temp-folder.ts';

const CUP = TEA.replaceAll('tea', 'cup');

async function open(
  tree: Tree,
  sources: readonly { path: string; id?: string; writable?: boolean }[],
): Promise<{ root: string; registry: SkillRegistry }> {
  const root = tempFolder(tree);
  const registry = await createSkillRegistry({ root, config: { sources: [...sources] } });
  onTestFinished(() => registry.close());
  return { root, registry };
}

it('a proposal for a folder that two sources have is applied through the one it was made for', async () => {
  const { registry } = await open({ 'skills/tea/SKILL.md': TEA }, [
    { path: 'skills', id: 'theirs', writable: false },
    { path: 'skills', id: 'ours' },
  ]);
  const input = { skillId: 'ours:tea', content: LONGER, justification: 'It was weak.' };
  const { proposalId } = await registry.proposals.propose(input);
  expect(await registry.proposals.approve(proposalId, ADA)).toMatchObject({ state: 'approved' });
});

it('a creation is stale when another source has a skill of that name by now', async () => {
  const { root, registry } = await open({ 'one/tea/SKILL.md': TEA, 'two/jug/SKILL.md': CUP }, [
    { path: 'one' },
    { path: 'two' },
  ]);
  const input = { skillId: 'cup', kind: 'create', content: CUP, justification: 'Needed.' } as const;
  const { proposalId } = await registry.proposals.propose(input);
  mkdirSync(join(root, 'two/cup'));
  writeFileSync(join(root, 'two/cup/SKILL.md'), CUP);
  await registry.refresh();
  await expect(registry.proposals.approve(proposalId, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_STALE' });
});

it('a removed skill comes back although another source’s skill of that name took its place', async () => {
  const { registry } = await open({ 'one/tea/SKILL.md': TEA, 'two/tea/SKILL.md': LONGER }, [
    { path: 'one' },
    { path: 'two' },
  ]);
  await registry.admin.management.remove('tea', ADA);
  expect(registry.snapshot().byId.get('tea')?.source).toBe('two');
  await registry.history.restore('tea', ADA);
  expect(registry.snapshot().byId.get('tea')?.source).toBe('one');
  await expect(registry.history.restore('tea', ADA)).rejects.toMatchObject({ code: 'SKILL_EXISTS' });
});

it('a source that is a skill is changed, but neither removed nor given skills that nobody would find', async () => {
  const { registry } = await open({ 'tea/SKILL.md': TEA }, [{ path: 'tea' }]);
  await registry.admin.management.write('tea', 'references/a.md', 'x', ADA);
  const removal = { skillId: 'tea', kind: 'delete', justification: 'Old.' } as const;
  await expect(registry.proposals.propose(removal)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(registry.admin.management.create('cup', CUP, ADA)).rejects.toMatchObject({
    code: 'SOURCE_NOT_WRITABLE',
  });
});
