import { describe, expect, it } from 'vitest';
import { idsOf, PACKAGE, skillAt, withoutHome } from '../../helpers/ids-of-sources.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

withoutHome();

describe('optional', () => {
  it.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
    ['a folder', { path: 'none' }, ['SOURCE_MISSING none']],
    ['a file', { path: 'none.md' }, ['SOURCE_MISSING none.md']],
    ['a package', { package: 'none' }, ['PACKAGE_NOT_FOUND node_modules/none']],
    ['a pack', { pack: 'none.json' }, ['PACK_UNREADABLE none.json']],
    ['a preset', { preset: 'claude' }, []],
  ])('a source that is not there is told of unless it is: %s', async (_, source, problems) => {
    expect((await idsOf({}, source)).problems).toEqual(problems);
    expect((await idsOf({}, { ...source, optional: true })).problems).toEqual([]);
  });

  it('does not cover what is there and broken', async () => {
    const tree = { 'p.json': '{', [`${PACKAGE}/package.json`]: '{' };
    const { problems } = await idsOf(tree, { pack: 'p.json', optional: true }, { package: 'brew', optional: true });
    expect(problems).toEqual([`PACKAGE_BROKEN ${PACKAGE}/package.json`, 'PACK_INVALID p.json']);
  });
});

describe('preload', () => {
  const pack = JSON.stringify({ id: 'p', skills: ['./s', { name: 'c', description: 'Does c.', instructions: 'C.' }] });
  const tree = { ...skillAt('x/s/a'), 'x/p.json': pack, 'b.md': skillMd({ name: 'b', description: 'Does b.' }) };

  it.each<[string, Readonly<Record<string, unknown>>, Tree, readonly string[]]>([
    ['a folder', { path: 'x/s' }, tree, ['a']],
    ['a file', { path: 'b.md' }, tree, ['b']],
    ['a pack', { pack: 'x/p.json' }, tree, ['a', 'c']],
    ['an inline skill', { inline: { name: 'd', description: 'Does d.', instructions: 'D.' } }, {}, ['d']],
    ['a package', { package: 'brew' }, { ...skillAt(`${PACKAGE}/skills/e`), [`${PACKAGE}/package.json`]: '{}' }, ['e']],
    ['a preset', { preset: 'claude' }, skillAt('.claude/skills/f'), ['f']],
  ])('puts the bodies of a source into the prompt: %s', async (_, source, files, ids) => {
    const headings = async (preload: boolean) => {
      const { registry } = await idsOf(files, { ...source, preload });
      return [...((await registry.context('')) ?? '').matchAll(/^\[Skill: (.*) \| /gm)].map(([, id]) => id);
    };
    expect([await headings(true), await headings(false)]).toEqual([ids, []]);
  });
});

describe('ignore_files', () => {
  const tree: Tree = {
    ...skillAt('skills/kept'),
    ...skillAt('skills/dropped'),
    ...skillAt('skills/deep/dropped-too'),
    ...skillAt('skills/deep/kept-too'),
    ...skillAt('skills/other/dropped-too'),
    'skills/.gitignore': 'dropped/\n',
    'skills/deep/.ignore': '/dropped-too\n!kept-too\n',
  };

  it('is asked for by the owner', async () => {
    expect((await idsOf(tree, { path: 'skills' })).ids).toHaveLength(4);
    const { ids, problems } = await idsOf(tree, { path: 'skills', ignore_files: true });
    expect([ids, problems]).toEqual([['dropped-too', 'kept', 'kept-too'], []]);
  });

  it.each<[string, Tree[string]]>([
    ['bytes', Uint8Array.from({ length: 2000 }, (_, index) => (index * 31) % 256)],
    ['unclosed brackets', '[[[\n[a-\n[!\n\\\n(((\n{\n'],
    ['a device', { link: '/dev/zero' }],
    ['a circle', { link: '.gitignore' }],
    ['a folder', { link: '.' }],
    ['many stars', `${'*a'.repeat(20)}b\n${'**/a'.repeat(40)}b\n`],
    ['a path upwards', '../\n..\n/\n./\n//\n'],
  ])('of %s harms nobody', async (_, file) => {
    const { ids } = await idsOf(
      { ...skillAt(`skills/${'a'.repeat(60)}`), 'skills/.gitignore': file },
      { path: 'skills', ignore_files: true },
    );
    expect(ids).toEqual(['a'.repeat(60)]);
  });

  it('lets the file of the source itself be', async () => {
    const { ids } = await idsOf(
      { ...skillAt('skills/a'), '.gitignore': 'skills\n' },
      { path: 'skills', ignore_files: true },
    );
    expect(ids).toEqual(['a']);
  });
});
