import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSecrets } from '../../../kernel/boot/settings.ts';
import { mergeConfig, readOwnerConfig } from '../../../kernel/host.ts';
import { type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { bootTree, extension, problemsOf, states } from './boot-extensions.ts';

describe('mergeConfig', () => {
  test.each<[what: string, layers: readonly Record<string, unknown>[], merged: Record<string, unknown>]>([
    ['of nothing is empty', [], {}],
    ['lets the later layer win', [{ a: 1 }, { a: 2 }, { a: 3 }], { a: 3 }],
    ['keeps what only one layer has', [{ a: 1 }, { b: 2 }], { a: 1, b: 2 }],
    ['merges mappings key by key', [{ a: { x: 1, y: 1 } }, { a: { y: 2, z: 2 } }], { a: { x: 1, y: 2, z: 2 } }],
    ['merges mappings at any depth', [{ a: { b: { x: 1 } } }, { a: { b: { y: 2 } } }], { a: { b: { x: 1, y: 2 } } }],
    ['replaces a list whole', [{ a: [1, 2, 3] }, { a: [4] }], { a: [4] }],
    ['replaces a mapping by a list', [{ a: { x: 1 } }, { a: [1] }], { a: [1] }],
    ['replaces a mapping by null', [{ a: { x: 1 } }, { a: null }], { a: null }],
    ['replaces null by a mapping', [{ a: null }, { a: { x: 1 } }], { a: { x: 1 } }],
    [
      'lets false and 0 win',
      [
        { a: true, b: 1 },
        { a: false, b: 0 },
      ],
      { a: false, b: 0 },
    ],
  ])('%s', (_, layers, merged) => {
    expect(mergeConfig(...layers)).toEqual(merged);
  });

  test('leaves the layers as they were', () => {
    const first = { a: { x: 1 } };
    mergeConfig(first, { a: { x: 2 } });
    expect(first).toEqual({ a: { x: 1 } });
  });
});

describe('readOwnerConfig', () => {
  test.each<[what: string, tree: Tree, values: object]>([
    ['no file', {}, {}],
    ['an empty file', { 'data/one/config.yaml': '' }, {}],
    ['a file of comments', { 'data/one/config.yaml': '# nothing set\n' }, {}],
    ['values', { 'data/one/config.yaml': 'a: 1\nb: { c: [x] }\n' }, { a: 1, b: { c: ['x'] } }],
  ])('reads %s', (_, tree, values) => {
    expect(readOwnerConfig(tempFolder(tree), 'one')).toEqual({ values, problems: [] });
  });

  test.each<[what: string, text: string, line: number]>([
    ['YAML that is broken', 'a: 1\nb: [1\n', 3],
    ['a key given twice', 'a: 1\na: 2\n', 2],
    ['a list', '- a\n', 1],
    ['text', 'hello', 1],
    ['an alias of nothing', 'a: *gone\n', 1],
  ])('ignores a file with %s as a whole', (_, text, line) => {
    const root = tempFolder({ 'data/one/config.yaml': text });
    expect(readOwnerConfig(root, 'one')).toMatchObject({
      values: {},
      problems: [{ code: 'CONFIG_INVALID', severity: 'error', file: join(root, 'data/one/config.yaml'), line }],
    });
  });

  test('reports a file that cannot be read', () => {
    const root = tempFolder({ 'data/one/config.yaml/here': 'a folder' });
    expect(readOwnerConfig(root, 'one').problems).toMatchObject([{ code: 'CONFIG_INVALID' }]);
  });
});

describe('a secret', () => {
  test.each<[what: string, environment: Record<string, string>, file: Tree, value: string | undefined]>([
    ['comes from the environment', { KEY: 'env' }, {}, 'env'],
    ['comes from .env', {}, { '.env': 'OTHER=x\nKEY="from file" # why\n' }, 'from file'],
    ['of the environment wins', { KEY: 'env' }, { '.env': 'KEY=file' }, 'env'],
    ['that is empty in the environment comes from .env', { KEY: '' }, { '.env': 'KEY=file' }, 'file'],
    ['that is empty everywhere is absent', { KEY: '' }, { '.env': 'KEY=' }, undefined],
    ['that nobody set is absent', {}, {}, undefined],
  ])('%s', (_, environment, file, value) => {
    expect(createSecrets(tempFolder(file), environment)('KEY')).toBe(value);
  });
});

const SHOW = `async start() { this.context.log.info(JSON.stringify(this.context.config)); }`;

describe('the config of an extension', () => {
  const FIELDS = 'config: { size: 1, list: [a, b], deep: { x: 1, y: 1 } }';

  test('is its manifest, then data/<id>/config.yaml, then what boot was given', async () => {
    const kernel = await bootTree(
      { ...extension('one', FIELDS, SHOW), 'data/one/config.yaml': 'list: [c]\ndeep: { y: 2 }\nsize: 2' },
      { config: { one: { size: 3, deep: { z: 3 } }, other: { size: 4 } } },
    );
    expect(kernel.logged).toEqual([`one ${JSON.stringify({ size: 3, list: ['c'], deep: { x: 1, y: 2, z: 3 } })}`]);
  });

  test('stays what it was when extensions are reloaded while its file is broken', async () => {
    const kernel = await bootTree({ ...extension('one', FIELDS, SHOW), 'data/one/config.yaml': 'size: 2\nlist: [c]' });
    writeTree(kernel.root, { 'data/one/config.yaml': 'size: 3\nlist: [d' });
    await kernel.reload();
    expect(new Set(kernel.logged).size).toBe(1);
    expect(problemsOf(kernel)).toMatchObject([
      { code: 'CONFIG_INVALID', message: expect.stringContaining('until then what it said before holds.') },
    ]);
    writeTree(kernel.root, { 'data/one/config.yaml': 'size: 3' });
    await kernel.reload();
    expect(kernel.logged.at(-1)).toContain('"size":3,"list":["a","b"]');
  });

  test('is its defaults where the owner wrote something broken, which is reported', async () => {
    const kernel = await bootTree({
      ...extension('one', FIELDS, SHOW),
      ...extension('two', 'config: { a: 1 }', SHOW),
      'data/one/config.yaml': 'size: [2',
      'data/two/config.yaml': 'a: [2',
    });
    expect(kernel.logged).toEqual([
      `one ${JSON.stringify({ size: 1, list: ['a', 'b'], deep: { x: 1, y: 1 } })}`,
      `two ${JSON.stringify({ a: 1 })}`,
    ]);
    expect(states(kernel)).toEqual(['one RUNNING', 'two RUNNING']);
    expect(problemsOf(kernel).map(({ code, file }) => `${code} ${file.slice(kernel.root.length + 1)}`)).toEqual([
      'CONFIG_INVALID data/one/config.yaml',
      'CONFIG_INVALID data/two/config.yaml',
    ]);
  });
});
