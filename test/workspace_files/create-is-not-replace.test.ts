import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd } from '../helpers/temp-folder.ts';

/** Free to create, held back from changing: what may be written then must leave every skill as it is. */
const CONFIG = { writes: { create: 'allow', update: 'deny' } };

it.each([
  ['a new skill', 'skills/fresh/SKILL.md', 'create'],
  ['a file of a skill that is still to come', 'skills/fresh/references/a.md', 'create'],
  ['the SKILL.md of a skill', 'skills/group/good/SKILL.md', 'update'],
  ['a file in a skill', 'skills/group/good/new.md', 'update'],
  ['a SKILL.md above all skills, which would hide them', 'skills/SKILL.md', 'update'],
  ['a SKILL.md above some skills', 'skills/group/skill.md', 'update'],
  ['a folder that would come first and win the id', 'skills/aaa/good/SKILL.md', 'update'],
  ['a SKILL.md that is there and cannot be loaded', 'skills/broken/SKILL.md', 'update'],
  ['a file between skills that is there', 'skills/README.md', 'update'],
])('%s counts as what it does', async (_what, path, action) => {
  const { root, registry } = await openRegistry(
    {
      'skills/group/good/SKILL.md': skillMd({ name: 'good', description: 'Good.' }),
      'skills/broken/SKILL.md': '',
      'skills/README.md': 'Read me.',
    },
    CONFIG,
  );
  const policy = action === 'create' ? 'allow' : 'deny';
  expect(registry.admin.writePolicy(join(root, path))).toMatchObject({ action, policy, source: 'skills' });
});

it('a bare file and a pack are changed, not created', async () => {
  const { root, registry } = await openRegistry(
    { 'notes/tea.md': skillMd({ description: 'Tea.' }), 'support.json': '{ "id": "s", "skills": [] }' },
    { ...CONFIG, sources: [{ path: 'notes/tea.md' }, { pack: 'support.json' }] },
  );
  expect(registry.admin.writePolicy(join(root, 'notes/tea.md'))?.policy).toBe('deny');
  expect(registry.admin.writePolicy(join(root, 'support.json'))?.policy).toBe('deny');
  writeFileSync(join(root, 'elsewhere.txt'), '');
  expect(registry.admin.writePolicy(join(root, 'elsewhere.txt'))).toBeUndefined();
});
