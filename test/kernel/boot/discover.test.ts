import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, test } from 'vitest';
import { discoverExtensions } from '../../../kernel/boot/discover.ts';
import { type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { bootTree, codesOf, extension, manifest, states } from './boot-extensions.ts';

const AGENT = 'agent: {}';

/** `package/` is where ours run, `source/` where ours are written, `root/` somebody's. */
function discover(tree: Tree, rootDir = 'root') {
  const dir = tempFolder(tree);
  const found = discoverExtensions(join(dir, 'package'), join(dir, rootDir), join(dir, 'source'));
  return {
    dir,
    ids: found.extensions.map(({ manifest: { id }, origin }) => `${origin} ${id}`),
    broken: found.broken.map(({ name, reason }) => `${name}: ${reason}`),
    problems: found.problems,
  };
}

test('finds the extensions of the package, then those of the root, by folder name', () => {
  const { ids, problems } = discover({
    'root/b/manifest.yaml': manifest('b', AGENT),
    'root/a/manifest.yaml': manifest('z', AGENT),
    'package/own/manifest.yaml': manifest('own', AGENT),
  });
  expect(ids).toEqual(['package own', 'root z', 'root b']);
  expect(problems).toEqual([]);
});

test('finds nothing where there are no folders', () => {
  expect(discover({})).toMatchObject({ ids: [], broken: [], problems: [] });
});

test('follows a link to an extension and passes over files and hidden folders', () => {
  const { ids, problems } = discover({
    'elsewhere/manifest.yaml': manifest('linked', AGENT),
    'root/linked': { link: '../elsewhere' },
    'root/README.md': 'Extensions live here.',
    'root/.git/config': '',
  });
  expect(ids).toEqual(['root linked']);
  expect(problems).toEqual([]);
});

test('says how a manifest of another name has to be called', () => {
  const { problems } = discover({ 'root/empty/manifest.yml': 'id: empty\n' });
  expect(problems[0]?.message).toContain('It has manifest.yml: write it as manifest.yaml');
});

test('reports a folder of the root without a manifest, and not one of the package', () => {
  const { dir, ids, problems } = discover({ 'root/empty/main.ts': '', 'package/dist/main.js': '' });
  expect(ids).toEqual([]);
  expect(problems).toMatchObject([{ code: 'MANIFEST_MISSING', severity: 'warning', file: join(dir, 'root/empty') }]);
});

test('reports files with code that lie beside the folders of the root, and says where they belong', () => {
  const { dir, problems } = discover({
    'root/clock.ts': '',
    'root/tool.mjs': '',
    'root/types.d.ts': '',
    'root/.hidden.ts': '',
    'root/notes.md': '',
    'package/own.js': '',
  });
  expect(problems).toMatchObject([
    {
      ...{ code: 'MANIFEST_MISSING', severity: 'warning', file: join(dir, 'root/clock.ts') },
      message: expect.stringContaining('Move it to extensions/clock/main.ts and add extensions/clock/manifest.yaml'),
    },
    { file: join(dir, 'root/tool.mjs'), message: expect.stringContaining('extensions/tool/main.mjs') },
  ]);
});

test('lists an extension with a broken manifest by its folder', () => {
  const { ids, broken, problems } = discover({
    'root/bad/manifest.yaml': 'id: [',
    'root/good/manifest.yaml': manifest('good', AGENT),
  });
  expect(ids).toEqual(['root good']);
  expect(broken).toMatchObject([expect.stringContaining('bad: The manifest is not valid YAML')]);
  expect(problems).toMatchObject([{ code: 'MANIFEST_YAML_INVALID' }]);
});

test('keeps the first of two folders of the root with the same id, and reports the other', () => {
  const { dir, ids, problems } = discover({
    'root/one/manifest.yaml': manifest('twin', AGENT),
    'root/two/manifest.yaml': manifest('twin', AGENT),
  });
  expect(ids).toEqual(['root twin']);
  expect(problems).toMatchObject([
    {
      code: 'EXTENSION_ID_TAKEN',
      severity: 'error',
      file: join(dir, 'root/two/manifest.yaml'),
      details: { id: 'twin', winner: join(dir, 'root/one') },
    },
  ]);
});

test('takes the extension of the root for one of the package with the same id, and says so', () => {
  const { dir, ids, problems } = discover({
    'package/shared/manifest.yaml': manifest('shared', AGENT),
    'root/mine/manifest.yaml': manifest('shared', AGENT),
  });
  expect(ids).toEqual(['root shared']);
  expect(problems).toMatchObject([
    {
      code: 'EXTENSION_OVERRIDES_BUILT_IN',
      severity: 'warning',
      file: join(dir, 'root/mine/manifest.yaml'),
      details: { id: 'shared', loser: join(dir, 'package/shared') },
    },
  ]);
});

test('keeps the extension of the package when the one that would replace it is broken', () => {
  const { ids, problems } = discover({
    'package/shared/manifest.yaml': manifest('shared', AGENT),
    'root/shared/manifest.yaml': manifest('shared', 'agent: {}\nnonsense: 1'),
  });
  expect(ids).toEqual(['package shared']);
  expect(problems).toMatchObject([{ code: 'MANIFEST_FIELD_UNKNOWN' }]);
});

test('does not find ours a second time where the root is the folder they are written in', () => {
  const { ids, problems } = discover(
    {
      'package/own/manifest.yaml': manifest('own', AGENT),
      'source/own/manifest.yaml': manifest('own', AGENT),
      'source/added/manifest.yaml': manifest('added', AGENT),
    },
    'source',
  );
  expect(ids).toEqual(['package own', 'root added']);
  expect(problems).toEqual([]);
});

test('a kernel runs the replacement and lists what is wrong', async () => {
  const kernel = await bootTree({
    ...extension('skill_registry', '', `async start() { this.context.log.info('mine') }`),
    'extensions/empty/notes.md': '',
    'extensions/bad/manifest.yaml': 'id: bad\n',
  });
  expect(kernel.logged).toEqual(['skill_registry mine']);
  expect(states(kernel)).toEqual(['bad ERROR']);
  expect(codesOf(kernel)).toContain('MANIFEST_MISSING');
  expect(kernel.problems()).toContainEqual(
    expect.objectContaining({
      code: 'EXTENSION_OVERRIDES_BUILT_IN',
      details: expect.objectContaining({ id: 'skill_registry' }),
    }),
  );
});

test('two manifests with the same mistake are two problems', async () => {
  const kernel = await bootTree({
    'extensions/one/manifest.yaml': manifest('one', 'agent: {}\nentrypont: x'),
    'extensions/two/manifest.yaml': manifest('two', 'agent: {}\nentrypont: x'),
  });
  expect(codesOf(kernel)).toEqual(['MANIFEST_FIELD_UNKNOWN', 'MANIFEST_FIELD_UNKNOWN']);
});

test('boot rejects a root that does not exist', async () => {
  await expect(boot({ root: join(tempFolder(), 'gone') })).rejects.toMatchObject({ code: 'ROOT_NOT_FOUND' });
});
