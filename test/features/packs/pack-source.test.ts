import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPackSource } from '../../../extensions/skill_registry/features/packs/pack-source.ts';
import { codesOf, scan } from '../../core/sources/conformance.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const skill = (path: string, body = 'Body.'): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) as string, description: `Does ${path}.` }, body),
});
const note = (name: string): string => skillMd({ name, description: 'A note.' });
const inline = (name: string, instructions = 'Do.') => ({ name, description: `Does ${name}.`, instructions });

async function scanPack(tree: Tree, pack: unknown, allowOutside = false) {
  const text = typeof pack === 'string' ? pack : JSON.stringify(pack);
  const root = tempFolder({ 'pack/p.json': text, ...tree });
  const file = join(root, 'pack/p.json');
  const source = createPackSource({ id: 'p', file, allowOutside, preload: false });
  const { skills, losers = [], problems } = await scan(source);
  const brief = problems.map(({ code, details }) => [code, details?.pointer ?? '']);
  return { root, file, source, skills, losers, problems, brief, ids: skills.map(({ qualifiedId }) => qualifiedId) };
}
const scanSkills = (tree: Tree, ...skills: readonly unknown[]) => scanPack(tree, { id: 'x', skills });

describe('an entry', () => {
  const tree = { ...skill('pack/skills/a'), ...skill('pack/skills/deep/b'), 'pack/notes.MD': note('notes') };

  it.each<[string, unknown, readonly string[]]>([
    ['a folder of skills', './skills', ['p:skills/a', 'p:skills/deep/b']],
    ['a folder without a dot', 'skills', ['p:skills/a', 'p:skills/deep/b']],
    ['a folder that is a skill', './skills/a', ['p:skills/a']],
    ['the SKILL.md of one', './skills/a/SKILL.md', ['p:skills/a']],
    ['an object', { path: './skills/a' }, ['p:skills/a']],
    ['an object that does not preload', { path: './skills/a', preload: false }, ['p:skills/a']],
    ['a bare file', 'notes.MD', ['p:notes.MD']],
    ['the folder of the pack', '.', ['p:skills/a', 'p:skills/deep/b']],
    ['an inline skill', inline('Escalation Protocol!'), ['p:escalation-protocol']],
    ['an inline skill in another script', inline('升级 流程'), ['p:升级-流程']],
  ])('may be %s', async (_, entry, ids) => {
    const { ids: found, problems, skills } = await scanSkills(tree, entry);
    expect([found, problems]).toEqual([ids, []]);
    expect(skills.every(({ pack, preload }) => pack?.id === 'x' && preload === undefined)).toBe(true);
  });

  it('may ask for a preload, which holds whoever has the skill in the end', async () => {
    const entries = [{ path: 'skills/a', preload: true }, 'skills', inline('c')];
    const preloaded = async (...skills: readonly unknown[]) =>
      (await scanSkills(tree, ...skills)).skills.flatMap(({ id, preload }) => (preload ? [id] : []));
    expect(await preloaded(...entries)).toEqual(['a']);
    expect(await preloaded(...[...entries].reverse())).toEqual(['a']);
    expect(await preloaded({ path: 'skills', preload: true })).toEqual(['a', 'b']);
  });

  it.each<[string, unknown, string]>([
    ['a number', 7, '/skills/0'],
    ['null', null, '/skills/0'],
    ['a list', [], '/skills/0'],
    ['an empty text', '', '/skills/0'],
    ['an empty path', { path: '' }, '/skills/0/path'],
    ['a path that is a number', { path: 7 }, '/skills/0/path'],
    ['a preload that is a text', { path: 'skills', preload: 'yes' }, '/skills/0/preload'],
    ['a further field', { path: 'skills', depends_on: [] }, '/skills/0/depends_on'],
    ['a further field with odd signs', { path: 'skills', 'a/b~c': 1 }, '/skills/0/a~1b~0c'],
    ['an inline skill with a further field', { ...inline('x'), preload: true }, '/skills/0/preload'],
    ['an inline skill without a name', { ...inline('x'), name: undefined }, '/skills/0/name'],
    ['an inline skill with an empty description', { ...inline('x'), description: '' }, '/skills/0/description'],
    ['an inline skill with lists', { ...inline('x'), instructions: ['x'] }, '/skills/0/instructions'],
  ])('is left out and pointed at: %s', async (_, entry, pointer) => {
    const { ids, problems, file } = await scanSkills(tree, entry, 'skills/a');
    expect(ids).toEqual(['p:skills/a']);
    expect(problems).toMatchObject([{ code: 'PACK_INVALID', severity: 'error', file, details: { pointer } }]);
    expect(problems[0]?.message.startsWith(`${pointer}: expected `)).toBe(true);
  });

  it.each<[string, string, string]>([
    ['nothing is there', './none', 'PACK_PATH_MISSING'],
    ['it leaves the pack', '../outside', 'PACK_PATH_OUTSIDE'],
    ['it leaves the pack on the way', './skills/../../outside', 'PACK_PATH_OUTSIDE'],
    ['it only looks like the folder', '../pack-2', 'PACK_PATH_OUTSIDE'],
    ['it is absolute', '/etc', 'PACK_PATH_MISSING'],
    ['it holds a NUL', './a\0b', 'PACK_PATH_MISSING'],
    ['it is very long', `./${'a/'.repeat(9000)}`, 'PACK_PATH_MISSING'],
    ['it is a link out of the pack', './link', 'SYMLINK_OUTSIDE'],
    ['it is a file out of the pack', './out.md', 'SYMLINK_OUTSIDE'],
    ['it is a package that is not installed', '@acme/none', 'PACKAGE_NOT_FOUND'],
    ['it is no skill', './p.json', 'SOURCE_MISSING'],
    ['it is a folder that is called like a file', './folder.md', 'SOURCE_MISSING'],
  ])('is a problem, and the others are used: %s', async (_, entry, code) => {
    const outside = { ...skill('outside/s'), ...skill('pack-2/s'), 'outside/x.md': 'Secret.' };
    const links: Tree = {
      'pack/folder.md/x': '',
      'pack/link': { link: '../outside' },
      'pack/out.md': { link: '../outside/x.md' },
    };
    const { ids, problems } = await scanSkills({ ...tree, ...outside, ...links }, entry, 'skills/a');
    expect(ids).toEqual(['p:skills/a']);
    expect(codesOf(problems)).toEqual([code]);
    if (code.startsWith('PACK_')) expect(problems[0]?.details).toEqual({ pointer: '/skills/0' });
  });

  it('may be a SKILL.md in other letters, which stands for its folder', async () => {
    const { ids, problems } = await scanSkills({ 'pack/low/skill.md': note('low') }, './low/skill.md');
    expect([ids, codesOf(problems)]).toEqual([['p:low'], ['SKILL_FILE_CASE']]);
  });

  it('that is a package that is not installed is pointed at in the pack', async () => {
    const { root, file, problems } = await scanSkills({}, '@acme/none');
    expect(problems).toEqual([
      {
        code: 'PACKAGE_NOT_FOUND',
        severity: 'error',
        file,
        message: `/skills/0: the package @acme/none is not installed. Run npm install @acme/none in ${join(root, 'pack')}, or remove it from the pack.`,
        details: { name: '@acme/none', pointer: '/skills/0' },
      },
    ]);
  });

  it('may leave the pack where the owner allows it', async () => {
    const outside = { ...skill('outside/s'), 'outside/x.md': note('x'), 'pack/link': { link: '../outside' } };
    const pack = { id: 'x', skills: ['../outside', './link', '../outside/x.md'] };
    const { ids, problems } = await scanPack(outside, pack, true);
    expect([ids.sort(), problems]).toEqual([['p:../outside/x.md', 'p:link/s'], []]);
  });

  it('that is a package is found from the pack upwards, by its name', async () => {
    const brew = 'node_modules/@acme/brew';
    const files = { [`${brew}/package.json`]: '{"name":"@acme/brew"}', ...skill(`${brew}/skills/tea`) };
    const { skills } = await scanSkills(files, '@acme/brew');
    expect(skills).toMatchObject([
      { id: 'tea', qualifiedId: 'p:@acme/brew/skills/tea', pack: { path: '@acme/brew/skills/tea' }, source: 'p' },
    ]);
  });
});

describe('within one pack', () => {
  it('the last declared wins, and the loser is readable by its qualified id', async () => {
    const tree = { ...skill('pack/a/twin', 'First.'), ...skill('pack/b/twin', 'Second.') };
    const pack = { id: 'x', skills: ['./a', './b'] };
    const { registry } = await openRegistry(
      { ...tree, 'pack/p.json': JSON.stringify(pack) },
      { sources: [{ pack: 'pack/p.json' }] },
    );
    expect((await registry.read('twin')).content).toBe('Second.');
    expect((await registry.read('p:a/twin')).content).toBe('First.');
    expect(registry.problems()).toMatchObject([
      { code: 'SKILL_ID_TAKEN', details: { winner_id: 'p:b/twin', loser_id: 'p:a/twin' } },
    ]);
  });

  it('of inline skills of one name the last wins, and each has a qualified id of its own', async () => {
    const pack = { id: 'x', skills: [inline('Same', 'One.'), inline('Same', 'Two.'), inline('same!', 'Three.')] };
    const { registry } = await openRegistry({ 'p.json': JSON.stringify(pack) }, { sources: [{ pack: 'p.json' }] });
    expect((await registry.read('same')).content).toBe('Three.');
    const { byQualifiedId } = registry.snapshot();
    expect([...byQualifiedId.keys()]).toEqual(['p:same', 'p:same~2', 'p:same~3']);
    const read = await Promise.all([...byQualifiedId.keys()].map((id) => registry.read(id)));
    expect(read.map(({ content }) => content)).toEqual(['Three.', 'Two.', 'One.']);
    for (const [index, { digest }] of [...byQualifiedId.values()].entries()) expect(read[index]?.digest).toBe(digest);
    const told = registry.problems().map(({ code, details }) => [code, details?.pointer ?? details?.loser_id]);
    expect(told).toEqual([
      ['PACK_NAME_REPEATED', '/skills/1'],
      ['SKILL_ID_TAKEN', 'p:same~2'],
      ['SKILL_ID_TAKEN', 'p:same~3'],
    ]);
  });

  it.each([
    ['a name of signs', { ...inline('!!!') }, 'SKILL_ID_INVALID'],
    ['nothing but blanks', { name: 'x', description: ' ', instructions: ' \n' }, 'SKILL_EMPTY'],
    ['a description that is very long', { ...inline('x'), description: 'a '.repeat(600) }, 'DESCRIPTION_TOO_LONG'],
  ])('an inline skill is told of that has %s', async (_, entry, code) => {
    const { problems } = await scanSkills({}, entry);
    expect(codesOf(problems)).toContain(code);
  });
});

describe('the pack itself', () => {
  it.each<[string, unknown, readonly (readonly string[])[]]>([
    ['no JSON', '{', [['PACK_INVALID', '']]],
    ['nothing', '', [['PACK_INVALID', '']]],
    ['a list', '[]', [['PACK_INVALID', '']]],
    ['null', 'null', [['PACK_INVALID', '']]],
    ['skills that are no list', { id: 'x', skills: {} }, [['PACK_INVALID', '/skills']]],
    ['no id', { skills: [] }, [['PACK_INVALID', '/id']]],
    ['an id that is a number', { id: 7 }, [['PACK_INVALID', '/id']]],
    ['no skills', { id: 'x' }, []],
    ['a byte order mark', `\ufeff{"id":"x"}`, []],
    ['a workflow that is a list', { id: 'x', workflow: [] }, [['PACK_INVALID', '/workflow']]],
    ['a workflow without states', { id: 'x', workflow: { entry: 'a' } }, [['PACK_INVALID', '/workflow']]],
    [
      'states that are wrong',
      { id: 'x', workflow: { entry: 'c', states: { 'a/b': 7, b: { skills: null } } } },
      [
        ['PACK_INVALID', '/workflow/states/a~1b'],
        ['PACK_INVALID', '/workflow/states/b/skills'],
        ['PACK_INVALID', '/workflow/entry'],
      ],
    ],
  ])('is reported with a pointer, or sound: %s', async (_, pack, brief) => {
    expect((await scanPack({}, pack)).brief).toEqual(brief);
  });

  it('is edited while it is in use', async () => {
    const { root, source, ids } = await scanSkills(skill('pack/skills/a'), './skills', inline('one'));
    const rescan = async (text: string) => {
      writeTree(join(root, 'pack'), { 'p.json': text });
      const { skills, problems } = await scan(source);
      return [skills.map(({ qualifiedId }) => qualifiedId), codesOf(problems)];
    };
    expect(ids).toEqual(['p:skills/a', 'p:one']);
    expect(await rescan(JSON.stringify({ id: 'x', skills: [inline('two')] }))).toEqual([['p:two'], []]);
    expect(await rescan('{')).toEqual([['p:two'], ['PACK_INVALID']]);
    expect(await rescan(JSON.stringify({ id: 'x', skills: ['./skills'] }))).toEqual([['p:skills/a'], []]);
    expect(source.scopes?.()).toMatchObject({ pack: 'x' });
  });

  it.each<[string, Tree[string], RegExp]>([
    ['a device', { link: '/dev/zero' }, /expected a JSON file\. Correct the path, or/],
    ['a circle', { link: 'p.json' }, /links in its path form a circle\. Repair them/],
    ['nothing', { link: 'none.json' }, /there is no such file.*Create it, correct the path, or remove the source\.$/],
    ['a folder', { link: '.' }, /it is a folder, expected a JSON file\. Name the file in it/],
  ])('is not waited for: a link to %s', async (_, link, reason) => {
    const { registry } = await openRegistry({ 'p.json': link }, { sources: [{ pack: 'p.json' }] });
    expect(registry.problems().map(({ code }) => code)).toEqual(['PACK_UNREADABLE']);
    expect(registry.problems()[0]?.message).toMatch(reason);
    expect(registry.problems()[0]?.message).not.toMatch(/ENOENT|ELOOP|EISDIR/);
  });
});
