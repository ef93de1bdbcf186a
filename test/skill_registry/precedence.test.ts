import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { delimited } from '../../lib/text/index.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd, type Tree } from '../helpers/temp-folder.ts';

const skill = (path: string, body: string, description = 'Does it.'): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) as string, description }, body),
});

const TREE: Tree = {
  ...skill('one/twin', 'Twin one.'),
  ...skill('two/twin', 'Twin two.'),
  ...skill('three/deep/twin', 'Twin three.'),
  ...skill('two/pair', 'Pair two.'),
  ...skill('three/pair', 'Pair three.'),
  ...skill('two/alone', 'Alone.'),
  ...skill('one/same', 'Same.'),
  ...skill('three/same', 'Same.'),
};
const paths = (...names: readonly string[]) => ({ sources: names.map((path) => ({ path })) });

async function bodies(config: Readonly<Record<string, unknown>>) {
  const { registry, root } = await openRegistry(TREE, config);
  const { skills } = registry.snapshot();
  const read = await Promise.all(skills.map(async ({ id }) => [id, (await registry.read(id)).content]));
  return { registry, root, read: Object.fromEntries(read) as Readonly<Record<string, string>> };
}

const ALL = { alone: 'Alone.', same: 'Same.' };

describe('the order of sources', () => {
  it.each([
    ['one', 'two', 'three', 'Twin one.', 'Pair two.'],
    ['two', 'one', 'three', 'Twin two.', 'Pair two.'],
    ['three', 'two', 'one', 'Twin three.', 'Pair three.'],
  ])('is what the config says: %s, %s, %s', async (first, second, third, twin, pair) => {
    expect((await bodies(paths(first, second, third))).read).toEqual({ ...ALL, twin, pair });
    const last = { ...paths(third, second, first), collision: 'last' };
    expect((await bodies(last)).read).toEqual({ ...ALL, twin, pair });
  });
});

describe('a collision', () => {
  it.each([
    ['first', { winner: 'one/twin', losers: ['two/twin', 'three/deep/twin'] }],
    ['last', { winner: 'three/deep/twin', losers: ['one/twin', 'two/twin'] }],
  ])('names winner and losers, and leaves the losers readable: %s', async (collision, { winner, losers }) => {
    const { registry, root } = await bodies({ ...paths('one', 'two', 'three'), collision });
    const fileOf = (path: string): string => join(root, path, 'SKILL.md');
    const told = registry.problems().filter(({ details }) => details?.winner === fileOf(winner));
    expect(told.map(({ code, severity, file, details }) => [code, severity, file, details?.loser])).toEqual(
      losers.map((path) => ['SKILL_ID_TAKEN', 'warning', fileOf(path), fileOf(path)]),
    );
    for (const path of losers) {
      const [source, ...below] = path.split('/');
      const qualified = `${source}:${below.join('/')}`;
      const loser = await registry.read(qualified, { audience: 'model' }, {});
      expect(loser).toMatchObject({ skillId: qualified, content: `Twin ${source}.`, source });
      expect(told.some(({ message }) => message.includes(qualified))).toBe(true);
    }
    expect(registry.list({ query: 'twin' }).total).toBe(1);
  });

  it('that is an error leaves nobody the id, and every clash is told after everything was looked at', async () => {
    const { registry, root, read } = await bodies({ ...paths('one', 'two', 'three'), collision: 'error' });
    expect(read).toEqual(ALL);
    const clashes = registry.problems().map(({ code, severity, details }) => [code, severity, details?.loser]);
    expect(clashes).toEqual([
      ['SKILL_ID_TAKEN', 'error', join(root, 'two/twin/SKILL.md')],
      ['SKILL_ID_TAKEN', 'error', join(root, 'three/deep/twin/SKILL.md')],
      ['SKILL_ID_TAKEN', 'error', join(root, 'three/pair/SKILL.md')],
    ]);
    await expect(registry.read('twin')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    for (const id of ['one:twin', 'two:twin', 'three:deep/twin', 'two:pair', 'three:pair']) {
      expect(await registry.read(id)).toMatchObject({ skillId: id });
    }
    expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['same', 'alone']);
  });

  it('is none where the content is the same, or the same file is found twice', async () => {
    const { registry } = await openRegistry(
      { ...skill('one/same', 'Same.'), ...skill('two/same', 'Same.'), three: { link: 'one' } },
      paths('one', 'two', 'three', 'one'),
    );
    expect(registry.problems()).toEqual([]);
    expect(registry.list().total).toBe(1);
    expect(registry.snapshot().sources.map(({ id }) => id)).toEqual(['one', 'two', 'three', 'one-2']);
    for (const id of ['one:same', 'two:same', 'three:same', 'one-2:same']) {
      expect(await registry.read(id)).toMatchObject({ content: 'Same.' });
    }
  });

  it.each([['first'], ['last'], ['error']])('ends when it is mended: %s', async (collision) => {
    const { registry, root } = await openRegistry(
      { ...skill('one/twin', 'One.'), ...skill('two/twin', 'Two.') },
      { ...paths('one', 'two'), collision },
    );
    expect(registry.problems()).toHaveLength(1);
    rmSync(join(root, 'one/twin'), { recursive: true });
    await registry.refresh();
    expect(registry.problems()).toEqual([]);
    expect(await registry.read('twin')).toMatchObject({ content: 'Two.' });
  });

  it('keeps a skill preloaded that a later source preloads', async () => {
    const { registry } = await openRegistry(TREE, { sources: [{ path: 'two' }, { path: 'two/alone', preload: true }] });
    expect(await registry.context('')).toContain(delimited('Skill: alone', 'Alone.'));
  });
});

it('a loser is answered under the id that reaches it again, with its own files', async () => {
  const { registry } = await openRegistry(
    {
      'a/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea of a.' }, 'A.'),
      'a/tea/ref.md': 'file of a',
      'b/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea of b.' }, 'B.'),
      'b/tea/ref.md': 'file of b',
    },
    { sources: [{ path: 'a' }, { path: 'b' }] },
  );
  expect(await registry.read('a:tea')).toMatchObject({ skillId: 'tea', content: 'A.' });
  const loser = await registry.read('b:tea');
  expect(loser).toMatchObject({ skillId: 'b:tea', content: 'B.', message: expect.stringContaining('loaded: b:tea ') });
  expect(await registry.readResource(loser.skillId, 'ref.md')).toMatchObject({
    skillId: 'b:tea',
    content: 'file of b',
  });
});
