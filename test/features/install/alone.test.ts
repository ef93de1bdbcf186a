import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Feature } from '../../../extensions/skill_registry/core/feature.ts';
import { openRegistry } from '../../../extensions/skill_registry/core/registry.ts';
import features from '../../../extensions/skill_registry/features.ts';
import { ADA, TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** With nothing but what installing needs. */
async function alone() {
  const root = tempFolder({ 'skills/x.md': '' });
  const needed = (features as readonly Feature[]).filter(({ id }) => ['guard', 'history', 'install'].includes(id));
  const registry = await openRegistry({ root, config: { sources: [{ path: 'skills' }] } }, needed);
  onTestFinished(() => registry.close());
  return { root, registry };
}

it('takes no page when no feature opens pages', async () => {
  const { registry } = await alone();
  await expect(registry.origin.add('https://localhost/skills')).rejects.toMatchObject({
    code: 'ORIGIN_INVALID',
    message: expect.stringContaining('nothing here opens an origin of this kind'),
  });
});

it('leaves a skill as it is that both sides have changed, when no feature makes proposals', async () => {
  const { root, registry } = await alone();
  const from = tempFolder({ 'tea/SKILL.md': TEA });
  await (await registry.origin.add(from)).apply(ADA);
  const file = join(root, 'skills/tea/SKILL.md');
  const [here, there] = [`${TEA}\nMine.\n`, `${TEA}\nTheirs.\n`];
  writeFileSync(file, here);
  writeFileSync(join(from, 'tea/SKILL.md'), there);
  const plan = await registry.origin.update();
  expect(plan.skills).toMatchObject([{ id: 'tea', state: 'failed' }]);
  expect(plan.skills[0]?.reason).toContain('nothing here makes a proposal of it');
  expect(await plan.apply(ADA)).toEqual([]);
  expect(readFileSync(file, 'utf8')).toBe(here);
});
