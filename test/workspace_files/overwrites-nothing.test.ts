import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skillMd, type Tree } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';

const MINE = skillMd({ name: 'mine', description: 'Written by a person.' });
const THEIRS = skillMd({ name: 'theirs', description: 'Written by an agent.' });
const ALLOW = { create: 'allow', update: 'allow', delete: 'allow' };

/** What a person has written is kept in no history, so no agent writes over it, whatever `writes` allows. */
it.each<[string, Tree, readonly unknown[], string]>([
  ['a bare file that is a source', { 'skills/note.md': MINE }, [{ path: 'skills/note.md' }], 'skills/note.md'],
  [
    'a skill that cannot be loaded',
    { 'skills/bad/SKILL.md': '---\nname: bad\n', 'skills/bad/x.txt': MINE },
    [{ path: 'skills' }],
    'skills/bad/x.txt',
  ],
  ['the SKILL.md of such a skill', { 'skills/bad/SKILL.md': '' }, [{ path: 'skills' }], 'skills/bad/SKILL.md'],
  ['a file between skills', { 'skills/README.md': MINE }, [{ path: 'skills' }], 'skills/README.md'],
  ['a skill of a source that is not writable', {}, [{ path: 'skills', writable: false }], 'skills/good/SKILL.md'],
  [
    'a file that no source has',
    { 'skills/notes.txt': MINE },
    [{ path: 'elsewhere', optional: true }],
    'skills/notes.txt',
  ],
  [
    'a skill of a pack',
    { 'skills/p.pack.json': '{ "id": "p", "version": "1", "skills": [{ "path": "./good" }] }' },
    [{ pack: 'skills/p.pack.json' }],
    'skills/good/SKILL.md',
  ],
])('an agent does not overwrite %s', async (_title, tree, sources, path) => {
  const { root, codeOf } = await workspace(tree, { sources, writes: ALLOW });
  const before = readFileSync(join(root, path), 'utf8');
  expect(await codeOf('write_file', { path, content: THEIRS })).toBe('WRITE_DENIED');
  expect(readFileSync(join(root, path), 'utf8')).toBe(before);
});

it('nor a skill of a preset to which skills/ is a link', async () => {
  const { root, codeOf } = await workspace(
    { '.claude/skills/tea/SKILL.md': MINE },
    { sources: [{ preset: 'claude' }], writes: ALLOW },
  );
  rmSync(join(root, 'skills'), { recursive: true });
  symlinkSync('.claude/skills', join(root, 'skills'));
  expect(await codeOf('write_file', { path: 'skills/tea/SKILL.md', content: THEIRS })).toBe('WRITE_DENIED');
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(MINE);
});

it.each<[string, object, string]>([
  ['where no source is', { sources: [{ path: 'elsewhere', optional: true }] }, 'skills/new/SKILL.md'],
  ['that hides every skill of the source', {}, 'skills/SKILL.md'],
  ['that names skills to pass over', {}, 'skills/.ignore'],
  ['that names skills to pass over, in Git', {}, 'skills/.gitignore'],
  ['that names skills to pass over, further down', {}, 'skills/group/.IGNORE'],
])('an agent writes no new file %s', async (_title, config, path) => {
  const { root, registry, call, codeOf } = await workspace({}, { writes: ALLOW, ...config });
  for (const turn of [{}, { agentId: 'scoped', boundSkills: ['other'] }])
    expect(await codeOf('write_file', { path, content: THEIRS }, turn)).toBe('WRITE_DENIED');
  expect(existsSync(join(root, path))).toBe(false);
  await registry.refresh();
  if (registry.snapshot().skills.length > 0) expect(registry.snapshot().byId.has('good')).toBe(true);
  // What the refusal says helps.
  const refused = await call('write_file', { path, content: THEIRS });
  expect(refused).toMatchObject({ error: { message: expect.stringMatching(/ask the user|Tell the user/) } });
});
