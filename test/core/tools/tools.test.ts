import { z } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name);

it('all tools are offered unless the config says otherwise', async () => {
  const { registry } = await openRegistry();
  expect(names(registry.tools())).toEqual([
    'list_skills',
    'read_skill',
    'read_skill_resource',
    'propose_skill_update',
    'list_proposals',
  ]);
});

it('the config chooses tools and their order', async () => {
  const { registry } = await openRegistry({}, { tools: ['read_skill', 'list_skills'] });
  expect(names(registry.tools())).toEqual(['read_skill', 'list_skills']);
  expect((await openRegistry({}, { tools: [] })).registry.tools()).toEqual([]);
});

it('what a model is told of the tools does not depend on the skills there are', async () => {
  const describe = (tools: Awaited<ReturnType<typeof openRegistry>>['registry']) =>
    JSON.stringify(tools.tools().map(({ name, description, input }) => [name, description, z.toJSONSchema(input)]));
  const { registry: empty } = await openRegistry();
  const { registry: full } = await openRegistry({
    'skills/unmistakable/SKILL.md': skillMd({ name: 'unmistakable', description: 'd', tags: 'unmistakable' }),
  });
  expect(describe(full)).toBe(describe(empty));
});
