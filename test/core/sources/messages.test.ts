import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const text = skillMd({ name: 'x', description: 'Does x.' });

/** What a person is told says what arrived, what was expected and what to do. */
it.each<[string, Tree, Readonly<Record<string, unknown>>, string, string]>([
  [
    'a file that is no Markdown',
    { 'notes.txt': text },
    { path: 'notes.txt', optional: true },
    'SOURCE_MISSING',
    'This source is a file, expected a folder or a .md file. Correct the path or remove the source.',
  ],
  [
    'a folder that is called like a file',
    { 'notes.md/x': '' },
    { path: 'notes.md' },
    'SOURCE_MISSING',
    'This source is a folder, expected a file, because its path ends with .md. Correct the path or remove the source.',
  ],
  [
    'a directory with a name that is no id',
    { 'skills/a:b/SKILL.md': text },
    { path: 'skills' },
    'SKILL_ID_INVALID',
    'The directory name "a:b" is the id',
  ],
  [
    'a directory with a name that cannot be seen',
    { 'skills/a\u200bb/SKILL.md': text },
    { path: 'skills' },
    'SKILL_ID_INVALID',
    'The directory name "a\\u200bb" is the id',
  ],
  [
    'a file with a name that is no id',
    { 'a`b.md': text },
    { path: 'a`b.md' },
    'SKILL_ID_INVALID',
    'The file name "a`b" is the id',
  ],
])('%s', async (_, tree, source, code, start) => {
  const { registry } = await openRegistry(tree, { sources: [source] });
  const problem = registry.problems().find((one) => one.code === code);
  expect(problem?.message.slice(0, start.length)).toBe(start);
});

it('the path of a SKILL.md in other letters is its folder', async () => {
  const tree = { 'x/skill.md': text, 'x/references/a.md': 'A.' };
  const { registry } = await openRegistry(tree, { sources: [{ path: 'x/skill.md' }] });
  expect(await registry.readResource('x', 'references/a.md')).toMatchObject({ content: 'A.' });
  expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_FILE_CASE']);
});
