import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { ADA, TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const TREE = {
  'skills/tea/SKILL.md': TEA,
  'data/skill_registry/config.yaml': '# mine\nsources: [{ path: skills }]\n',
};
const TEA_SKILL = { skill: 'tea' };

it('keeps a skill from agents at once, and in the config for the next start', async () => {
  const { root, registry } = await openRegistry(TREE);
  const seen = (turn = {}) => registry.visible(turn).map(({ id }) => id);
  const file = join(root, 'data/skill_registry/config.yaml');
  expect(await registry.admin.setDisabled({ ...TEA_SKILL, agent: 'brewer' }, true, ADA)).toEqual({
    file,
    changed: true,
  });
  expect([seen(), seen({ agentId: 'brewer' })]).toEqual([['tea'], []]);
  expect(readFileSync(file, 'utf8')).toMatch(/^# mine\n[\s\S]*disabled:\n\s+- \{ ?skill: tea, agent: brewer ?\}/);
  const views = async () =>
    (await registry.admin.whoSees([{ agentId: 'brewer' }])).flatMap((one) => one.views.map(({ because }) => because));
  expect(await views()).toEqual([undefined, 'disabled in the config']);
  await registry.admin.setDisabled(TEA_SKILL, true, ADA);
  expect(seen()).toEqual([]);
  expect(await registry.admin.setDisabled(TEA_SKILL, true, ADA)).toEqual({ file, changed: false });
  await expect(registry.admin.setDisabled({ ...TEA_SKILL, agent: 'brewer' }, false, ADA)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  await registry.admin.setDisabled(TEA_SKILL, false, ADA);
  expect(await views()).toEqual([undefined, undefined]);
  await expect(registry.admin.setDisabled({ skill: 'te' }, true, ADA)).rejects.toMatchObject({
    code: 'SKILL_NOT_FOUND',
  });
});

it('writes nothing out of a root that nobody has approved', async () => {
  const elsewhere = tempFolder();
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  mkdirSync(join(root, 'data'));
  symlinkSync(elsewhere, join(root, 'data/skill_registry'));
  const registry = await openRoot(root, { trust: false });
  await expect(registry.admin.setDisabled(TEA_SKILL, true, ADA)).rejects.toMatchObject({ code: 'PATH_TRAVERSAL' });
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
});

it('says that nothing could be written where the folder of the config cannot be made', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': TEA, data: { link: 'gone/nowhere' } });
  await expect(registry.admin.setDisabled(TEA_SKILL, true, ADA)).rejects.toMatchObject({
    code: 'WRITE_FAILED',
    message: expect.stringContaining('config.yaml'),
  });
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
});
