import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRoot } from '../../../helpers/open-registry.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { TEA } from '../../../helpers/tea.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const CHILD = join(import.meta.dirname, '../../../helpers/change-child.mjs');

/** A root in which a process was killed while it changed `tea`, and the skill `mint`. */
function killedRoot(dieAt: string): string {
  const root = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/mint/SKILL.md': TEA.replace('name: tea', 'name: mint'),
  });
  const args = { path: 'references/a.md', content: 'New.\n' };
  const child = spawnSync(process.execPath, [CHILD, JSON.stringify({ root, action: 'write', args, dieAt })]);
  expect(child.signal).toBe('SIGKILL');
  return root;
}

it('keeps a skill with an interrupted change from agents, and says what to do, where nobody has approved the root', async () => {
  const root = killedRoot('changed');
  const registry = await openRoot(root, { trust: false });
  expect(registry.visible().map(({ id }) => id)).toEqual(['mint']);
  await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  await expect(registry.readResource('tea', 'references/a.md', {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect((await registry.read('tea')).content).toContain('Warm the pot');
  expect(registry.problems()).toMatchObject([
    { code: 'CHANGE_UNFINISHED', severity: 'error', message: expect.stringMatching(/tea.*approvals allow/) },
  ]);
  const list = await runCommand(['list', '--root', root], { trust: false });
  expect(list.stderr).toMatch(/tea: held, a change of it was interrupted[\s\S]*2 skills, 1 held/);
});

it('gives it again when the root is approved, with the old files', async () => {
  const root = killedRoot('changed');
  await runCommand(['trust', 'allow', root], { trust: false });
  const registry = await openRoot(root);
  expect(registry.problems()).toEqual([]);
  expect((await registry.read('tea', {}, {})).resources).toEqual([]);
});

it('keeps nothing from agents when the change was made and only its traces are left', async () => {
  const root = killedRoot('committed');
  const registry = await openRoot(root, { trust: false });
  expect([registry.visible().length, registry.problems()]).toEqual([2, []]);
});
