import { expect, it } from 'vitest';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd } from '../helpers/temp-folder.ts';

const good = skillMd({ name: 'good', description: 'The real one.' });

it.each([
  ['a folder link that sorts first', { 'skills/good/SKILL.md': good, 'skills/aaa': { link: 'good' } }],
  ['a folder link higher up', { 'skills/z/good/SKILL.md': good, 'skills/a/first': { link: '../z/good' } }],
  [
    'a SKILL.md that is a link',
    { 'skills/good/SKILL.md': good, 'skills/alias/SKILL.md': { link: '../good/SKILL.md' } },
  ],
])('%s does not take the place of the skill it leads to', async (_what, tree) => {
  const { registry } = await openRegistry(tree);
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['good']);
});
