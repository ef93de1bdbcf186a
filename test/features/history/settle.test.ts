import { mkdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import type { InternalOptions } from '../../../extensions/skill_registry/core/options.ts';
import { ADA, TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

it('keeps a change in the journal until its lock is written, and writes it with the next change', async () => {
  const from = tempFolder({ 'tea/SKILL.md': TEA, 'mint/SKILL.md': TEA.replace('name: tea', 'name: mint') });
  const root = tempFolder();
  const lock = join(root, 'skills-lock.json');
  let breaksLock = false;
  const options: InternalOptions = {
    root,
    config: { sources: [{ path: 'skills' }] },
    onWriteStep: (step) => {
      if (!breaksLock || step !== 'committed') return;
      breaksLock = false;
      renameSync(lock, `${lock}.aside`);
      mkdirSync(lock);
    },
  };
  const registry = await createSkillRegistry(options);
  onTestFinished(() => registry.close());
  await (await registry.origin.add(from, { all: true })).apply(ADA);
  breaksLock = true;
  await registry.origin.remove('tea', ADA);
  expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['mint']);
  expect(registry.problems()).toMatchObject([{ code: 'CHANGE_UNFINISHED', severity: 'warning' }]);
  rmdirSync(lock);
  renameSync(`${lock}.aside`, lock);
  await registry.admin.management.write('mint', 'more.md', 'More.\n', ADA);
  expect(Object.keys((JSON.parse(readFileSync(lock, 'utf8')) as { skills: object }).skills)).toEqual(['mint']);
  expect(registry.problems()).toEqual([]);
});
