import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRegistry, openRoot } from '../../../helpers/open-registry.ts';
import { ADA, LONGER, TEA } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { treeOf } from '../../../helpers/tree-of.ts';

const CONFIG = { sources: [{ path: 'skills' }, { path: 'more', writable: true }] };
const FILES = { 'tea/SKILL.md': TEA, 'tea/references/a.md': 'a\n' };
const OUTDATED = { code: 'SHOWN_CHANGED', message: expect.stringContaining('Nothing was written.') };

async function installed() {
  const from = tempFolder(FILES);
  const { root, registry } = await openRegistry({ 'more/x.md': '' }, CONFIG);
  await (await registry.origin.add(from)).apply(ADA);
  return { from, root, registry, lock: () => readFileSync(join(root, 'skills-lock.json'), 'utf8') };
}

it('writes no update over what somebody has edited since it was shown, and takes it into the next one', async () => {
  const { from, root, registry } = await installed();
  writeTree(from, { 'tea/references/a.md': 'newer\n' });
  const plan = await registry.origin.update();
  const edited = TEA.replace('Rinse the pot.', 'Rinse and dry the pot.');
  writeTree(root, { 'skills/tea/SKILL.md': edited });
  const before = treeOf(join(root, 'skills'));
  await expect(plan.apply(ADA)).rejects.toMatchObject(OUTDATED);
  expect(treeOf(join(root, 'skills'))).toEqual(before);

  await (await registry.origin.update()).apply(ADA);
  expect(treeOf(join(root, 'skills/tea'))).toMatchObject({
    'SKILL.md': `644 ${edited}`,
    'references/a.md': '644 newer\n',
  });
});

it('updates none of several skills when one has changed since it was shown', async () => {
  const { from, root, registry } = await installed();
  writeTree(from, { 'milk/SKILL.md': TEA.replace('name: tea', 'name: milk') });
  await (await registry.origin.add(from, { skills: ['milk'] })).apply(ADA);
  writeTree(from, { 'milk/SKILL.md': LONGER.replace('name: tea', 'name: milk'), 'tea/SKILL.md': LONGER });
  const plan = await registry.origin.update();
  writeTree(root, { 'skills/tea/notes.md': 'Mine.\n' });
  const before = treeOf(join(root, 'skills'));
  await expect(plan.apply(ADA)).rejects.toMatchObject(OUTDATED);
  expect(treeOf(join(root, 'skills'))).toEqual(before);
});

it('makes no half of a skill that was removed since its update was shown', async () => {
  const { from, root, registry } = await installed();
  writeTree(from, { 'tea/references/a.md': 'newer\n' });
  const plan = await registry.origin.update();
  const other = await openRoot(root, { config: CONFIG });
  await other.origin.remove('tea', ADA);
  await expect(plan.apply(ADA)).rejects.toMatchObject(OUTDATED);
  expect(existsSync(join(root, 'skills/tea'))).toBe(false);
  expect(await registry.origin.verify()).toEqual([]);
});

it('leaves the lock to the command that was faster, of two that install different skills of one name', async () => {
  const { from, root, registry, lock } = await installed();
  await registry.origin.remove('tea', ADA);
  const other = tempFolder({ 'tea/SKILL.md': LONGER });
  const slower = await registry.origin.add(other, { to: join(root, 'more') });
  await (await registry.origin.add(from)).apply(ADA);
  const before = lock();
  await expect(slower.apply(ADA)).rejects.toMatchObject(OUTDATED);
  expect(lock()).toBe(before);
  expect(existsSync(join(root, 'more/tea'))).toBe(false);
});

it('restores nothing that was taken out of the lock since it was shown', async () => {
  const { root, registry, lock } = await installed();
  const locked = lock();
  rmSync(join(root, 'skills/tea'), { recursive: true });
  await registry.refresh();
  const plan = await registry.origin.restore();
  await registry.origin.remove('tea', ADA);
  await expect(plan.apply(ADA)).rejects.toMatchObject(OUTDATED);
  expect(existsSync(join(root, 'skills/tea'))).toBe(false);

  writeTree(root, { 'skills-lock.json': locked });
  await (await registry.origin.restore()).apply(ADA);
  expect(await registry.origin.verify()).toMatchObject([{ state: 'same' }]);
});
