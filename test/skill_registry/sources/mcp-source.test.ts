import { expect, it } from 'vitest';
import { serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const PNG = Uint8Array.from([0x89, 0x50, 0xff, 0x00]);

/** What another registry serves. */
const TEA: Tree = {
  'skills/tea/SKILL.md': skillMd(
    { name: 'tea', description: 'Brews tea.', metadata: '{ tags: "drink" }', requires: '[cup]' },
    'Boil water.',
  ),
  'skills/tea/references/green & black.md': 'Steep.\r\n',
  'skills/tea/assets/leaf.png': PNG,
  'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Chooses a cup.' }, 'Take a cup.'),
};

it('lists the skills of a server under its name, and reads them and their files when they are asked for', async () => {
  const served = await serveRegistry(TEA);
  const { registry, loaded } = await openRegistry(
    {},
    { sources: [{ path: 'skills', optional: true }, { mcp: { url: served.serving.url }, id: 'pantry' }] },
  );
  expect(registry.problems()).toEqual([]);
  expect(registry.snapshot().sources).toEqual([
    expect.objectContaining({ kind: 'directory', skills: 0 }),
    { id: 'pantry', kind: 'mcp', location: served.serving.url, skills: 2 },
  ]);
  expect(registry.snapshot().skills.map(({ qualifiedId, description }) => [qualifiedId, description])).toEqual([
    ['pantry:cup', 'Chooses a cup.'],
    ['pantry:tea', 'Brews tea.'],
  ]);
  expect(served.loaded).toEqual([]);
  const read = await registry.read('tea', {}, { agentId: 'cook' });
  expect(read).toMatchObject({
    skillId: 'tea',
    content: 'Boil water.',
    source: 'pantry',
    requires: ['cup'],
    resources: [
      { path: 'assets/leaf.png', size: 4 },
      { path: 'references/green & black.md', size: 8 },
    ],
  });
  expect(read.directory).toBeUndefined();
  expect(await registry.readResource('pantry:tea', 'references/green & black.md')).toMatchObject({
    content: 'Steep.\r\n',
    encoding: 'utf-8',
  });
  expect(await registry.readResource('tea', 'assets/leaf.png')).toMatchObject({
    content: Buffer.from(PNG).toString('base64'),
    encoding: 'base64',
  });
  expect(served.loaded.map(({ skillId, path }) => path ?? skillId)).toEqual([
    'tea',
    'references/green & black.md',
    'assets/leaf.png',
  ]);
  expect(loaded.map(({ source, outcome }) => `${source} ${outcome}`)).toEqual(Array(3).fill('pantry success'));
  expect((await registry.list({ query: 'brew' })).skills.map(({ skillId }) => skillId)).toEqual(['tea']);
});
