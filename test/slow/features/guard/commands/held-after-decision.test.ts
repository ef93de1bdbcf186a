import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { skill } from '../../../../helpers/boot-root.ts';
import { attack } from '../../../../helpers/held.ts';
import { openRoot } from '../../../../helpers/open-registry.ts';
import { runCommand } from '../../../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../../../helpers/temp-folder.ts';

const ON_ITS_OWN = (id: string, host: number): string =>
  skillMd({ name: id, description: `Does ${id}.` }, attack(host));

/** A root with the skill tea and an open proposal of an agent that puts an attack into it. @returns its root and id. */
async function proposed(host: number): Promise<readonly [root: string, id: string]> {
  const root = tempFolder(skill('tea'));
  const registry = await openRoot(root);
  const { proposalId: id } = await registry.proposals.propose({
    skillId: 'tea',
    content: ON_ITS_OWN('tea', host),
    justification: 'Better.',
    author: 'agent:helper',
  });
  return [root, id];
}

/** The ids that an agent is shown. */
async function seenIn(root: string): Promise<readonly string[]> {
  const registry = await openRoot(root);
  await registry.admin.inspectSkills();
  return registry.visible().map(({ id }) => id);
}

it('allows what a person was shown when approving a proposal', async () => {
  const [root, id] = await proposed(31);
  const approved = await runCommand(['proposals', 'approve', id, '--root', root], { answer: () => 'tea' });
  expect(approved).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/attack[\s\S]*attack {2}[\s\S]*203\.0\.113\.31/),
  });
  expect(approved.stderr).not.toContain('is held');
  expect(await seenIn(root)).toEqual(['tea']);
});

it('allows nothing when an agent says what it was shown', async () => {
  const [root, id] = await proposed(33);
  const registry = await openRoot(root);
  const shown = await registry.admin.blockFindingsAfter({ proposalId: id });
  await registry.proposals.approve(id, { by: 'person:ada' });
  expect(await registry.admin.allowShown({ proposalId: id }, shown, { by: 'agent:reviewer' })).toMatch(/SKILL\.md/);
  expect(await seenIn(root)).toEqual([]);
});

it('allows what was shown, and nothing that somebody added meanwhile', async () => {
  const [root, id] = await proposed(34);
  const registry = await openRoot(root);
  const shown = await registry.admin.blockFindingsAfter({ proposalId: id });
  await registry.proposals.approve(id, { by: 'person:ada' });
  writeFileSync(join(root, 'skills/tea/more.md'), attack(35));
  expect(await registry.admin.allowShown({ proposalId: id }, shown, { by: 'person:ada' })).not.toBeNull();
  expect(await seenIn(root)).toEqual([]);
});

it('shows it in a conversation before it is approved, and allows it', async () => {
  const [root, id] = await proposed(36);
  const kernel = await boot({ root });
  onTestFinished(() => kernel.shutdown());
  const turn = { agentId: 'orchestrator_agent', threadId: 't', userId: 'ada' };
  const shown = await kernel.runCommand(`/proposals approve ${id}`, turn);
  expect(shown).toMatchObject({
    kind: 'print',
    text: expect.stringMatching(/203\.0\.113\.36[\s\S]*Nothing is decided yet.*the id of the skill \(tea\)/),
  });
  for (const words of ['', ' yes', ' teapot', ' it is tea'])
    expect(await kernel.runCommand(`/proposals approve ${id}${words}`, turn)).toMatchObject({
      text: expect.stringContaining(`Nothing is decided. To approve it`),
    });
  const approved = await kernel.runCommand(`/proposals approve ${id} tea As agreed.`, turn);
  expect(approved).toMatchObject({ text: expect.not.stringContaining('held') });
  expect(await kernel.runCommand('/skills:tea', turn)).toMatchObject({ kind: 'send' });
});

it.each([
  ['allows what a person was shown when rolling back', 37, { answer: () => 'tea' }, 0],
  ['rolls nothing back that nobody has confirmed', 38, {}, 1],
])('%s', async (_, host, options, status) => {
  const root = tempFolder({ 'skills/tea/SKILL.md': ON_ITS_OWN('tea', host) });
  const registry = await openRoot(root);
  const clean = skillMd({ name: 'tea', description: 'Does tea.' }, 'Clean.');
  await registry.admin.management.write('tea', 'SKILL.md', clean, { by: 'person:ada' });
  expect(await seenIn(root)).toEqual(['tea']);
  const result = await runCommand(['rollback', 'tea', '1', '--root', root], options);
  expect(result.status).toBe(status);
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(status === 0 ? ON_ITS_OWN('tea', host) : clean);
  expect(await seenIn(root)).toEqual(['tea']);
});
