import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const TEXT = skillMd({ name: 'tea', description: 'Brew tea.' }, 'Steep it.');
const TWO = { sources: [{ path: 'one' }, { path: 'two' }] };
const both = (files: Tree = {}): Tree => ({ 'one/tea/SKILL.md': TEXT, 'two/tea/SKILL.md': TEXT, ...files });

describe('equal copies of a skill', () => {
  it.each(['first', 'last'] as const)('keep a preload, whichever source says it: the %s wins', async (collision) => {
    for (const preload of [
      [true, false],
      [false, true],
    ]) {
      const sources = [
        { path: 'one', preload: preload[0] },
        { path: 'two', preload: preload[1] },
      ];
      const { registry } = await openRegistry(both(), { sources, collision });
      expect(await registry.context('')).toContain('Steep it.');
      expect(registry.problems()).toEqual([]);
      expect(registry.visible()).toHaveLength(1);
      expect((await registry.read('tea', {}, { agentId: 'a', boundSkills: ['tea'] })).content).toBe('Steep it.');
    }
  });

  it('keep it within a pack, and between a pack and a folder', async () => {
    const pack = (...skills: unknown[]) => ({ 'p.json': JSON.stringify({ id: 'p', skills }) });
    const inPack = await openRegistry(both(pack({ path: 'one', preload: true }, 'two')), {
      sources: [{ pack: 'p.json' }],
    });
    expect(await inPack.registry.context('')).toContain('Steep it.');
    const beside = await openRegistry(both(pack({ path: 'two', preload: true })), {
      sources: [{ path: 'one' }, { pack: 'p.json' }],
    });
    expect(await beside.registry.context('')).toContain('Steep it.');
  });

  it('of another content do not', async () => {
    const tree = { ...both(), 'two/tea/SKILL.md': `${TEXT}More.\n` };
    const { registry } = await openRegistry(tree, { sources: [{ path: 'one' }, { path: 'two', preload: true }] });
    expect(await registry.context('')).not.toContain('Steep it.');
  });
});

describe('an equal SKILL.md with other files beside it', () => {
  it.each<[string, Tree]>([
    ['a file more', { 'two/tea/scripts/boil.sh': 'boil' }],
    ['a file of another name', { 'one/tea/a.md': 'A.', 'two/tea/b.md': 'A.' }],
    ['a file of another size', { 'one/tea/a.md': 'A.', 'two/tea/a.md': 'A..' }],
    ['a file of the same size', { 'one/tea/a.md': 'A.', 'two/tea/a.md': 'B.' }],
  ])('is a problem: %s', async (_, files) => {
    const { registry, root } = await openRegistry(both(files), TWO);
    expect(registry.problems()).toMatchObject([
      {
        code: 'SKILL_ID_TAKEN',
        severity: 'warning',
        file: join(root, 'two/tea/SKILL.md'),
        message: expect.stringContaining('Their SKILL.md files are equal, their other files are not.'),
      },
    ]);
    // The advice: read it by its qualified id, or make the folders equal.
    expect((await registry.read('two:tea')).source).toBe('two');
    cpSync(join(root, 'one/tea'), join(root, 'two/tea'), { recursive: true });
    cpSync(join(root, 'two/tea'), join(root, 'one/tea'), { recursive: true });
    await registry.refresh();
    expect(registry.problems()).toEqual([]);
  });

  it('is none where the files are equal', async () => {
    const { registry } = await openRegistry(both({ 'one/tea/a.md': 'A.', 'two/tea/a.md': 'A.' }), TWO);
    expect(registry.problems()).toEqual([]);
  });

  it('leaves nobody the id where a collision is an error', async () => {
    const { registry } = await openRegistry(both({ 'two/tea/a.md': 'A.' }), { ...TWO, collision: 'error' });
    expect(registry.snapshot().skills).toEqual([]);
    expect(registry.problems()).toMatchObject([{ code: 'SKILL_ID_TAKEN', severity: 'error' }]);
    const equal = await openRegistry(both(), { ...TWO, collision: 'error' });
    expect(equal.registry.snapshot().skills).toHaveLength(1);
  });
});

describe('two packs of one id', () => {
  const pack = (id: string, name: string) =>
    JSON.stringify({ id, skills: [{ name, description: `Does ${name}.`, instructions: 'Do.' }] });
  const see = async (tree: Tree, sources: readonly object[], named: readonly string[]) => {
    const { registry } = await openRegistry(tree, { sources });
    const seen = named.map((one) => registry.visible({ workflowState: { pack: one } }).map(({ id }) => id));
    const problems = registry
      .problems()
      .map(({ code, severity, file, message }) => ({ code, severity, file, message }));
    return { seen, problems };
  };

  it('are a problem, and both are reached by their sources', async () => {
    const tree = { 'a.json': pack('desk', 'tea'), 'b.json': pack('desk', 'cup') };
    const { seen, problems } = await see(tree, [{ pack: 'a.json' }, { pack: 'b.json' }], ['desk', 'a', 'b']);
    expect(seen).toEqual([['tea'], ['tea'], ['cup']]);
    expect(problems).toMatchObject([
      { code: 'PACK_ID_TAKEN', severity: 'warning', file: expect.stringMatching(/b\.json$/) },
    ]);
    expect(problems[0]?.message).toContain('or write "b", the id of its source');
  });

  it('are one where a pack has the id of the source of another', async () => {
    const tree = { 'a.json': pack('b', 'tea'), 'b.json': pack('other', 'cup') };
    const { seen, problems } = await see(tree, [{ pack: 'a.json' }, { pack: 'b.json' }], ['b', 'a', 'other']);
    expect(seen).toEqual([['cup'], ['tea'], ['cup']]);
    expect(problems).toMatchObject([{ code: 'PACK_ID_TAKEN', file: expect.stringMatching(/a\.json$/) }]);
  });

  it('are none where it is the same file, or a pack has the id of its own source', async () => {
    const tree = { 'a.json': pack('a', 'tea') };
    expect((await see(tree, [{ pack: 'a.json' }, { pack: 'a.json' }], [])).problems).toEqual([]);
  });
});
