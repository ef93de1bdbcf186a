import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const TREE = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }, 'Warm the pot.'),
  'skills/tea/references/leaves.md': 'Loose.',
};

it('gives the tools of PromptKit with their arguments and results where the config asks for them', async () => {
  const config = { sources: [{ path: 'skills' }], tools: [], dialect: ['promptkit'] };
  const { registry } = await openRegistry(TREE, config);
  expect(registry.tools().map(({ name }) => name)).toEqual(['skill__activate', 'skill__read_resource']);
  expect(await runRegistryTool(registry, 'skill__activate', { name: 'tea' })).toEqual({
    success: true,
    instructions: 'Warm the pot.',
    files: ['references/leaves.md'],
  });
  const resource = { skill_name: 'tea', path: 'references/leaves.md' };
  expect(await runRegistryTool(registry, 'skill__read_resource', resource)).toEqual({
    success: true,
    content: 'Loose.',
  });
  const outside = { skill_name: 'tea', path: '../../secret' };
  expect(await runRegistryTool(registry, 'skill__read_resource', outside)).toMatchObject({
    error: { code: 'PATH_TRAVERSAL' },
  });
  expect(await runRegistryTool(registry, 'skill__activate', { name: 'te' })).toMatchObject({
    error: { code: 'SKILL_NOT_FOUND' },
  });
});

it('names in the catalog the tool that loads a skill', async () => {
  const { registry } = await openRegistry(TREE, { tools: ['skill__activate'] });
  expect(await registry.context('')).toContain('Use skill__activate(name) to load full instructions.');
});
