import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createPackageSource,
  findPackage,
  isPackageName,
} from '../../../extensions/skill_registry/features/packs/package-source.ts';
import { codesOf, scan } from '../../core/sources/conformance.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const PLACE = 'node_modules/brew';
const skill = (path: string, body = 'Body.'): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) as string, description: `Does ${path}.` }, body),
});
const json = (fields: object): string => JSON.stringify({ name: 'brew', version: '1.0.0', type: 'module', ...fields });

async function scanPackage(tree: Tree, fields: object | string = {}, name = 'brew') {
  const text = typeof fields === 'string' ? fields : json(fields);
  const root = tempFolder({ [`${PLACE}/package.json`]: text, ...tree });
  const source = createPackageSource({ id: name, name, from: root, factoryMs: 300 });
  const { skills, problems } = await scan(source);
  return { root, source, problems, ids: skills.map(({ qualifiedId }) => qualifiedId) };
}

describe('where a package keeps its skills', () => {
  const tree = { ...skill(`${PLACE}/skills/a`), ...skill(`${PLACE}/b`), ...skill(`${PLACE}/more/c`) };

  it.each<[string, object, readonly string[]]>([
    ['skills/ where nothing is said', {}, ['brew:skills/a']],
    ['a folder', { skills: 'more' }, ['brew:more/c']],
    ['a folder from here', { skills: './more/' }, ['brew:more/c']],
    ['a folder that is a skill', { skills: 'b' }, ['brew:b']],
    ['a list', { skills: ['b', 'more', './skills'] }, ['brew:b', 'brew:more/c', 'brew:skills/a']],
    ['a list with a folder twice', { skills: ['more', 'more/c'] }, ['brew:more/c']],
    ['the package as a whole', { skills: '.' }, ['brew:b', 'brew:more/c', 'brew:skills/a']],
    ['an empty list', { skills: [] }, []],
  ])('is %s', async (_, fields, ids) => {
    const { ids: found, problems } = await scanPackage(tree, fields);
    expect(found).toEqual(ids);
    expect(problems).toEqual([]);
  });

  it.each<[string, object, readonly string[]]>([
    ['leaves the package', { skills: '../outside' }, ['SYMLINK_OUTSIDE']],
    ['leaves the package in one of several', { skills: ['b', '../../x'] }, ['SYMLINK_OUTSIDE']],
    ['is a link out of the package', { skills: 'link' }, ['SYMLINK_OUTSIDE']],
    ['is absolute', { skills: '/etc' }, ['SOURCE_MISSING']],
    ['does not exist', { skills: 'none' }, ['SOURCE_MISSING']],
    ['is a file', { skills: 'package.json' }, ['SOURCE_MISSING']],
    ['holds a NUL', { skills: 'a\0b' }, ['SOURCE_MISSING']],
  ])('is a problem and no skill where it %s', async (_, fields, codes) => {
    const outside = { 'node_modules/outside/secret/SKILL.md': 'Secret.', 'x/secret/SKILL.md': 'Secret.' };
    const link = { [`${PLACE}/link`]: { link: '../outside' } };
    const { ids, problems } = await scanPackage({ ...tree, ...outside, ...link }, fields);
    expect(ids.filter((id) => id !== 'brew:b')).toEqual([]);
    expect(codesOf(problems)).toEqual(codes);
  });
});

describe('a broken package', () => {
  const main = (text: string): Tree => ({ [`${PLACE}/index.js`]: text });

  it.each<[string, Tree, object | string, RegExp]>([
    ['package.json is not JSON', {}, '{', /JSON/],
    ['package.json is empty', {}, '', /JSON/],
    ['package.json is a list', {}, '[]', /package.json is \[\], expected an object/],
    ['package.json is null', {}, 'null', /package.json is null, expected an object/],
    [
      'skills is a number',
      {},
      { skills: 7 },
      /"skills" in package.json is 7, expected a folder or a list of folders\. Correct/,
    ],
    ['skills is an empty text', {}, { skills: '' }, /is "", expected/],
    ['skills holds a number', {}, { skills: ['a', 7] }, /is \["a",7\], expected/],
    [
      'there is nothing',
      {},
      {},
      /no "skills" in package.json, no skills\/ folder and exports no function skillSource\. Add/,
    ],
    ['its main file is not there', {}, { main: 'none.js' }, /the file that main or exports/],
    ['it exports no factory', main('export const other = 1;'), {}, /exports no function skillSource/],
    ['its factory is no function', main('export const skillSource = 1;'), {}, /exports no function skillSource/],
    ['it does not parse', main('export const ='), {}, /./],
    ['it throws', main('throw new Error("no luck")'), {}, /no luck/],
    ['its factory throws', main('export const skillSource = () => { throw new Error("no luck"); }'), {}, /no luck/],
    ['its factory throws nothing', main('export const skillSource = () => { throw undefined; }'), {}, /./],
    ['its factory rejects', main('export const skillSource = async () => { throw 7; }'), {}, /7/],
    ['its factory never ends', main('export const skillSource = () => new Promise(() => {})'), {}, /settle/],
    ['it never loads', main('await new Promise(() => {}); export const skillSource = 1;'), {}, /settle/],
    ['its factory returns nothing', main('export const skillSource = () => {}'), {}, /neither/],
    ['its factory returns null', main('export const skillSource = () => null'), {}, /neither/],
    ['its factory returns half a source', main('export const skillSource = () => ({ scan() {} })'), {}, /neither/],
  ])('is a problem that names it, and nothing else suffers: %s', async (_, tree, fields, reason) => {
    const { ids, problems } = await scanPackage(tree, fields);
    expect(ids).toEqual([]);
    expect(problems).toMatchObject([{ code: 'PACKAGE_BROKEN', severity: 'error', details: { name: 'brew' } }]);
    expect(problems[0]?.message).toMatch(reason);
    expect(problems[0]?.message).toMatch(/^The package brew gives no skills: [^\n]+, or remove the source\.$/);
    expect(problems[0]?.message).not.toMatch(/Require stack|version=/);
  });

  it.each<[string, string, string]>([
    ['a source whose function throws', 'skills() { throw new Error("no luck"); }', 'SOURCE_FAILED'],
    ['a source whose function gives nothing', 'async skills() {}', 'SOURCE_FAILED'],
    ['a source of no skills', 'skills: [null, {}, 7]', 'SKILL_ID_INVALID'],
    ['a folder that does not exist', '', 'SOURCE_MISSING'],
  ])('is one whose factory returns %s', async (_, skills, code) => {
    const made = skills ? `({ id: 'i', ${skills} })` : '"/no/such/folder"';
    const { ids, problems } = await scanPackage(main(`export const skillSource = () => ${made};`));
    expect(ids).toEqual([]);
    expect(new Set(codesOf(problems))).toEqual(new Set([code]));
  });

  it('leaves the other sources of the registry alone', async () => {
    const { registry, root } = await openRegistry(
      { ...skill('skills/own'), [`${PLACE}/package.json`]: '{' },
      {
        sources: [
          { package: 'brew' },
          { package: '@none/there' },
          { path: 'skills' },
          { package: 'x', optional: true },
        ],
      },
    );
    expect(registry.list().total).toBe(1);
    expect(registry.problems().map(({ code, file }) => [code, file])).toEqual([
      ['PACKAGE_BROKEN', join(root, PLACE, 'package.json')],
      ['PACKAGE_NOT_FOUND', join(root, 'node_modules/@none/there')],
    ]);
  });
});

describe('a factory that failed', () => {
  const broken = { [`${PLACE}/index.js`]: 'throw new Error("no luck");' };
  const sound = { [`${PLACE}/index.js`]: `export const skillSource = () => 'own';` };

  async function open(retryMs?: number) {
    const root = tempFolder({ [`${PLACE}/package.json`]: json({}), ...skill(`${PLACE}/own/a`), ...broken });
    const wait = retryMs === undefined ? {} : { retryMs };
    const source = createPackageSource({ id: 'brew', name: 'brew', from: root, ...wait });
    return { root, source, ids: async () => (await scan(source)).skills.map(({ qualifiedId }) => qualifiedId) };
  }

  it('is tried again at the next scan', async () => {
    const { root, source, ids } = await open(0);
    const first = await scan(source);
    expect(codesOf(first.problems)).toEqual(['PACKAGE_BROKEN']);
    expect(await scan(source)).toEqual(first);
    writeTree(root, sound);
    expect(await ids()).toEqual(['brew:own/a']);
    expect((await scan(source)).problems).toEqual([]);
  });

  it('is tried again after five seconds, then ever more rarely', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(1_000_000);
    onTestFinished(() => clock.mockRestore());
    const { root, ids } = await open();
    expect(await ids()).toEqual([]);
    clock.mockReturnValue(1_005_000);
    expect(await ids()).toEqual([]);
    writeTree(root, sound);
    clock.mockReturnValue(1_014_999);
    expect(await ids()).toEqual([]);
    clock.mockReturnValue(1_015_000);
    expect(await ids()).toEqual(['brew:own/a']);
  });
});

it('runs nothing of a package while code that links lead to is half approved, and all of it afterwards', async () => {
  const code = "globalThis.ranHalf = true; export const skillSource = () => 'found';";
  const root = tempFolder({
    'extensions/brew/package.json': json({ main: 'index.js' }),
    'extensions/brew/index.js': code,
    ...skill('extensions/brew/found/tea'),
    [PLACE]: { link: '../extensions/brew' },
    'data/.held/brew/approving': '[]',
  });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, 'ranHalf'));
  const options = { id: 'brew', name: 'brew', from: root, allowOutside: true } as const;
  const half = await scan(createPackageSource(options));
  expect(half.problems).toMatchObject([
    { code: 'PACKAGE_BROKEN', message: expect.stringMatching(/interrupted \(brew\)/) },
  ]);
  expect(globalThis).not.toHaveProperty('ranHalf');
  rmSync(join(root, 'data/.held/brew/approving'));
  const { skills } = await scan(createPackageSource(options));
  expect([skills.length, Reflect.get(globalThis, 'ranHalf')]).toEqual([1, true]);
});

describe('a package that leaves its folder', () => {
  it.each<[string, object, Tree]>([
    ['by its package.json', { skills: '../outside' }, {}],
    ['by a link', { skills: 'link' }, { [`${PLACE}/link`]: { link: '../outside' } }],
    ['by its factory', {}, { [`${PLACE}/index.js`]: `export const skillSource = () => '../outside';` }],
  ])('is told of it in words that are true, and may where the owner allows it: %s', async (_, fields, tree) => {
    const files = { [`${PLACE}/package.json`]: json(fields), ...skill('node_modules/outside/a'), ...tree };
    const opened = (allow_outside: boolean) => openRegistry(files, { sources: [{ package: 'brew', allow_outside }] });
    const { registry, root } = await opened(false);
    const what = 'skills' in fields && fields.skills === 'link' ? 'link leads to' : 'folder is';
    expect(registry.problems()).toMatchObject([
      {
        code: 'SYMLINK_OUTSIDE',
        message: `This ${what} ${root}/node_modules/outside, expected a folder in ${join(root, PLACE)}, so it was not read. Move it into that folder, or set allow_outside: true for the source.`,
      },
    ]);
    const allowed = (await opened(true)).registry;
    expect(allowed.list().skills.map(({ skillId }) => skillId)).toEqual(['a']);
    expect(allowed.problems()).toEqual([]);
  });
});

describe('a package', () => {
  it('is found in the node_modules of a folder above, the nearest first', async () => {
    const root = tempFolder({
      'node_modules/brew/package.json': json({}),
      ...skill('node_modules/brew/skills/far'),
      'app/deep/x': '',
    });
    const source = createPackageSource({ id: 'b', name: 'brew', from: join(root, 'app/deep') });
    const ids = async () => (await scan(source)).skills.map(({ id }) => id);
    expect(await ids()).toEqual(['far']);
    writeTree(root, { 'app/node_modules/brew/package.json': json({}), ...skill('app/node_modules/brew/skills/near') });
    expect(await ids()).toEqual(['near']);
    rmSync(join(root, 'app/node_modules'), { recursive: true });
    expect(await ids()).toEqual(['far']);
    expect(findPackage('none', join(root, 'app'))).toBeUndefined();
  });

  it('is looked at anew when another version is put in its place', async () => {
    const factory = (word: string): Tree => ({
      [`${PLACE}/index.js`]: `export const skillSource = () => new URL('./${word}', import.meta.url).pathname;`,
    });
    const { root, source, ids } = await scanPackage({
      ...factory('one'),
      ...skill(`${PLACE}/one/a`),
      ...skill(`${PLACE}/two/b`),
    });
    expect(ids).toEqual(['brew:one/a']);
    writeTree(root, { ...factory('two'), [`${PLACE}/package.json`]: json({ version: '2.0.0' }) });
    expect((await scan(source)).skills.map(({ qualifiedId }) => qualifiedId)).toEqual(['brew:two/b']);
    writeTree(root, { [`${PLACE}/package.json`]: json({ version: '3.0.0', skills: 'one' }) });
    expect((await scan(source)).skills.map(({ qualifiedId }) => qualifiedId)).toEqual(['brew:one/a']);
  });

  it('may be a link to where it is worked on', async () => {
    const { ids, problems } = await scanPackage(
      {
        'work/brew/package.json': json({}),
        ...skill('work/brew/skills/a'),
        'node_modules/linked': { link: '../work/brew' },
      },
      {},
      'linked',
    );
    expect([ids, problems]).toEqual([['linked:skills/a'], []]);
  });

  it.each([
    ['brew', true],
    ['@acme/brew', true],
    ['@acme/brew.js', true],
    ['a_b-c~d', true],
    ['', false],
    ['.', false],
    ['..', false],
    ['../x', false],
    ['@acme', false],
    ['@acme/', false],
    ['@acme/../x', false],
    ['@/x', false],
    ['@acme/brew/skills', false],
    ['a/b', false],
    ['Brew', false],
    ['/etc', false],
    ['.hidden', false],
    ['node_modules/x', false],
    ['a\0', false],
    ['a\n', false],
    ['a'.repeat(215), false],
  ])('has the name %j: %s', (name, expected) => {
    expect(isPackageName(name)).toBe(expected);
  });
});
