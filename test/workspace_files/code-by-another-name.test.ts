import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTrust } from '../../lib/trust/index.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { workspace } from '../helpers/workspace.ts';
import { manifest } from '../kernel/boot/boot-extensions.ts';

const CODE = 'export class Main {}\n';
const ALLOW = { writes: { create: 'allow', update: 'allow', delete: 'allow' } };
const SKILL = skillMd({ name: 'tea', description: 'Brew tea.' });
const AGENT = { by: 'agent:builder' };

/** `extensions/tool`, in whatever folder it lies. */
const tool = (folder: string): Tree => ({
  [`${folder}/manifest.yaml`]: manifest('tool', 'entrypoint: main:Main'),
  [`${folder}/main.js`]: CODE,
  [`${folder}/skills/tea/SKILL.md`]: SKILL,
});

/** @param skills - Where `skills` leads. */
async function linkedTo(skills: string, sources?: readonly unknown[]) {
  const place = await workspace(tool('extensions/tool'), { ...ALLOW, ...(sources ? { sources } : {}) });
  rmSync(join(place.root, 'skills'), { recursive: true });
  symlinkSync(skills, join(place.root, 'skills'));
  return place;
}

it.each([
  ['skills/ is the root', '.', 'skills/extensions/tool/main.js', 'extensions/tool/main.js'],
  ['skills/ is the root, and the extension is new', '.', 'skills/extensions/evil/main.js', 'extensions/evil/main.js'],
  ['skills/ lies in an extension', 'extensions/tool/skills', 'skills/tea/x.js', 'extensions/tool/skills/tea/x.js'],
])('write_file writes no code where %s, and names the path that waits', async (_title, link, path, instead) => {
  for (const sources of [undefined, [{ preset: 'claude' }]]) {
    const { root, call } = await linkedTo(link, sources);
    const refused = await call('write_file', { path, content: 'evil' });
    expect(refused).toMatchObject({
      error: { code: 'EXTENSION_PROTECTED', message: expect.stringContaining(instead) },
    });
    expect(existsSync(join(root, instead)) && readFileSync(join(root, instead), 'utf8') !== CODE).toBe(false);
    expect(await call('write_file', { path: instead, content: 'evil' })).toMatchObject({ held: true });
  }
});

it.each([
  [
    'extensions/ is a link into skills/',
    { 'skills/ext/.keep': '', ...tool('skills/ext/tool') },
    'extensions',
    'skills/ext',
    'skills/ext/tool/main.js',
  ],
  [
    'an extension is a link into a skill',
    { 'skills/x/SKILL.md': SKILL, ...tool('skills/x/code') },
    'extensions/tool',
    '../skills/x/code',
    'skills/x/code/main.js',
  ],
  [
    'a folder of an extension is a link into a skill',
    { 'skills/x/SKILL.md': SKILL, 'skills/x/lib/main.js': CODE },
    'extensions/box/lib',
    '../../skills/x/lib',
    'skills/x/lib/main.js',
  ],
  [
    'a file of an extension is a link into a skill',
    { 'skills/x/SKILL.md': SKILL, 'skills/x/main.js': CODE },
    'extensions/box/main.js',
    '../../skills/x/main.js',
    'skills/x/main.js',
  ],
])('no agent writes code where %s, by no door', async (_title, tree, link, target, path) => {
  const { root, registry, codeOf } = await workspace(tree, ALLOW);
  rmSync(join(root, link), { recursive: true, force: true });
  symlinkSync(target, join(root, link));
  await registry.refresh();
  expect(await codeOf('write_file', { path, content: 'evil' })).toBe('EXTENSION_PROTECTED');
  const [, id = '', ...below] = path.split('/');
  if (registry.snapshot().byId.has(id)) {
    await expect(registry.admin.management.write(id, below.join('/'), 'evil', AGENT)).rejects.toMatchObject({
      code: 'WRITE_DENIED',
    });
    await registry.admin.management.write(id, 'notes.md', 'Fine.', AGENT);
  }
  expect(readFileSync(join(root, path), 'utf8')).toBe(CODE);
});

/** @see the cases above; here what leads to the skill lies further away. */
it.each<[string, Tree]>([
  [
    'a link leads to a folder with a link to it',
    { 'shared/tea': { link: '../skills/tea' }, 'extensions/box/lib': { link: '../../shared' } },
  ],
  [
    'links lead in a circle, too',
    {
      'shared/in/tea': { link: '../../skills/tea' },
      'shared/in/back': { link: '../../extensions' },
      'extensions/box/lib': { link: '../../shared' },
    },
  ],
  ['node_modules of an extension has it', { 'extensions/box/node_modules/tea': { link: '../../../skills/tea' } }],
  ['it has a scope', { 'extensions/box/node_modules/@me/tea': { link: '../../../../skills/tea' } }],
  ['node_modules of the root has it', { 'node_modules/tea': { link: '../skills/tea' } }],
  ['it has a scope there', { 'node_modules/@me/tea': { link: '../../skills/tea' } }],
  ['node_modules of the root is a link', { node_modules: { link: 'skills' } }],
  [
    'a package of the workspace imports it',
    {
      'node_modules/lib': { link: '../packages/lib' },
      'packages/lib/node_modules/tea': { link: '../../../skills/tea' },
    },
  ],
])('no agent writes code in a skill where %s', async (_title, links) => {
  const tree = { 'skills/tea/SKILL.md': SKILL, 'skills/tea/main.js': CODE, ...links };
  const { root, registry, codeOf } = await workspace(tree, ALLOW);
  expect(await codeOf('write_file', { path: 'skills/tea/main.js', content: 'evil' })).toBe('EXTENSION_PROTECTED');
  const { skills } = registry.snapshot();
  const tea = skills.find(({ id }) => id === 'tea')?.qualifiedId ?? '';
  await expect(registry.admin.management.write(tea, 'main.js', 'evil', AGENT)).rejects.toMatchObject({
    code: 'WRITE_DENIED',
  });
  expect(readFileSync(join(root, 'skills/tea/main.js'), 'utf8')).toBe(CODE);
});

it('what is installed in node_modules is not searched, and what lies beside it stays a skill', async () => {
  const { codeOf, root } = await workspace(
    {
      'skills/tea/SKILL.md': SKILL,
      'skills/tea/main.js': CODE,
      'node_modules/installed/lib': { link: '../../skills/tea' },
      'node_modules/.bin/tea': { link: '../../skills/tea/main.js' },
      'node_modules/linked': { link: '.store/linked/node_modules/linked' },
      'node_modules/.store/linked/node_modules/linked/deep': { link: '../../../../../skills' },
    },
    ALLOW,
  );
  await codeOf('write_file', { path: 'skills/tea/main.js', content: 'better' });
  expect(readFileSync(join(root, 'skills/tea/main.js'), 'utf8')).toBe('better\n');
});

/** A workspace package of npm: `node_modules` has a link to where it is written. */
const PACKAGE: Tree = {
  'skills/tools/package.json': '{ "name": "@acme/tools", "skills": "content" }',
  'skills/tools/content/tea/SKILL.md': SKILL,
  'node_modules/@acme/tools': { link: '../../skills/tools' },
  'skills.json': JSON.stringify({ id: 'p', version: '1', skills: [{ path: '@acme/tools' }] }),
};

it.each([
  ['a source', [{ package: '@acme/tools' }]],
  ['one of two sources that have it', [{ path: 'skills' }, { package: '@acme/tools' }]],
  ['named by a pack', [{ path: 'skills' }, { pack: 'skills.json' }]],
])('no agent writes what lies in a package that is %s, whatever writes says', async (_title, sources) => {
  const { root, registry, codeOf } = await workspace(PACKAGE, { ...ALLOW, sources });
  for (const path of [
    'skills/tools/evil.js',
    'skills/tools/package.json',
    'skills/tools/content/tea/SKILL.md',
    'skills/tools/content/new/SKILL.md',
  ])
    expect([path, await codeOf('write_file', { path, content: SKILL })]).toEqual([path, 'EXTENSION_PROTECTED']);
  const { skills } = registry.snapshot();
  const tea = skills.find(({ id }) => id === 'tea')?.qualifiedId ?? '';
  await expect(registry.admin.management.write(tea, 'x.js', 'evil', AGENT)).rejects.toMatchObject({
    code: expect.stringMatching(/^(WRITE_DENIED|SOURCE_NOT_WRITABLE)$/),
  });
  expect(existsSync(join(root, 'skills/tools/evil.js'))).toBe(false);
});

it('a source in another root shares neither its data/ nor its code', async () => {
  const other = tempFolder({
    'SKILL.md': skillMd({ name: 'other', description: 'Another root.' }),
    'data/skill_registry/config.yaml': 'SECRET',
    'data/other/state.json': 'SECRET',
    'data/.held/x/files/main.ts': 'SECRET',
    'guide.md': 'Guide.',
    'inner/data/skill_registry/config.yaml': 'SECRET',
    'data-sheets/a.md': 'Fine.',
    'skills/linked/main.js': CODE,
    ...tool('extensions/tool'),
    'extensions/linked': { link: '../skills/linked' },
  });
  const { registry } = await workspace({}, { ...ALLOW, sources: [{ path: other }] });
  const [{ id = '' } = {}] = registry.snapshot().skills;
  const listed = registry.admin.resources(id).map(({ path }) => path);
  expect(listed.filter((path) => /(^|\/)data\//.test(path))).toEqual([]);
  expect(listed).toEqual(expect.arrayContaining(['guide.md', 'data-sheets/a.md']));
  for (const path of [
    'data/skill_registry/config.yaml',
    'data/other/state.json',
    'data/.held/x/files/main.ts',
    'inner/data/skill_registry/config.yaml',
    'data/skill_registry/none',
  ]) {
    await expect(registry.readResource(id, path, {})).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    const proposal = { skillId: id, path, content: 'x', justification: 'x' };
    await expect(registry.proposals.propose(proposal)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(registry.admin.management.write(id, path, 'x', AGENT)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  }
  for (const path of ['extensions/tool/main.js', 'skills/linked/main.js'])
    await expect(registry.admin.management.write(id, path, 'x', AGENT)).rejects.toMatchObject({ code: 'WRITE_DENIED' });
  await registry.admin.management.write(id, 'guide.md', 'Better.', AGENT);
  await registry.close();
  await expect(registry.readResource(id, 'data/skill_registry/config.yaml')).rejects.toMatchObject({
    code: 'REGISTRY_CLOSED',
  });
});

it('a root below a folder called data, of whatever root, is read as ever', async () => {
  const above = tempFolder({
    'data/skill_registry/config.yaml': '',
    'data/mine/skills/tea/SKILL.md': SKILL,
    'data/mine/skills/tea/a.md': 'A.',
  });
  const { registry } = await workspace({}, { sources: [{ path: join(above, 'data/mine/skills') }] });
  expect(registry.admin.resources('tea').map(({ path }) => path)).toEqual(['a.md']);
  expect(await registry.readResource('tea', 'a.md', {})).toMatchObject({ content: 'A.' });
});

it('no agent writes into extensions/ or data/ of a root below, once a person has approved it', async () => {
  const { root, codeOf } = await workspace({ 'skills/inner/skills/cup/SKILL.md': SKILL }, ALLOW);
  openTrust().decide({ action: 'allow', kind: 'root', path: join(root, 'skills/inner'), by: 'person:ada' });
  for (const path of ['skills/inner/extensions/e/main.js', 'skills/inner/data/skill_reviewer/config.yaml']) {
    expect(await codeOf('write_file', { path, content: 'evil' })).toBe('EXTENSION_PROTECTED');
    expect(existsSync(join(root, path))).toBe(false);
  }
});
