import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree, writeTree } from '../../helpers/temp-folder.ts';

/** An installed package. */
const installed = (name: string, files: Tree, fields: object = {}): Tree => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({
    name,
    version: '1.0.0',
    type: 'module',
    main: 'main.js',
    ...fields,
  }),
  ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`node_modules/${name}/${path}`, text])),
});

it('2a.12 sources share one interface and are merged by one registry', async () => {
  const { registry } = await openRegistry(skill('backend'));
  const qa = { id: 'qa', description: 'Tests things.', body: 'Test.' };
  const remove = await registry.addSource({ id: 'own', skills: [qa] });
  expect(registry.list().skills.map(({ skillId, source }) => `${source}:${skillId}`)).toEqual([
    'skills:backend',
    'own:qa',
  ]);
  expect(await registry.read('qa')).toMatchObject({ content: 'Test.' });
  await remove();
  expect(registry.list().total).toBe(1);
});

it('2a.14 a local folder gives its skills sorted, and one that is missing gives none and no error', async () => {
  const { registry, root } = await openRegistry(
    { ...skill('qa'), ...skill('backend'), ...skill('docs') },
    { sources: [{ path: 'skills' }, { path: 'gone' }, { path: 'later', optional: true }] },
  );
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['backend', 'docs', 'qa']);
  expect(briefProblems(registry.problems(), root)).toEqual(['SOURCE_MISSING gone']);
  expect(registry.problems()[0]?.severity).toBe('warning');
});

it('2a.15, 5d.4 a name that two sources have is never silently shadowed, and stops nobody', async () => {
  const tree = {
    ...skill('qa'),
    'team/qa/SKILL.md': skillMd({ name: 'qa', description: 'Another.' }),
    ...skill('docs'),
  };
  const sources = [{ path: 'skills' }, { path: 'team' }];
  const { registry, root } = await openRegistry(tree, { sources, collision: 'error' });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['docs']);
  const [first, second] = ['skills', 'team'].map((folder) => join(root, folder, 'qa/SKILL.md'));
  expect(registry.problems()).toMatchObject([
    { code: 'SKILL_ID_TAKEN', severity: 'error', file: second, details: { winner: first, loser: second } },
  ]);
  expect(registry.problems()[0]?.message).toContain(first);
  const lenient = await openRegistry(tree, { sources });
  expect(lenient.registry.problems()).toMatchObject([{ code: 'SKILL_ID_TAKEN', severity: 'warning' }]);
});

it('2a.18, 2d.2, 8.5 a package contributes skills with their files through a factory without arguments, under its own name', async () => {
  const factory = "export const skillSource = () => new URL('pack', import.meta.url).pathname;";
  const pack = installed('@acme/pack', {
    'main.js': factory,
    'pack/deploy/SKILL.md': skillMd({ name: 'deploy', description: 'Deploys.' }),
    'pack/deploy/references/hosts.md': 'One host.',
  });
  const { registry } = await openRegistry(
    { ...skill('qa'), ...pack },
    { sources: [{ path: 'skills' }, { package: '@acme/pack' }] },
  );
  expect(registry.problems()).toEqual([]);
  expect(registry.list({ source: '@acme/pack' }).skills).toMatchObject([{ skillId: 'deploy' }]);
  const args = { skill_id: 'deploy', path: 'references/hosts.md' };
  expect(await runRegistryTool(registry, 'read_skill_resource', args)).toMatchObject({ content: 'One host.' });
});

it('2a.19, 2a.20 a factory that is broken is a problem, another one than a package that is not there, and everything else starts', async () => {
  const broken = {
    throws: "export const skillSource = () => { throw new Error('boom'); };",
    imports: "import './gone.js'; export const skillSource = () => '';",
    returns: 'export const skillSource = () => 42;',
    is: "export const skillSource = 'no function';",
  };
  const packages = Object.entries(broken).map(([name, text]) => installed(name, { 'main.js': text }));
  const sources = [
    ...Object.keys(broken).map((name) => ({ package: name })),
    { path: 'skills' },
    { package: 'absent' },
  ];
  const { registry, root } = await openRegistry(Object.assign(skill('qa'), ...packages), { sources });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['qa']);
  expect(briefProblems(registry.problems(), root)).toEqual([
    ...['imports', 'is', 'returns', 'throws'].map((name) => `PACKAGE_BROKEN node_modules/${name}/package.json`),
    'PACKAGE_NOT_FOUND node_modules/absent',
  ]);
  const declared = registry.snapshot().sources.map(({ id, skills }) => `${id} ${skills}`);
  expect(declared).toEqual(['throws 0', 'imports 0', 'returns 0', 'is 0', 'skills 1', 'absent 0']);
});

it('2a.16, 2d.1 a skill that cannot be read is set aside with its reason until it is mended, and the others are there', async () => {
  const broken = {
    'skills/bad/SKILL.md': '',
    'team/worse/SKILL.md': Buffer.from('A text in another encoding.', 'utf16le'),
  };
  const sources = [{ path: 'skills' }, { path: 'team' }];
  const { registry, root } = await openRegistry({ ...skill('qa'), ...skill('docs'), ...broken }, { sources });
  const ids = (): readonly string[] => registry.list().skills.map(({ skillId }) => skillId);
  expect(ids()).toEqual(['docs', 'qa']);
  const errors = registry.problems().filter(({ severity }) => severity === 'error');
  expect(errors.map(({ file }) => file)).toEqual(Object.keys(broken).map((file) => join(root, file)));
  writeTree(root, { ...skill('bad'), 'team/worse/SKILL.md': skillMd({ name: 'worse', description: 'Mended.' }) });
  await registry.refresh();
  expect(ids()).toEqual(['bad', 'docs', 'qa', 'worse']);
  expect(registry.problems()).toEqual([]);
});
