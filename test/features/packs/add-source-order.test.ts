import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

it('sources take the order of the calls, however long the modules of their kinds take to load', async () => {
  const { root, registry } = await openRegistry({
    'node_modules/@acme/skills/package.json': '{ "name": "@acme/skills", "version": "1.0.0", "skills": "skills" }',
    'node_modules/@acme/skills/skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'A cup.' }),
    'more/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }),
  });
  await Promise.all([
    registry.addSource({ package: '@acme/skills', id: 'first' }),
    registry.addSource({ path: `${root}/more`, id: 'second' }),
    registry.addSource({ id: 'third', skills: [] }),
  ]);
  expect(
    registry
      .snapshot()
      .sources.map(({ id }) => id)
      .slice(-3),
  ).toEqual(['first', 'second', 'third']);
});
