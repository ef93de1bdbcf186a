import { expect, it } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { LONGER, TEA } from '../helpers/tea.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

it('start outlives garbage collections after thousands of statements of searches, proposals and history', {
  timeout: 60_000,
}, async () => {
  const work = `
    const { registry } = this.context.getExtension('skill_registry');
    for (let round = 0; round < 4; round++) {
      const content = ${JSON.stringify(LONGER)} + 'Round ' + round + '.\\n';
      const { proposalId } = await registry.proposals.propose({ skillId: 'tea', content, justification: 'x' });
      await registry.proposals.approve(proposalId, { by: 'person:ada' });
      for (let at = 0; at < 10; at++) await registry.history.revisions('tea');
      for (let at = 0; at < 300; at++) registry.list({ query: 'steep ' + round + ' leaves ' + at });
      // Not by a call of gc(): better-sqlite3 fails where the collection comes of itself, outside of any program.
      for (let at = 0; at < 5; at++) {
        Array.from({ length: 200_000 }, (_, item) => ({ item, text: 'x' + item }));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    return { kind: 'print', text: 'Revisions: ' + (await registry.history.revisions('tea')).length };`;
  const members = `getCommands() {
    return [{ name: 'press', description: 'Works hard.', execute: async () => { ${work} } }];
  }`;
  const root = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'data/skill_registry/config.yaml': 'sources: [{ path: skills }]\n',
    ...extension('press', 'depends_on: [skill_registry]', members),
  });
  const { status, stdout, stderr } = await runCommand(['start', '--root', root], { input: '/press\n/quit\n' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Revisions: 5');
});
