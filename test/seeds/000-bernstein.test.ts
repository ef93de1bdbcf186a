import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { skillMd, type Tree, writeTree } from '../helpers/temp-folder.ts';

const ROWS = 'B1 B2 B3 B4 B5 B6 B7 B12 B14 B15 B18 B19 B24 B26 B27 B28 B29 B30 B34 B35'.split(' ');
const LATER = ['B35'];

const DESCRIPTION = 'Writes and reviews the backend of the service.';
const strict = (fields: Readonly<Record<string, string>>, more: Tree = {}) =>
  openRegistry({ ...skill('backend', { description: DESCRIPTION, ...fields }), ...more }, { validation: 'strict' });
const messages = async (fields: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  (await strict(fields)).registry.problems().map(({ message }) => message);
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

it('tests every row of the list but those that belong to later work', ({ task }) => {
  const tested = new Set(task.file.tasks.map(({ name }) => name.split(' ')[0]));
  expect(ROWS.filter((id) => !tested.has(id))).toEqual(LATER);
});

it('B1 a pack is a SKILL.md with optional references, scripts and assets, and a missing bucket is empty', async () => {
  const { registry } = await openRegistry(
    { ...skill('backend'), 'skills/backend/references/api.md': 'API.', 'skills/backend/assets/logo.svg': '<svg/>' },
    { tools: ['load_skill'] },
  );
  expect(await runRegistryTool(registry, 'load_skill', { name: 'backend' })).toMatchObject({
    available_references: ['api.md'],
    available_scripts: [],
  });
  expect((await registry.read('backend')).resources.map(({ path }) => path)).toContain('assets/logo.svg');
});

it('B2 a name that is no slug is refused under strict in the exact words', async () => {
  expect(await messages({ name: 'Backend Pro' })).toContain(
    "invalid manifest: [name] name 'Backend Pro' must match regex ^[a-z][a-z0-9-]*$ " +
      '(lowercase letters, digits, hyphens; must start with a letter)',
  );
  expect(await messages({})).toEqual([]);
});

it('B3 a description has 20 to 500 characters under strict, and any length loads under lenient (decision 4)', async () => {
  for (const [description, length] of [
    ['Too short.', 10],
    ['x'.repeat(501), 501],
  ] as const) {
    expect(await messages({ description })).toEqual([
      `invalid manifest: [description] expected 20-500 characters, got ${length}`,
    ]);
    const { registry } = await openRegistry(skill('backend', { description }));
    expect(registry.list().total).toBe(1);
  }
  for (const length of [20, 500]) expect(await messages({ description: 'x'.repeat(length) })).toEqual([]);
});

it('B4 trigger_keywords, references, scripts and assets are lists of texts', async () => {
  const { registry } = await strict(
    { trigger_keywords: '[api, server]', references: '[a.md]', scripts: '[b.sh]', assets: '[c.txt]' },
    { 'skills/backend/references/a.md': '', 'skills/backend/scripts/b.sh': '', 'skills/backend/assets/c.txt': '' },
  );
  expect(registry.problems()).toEqual([]);
  const found = registry.snapshot().byId.get('backend');
  expect(found).toMatchObject({
    triggerKeywords: ['api', 'server'],
    extra: { references: ['a.md'], assets: ['c.txt'] },
  });
  expect(await messages({ references: 'a.md' })).toEqual([
    'invalid manifest: [references] expected a list of texts, got a text',
  ]);
  expect(await messages({ scripts: '[gone.sh]' })).toEqual([
    "invalid manifest: [scripts] 'gone.sh' is no file in scripts/",
  ]);
});

it('B5 version and author are text, and a version that nobody wrote is none (decision 26)', async () => {
  const { registry } = await strict({ version: '"2.1.0"', author: 'Ada' });
  expect(registry.snapshot().byId.get('backend')).toMatchObject({ version: '2.1.0', author: 'Ada' });
  const plain = (await strict({ author: 'null' })).registry.snapshot().byId.get('backend');
  expect([plain?.version, plain?.author]).toEqual([undefined, undefined]);
});

it('B6 unknown keys and values of another type are refused under strict, and tolerated under lenient (decision 4)', async () => {
  const [unknown = ''] = await messages({ descripton: 'Typo.' });
  expect(unknown).toMatch(/^invalid manifest: \[descripton\] unknown key; known keys: name, description, /);
  expect(await messages({ version: '1.0' })).toEqual([
    'invalid manifest: [version] expected text, got the number 1 (quotes make it text)',
  ]);
  const { registry } = await openRegistry(skill('backend', { descripton: 'Typo.', version: '1.0' }));
  expect(registry.problems()).toEqual([]);
});

it('B7 a refusal names the file and the detail', async () => {
  const { registry, root } = await strict({ name: 'other' });
  expect(registry.list().total).toBe(0);
  expect(registry.problems()).toEqual([
    {
      code: 'STRICT_VIOLATION',
      severity: 'error',
      file: join(root, 'skills/backend/SKILL.md'),
      line: 2,
      details: { profile: 'strict' },
      message: "directory name 'backend' does not match manifest name 'other'",
    },
  ]);
});

it('B12 sources share one interface and are merged by one registry', async () => {
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

it('B14 a local folder gives its skills sorted, and one that is missing gives none and no error', async () => {
  const { registry, root } = await openRegistry(
    { ...skill('qa'), ...skill('backend'), ...skill('docs') },
    { sources: [{ path: 'skills' }, { path: 'gone' }, { path: 'later', optional: true }] },
  );
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['backend', 'docs', 'qa']);
  expect(briefProblems(registry.problems(), root)).toEqual(['SOURCE_MISSING gone']);
  expect(registry.problems()[0]?.severity).toBe('warning');
});

it('B15 a name that two sources have is never silently shadowed, and stops nobody (decisions 3 and 16)', async () => {
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

it('B18 a package contributes skills through a factory without arguments, under its own name', async () => {
  const factory = "export const skillSource = () => new URL('pack', import.meta.url).pathname;";
  const pack = installed('@acme/pack', {
    'main.js': factory,
    'pack/deploy/SKILL.md': skillMd({ name: 'deploy', description: 'Deploys.' }),
  });
  const { registry } = await openRegistry(
    { ...skill('qa'), ...pack },
    { sources: [{ path: 'skills' }, { package: '@acme/pack' }] },
  );
  expect(registry.problems()).toEqual([]);
  expect(registry.list({ source: '@acme/pack' }).skills).toMatchObject([{ skillId: 'deploy' }]);
});

it('B19 a factory that is broken is a problem, and everything else starts', async () => {
  const broken = {
    throws: "export const skillSource = () => { throw new Error('boom'); };",
    imports: "import './gone.js'; export const skillSource = () => '';",
    returns: 'export const skillSource = () => 42;',
    is: "export const skillSource = 'no function';",
  };
  const packages = Object.entries(broken).map(([name, text]) => installed(name, { 'main.js': text }));
  const sources = [...Object.keys(broken).map((name) => ({ package: name })), { path: 'skills' }];
  const { registry, root } = await openRegistry(Object.assign(skill('qa'), ...packages), { sources });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['qa']);
  expect(briefProblems(registry.problems(), root)).toEqual(
    ['imports', 'is', 'returns', 'throws'].map((name) => `PACKAGE_BROKEN node_modules/${name}/package.json`),
  );
});

it('B24 only name and description stand in the prompt, and load_skill gives the body', async () => {
  const { registry } = await openRegistry(skill('backend', {}, 'THE BODY'), { tools: ['load_skill'] });
  const text = await registry.context('backend work');
  expect(text).toContain('`backend` — Does backend.');
  expect(text).not.toContain('THE BODY');
  expect(await runRegistryTool(registry, 'load_skill', { name: 'backend' })).toMatchObject({ body: 'THE BODY' });
});

it('B26 a role is its skill, else its legacy template, else one sentence', async () => {
  const { registry } = await openRegistry({
    ...skill('backend'),
    'templates/roles/backend/system_prompt.md': 'Never read.',
    'templates/roles/qa/system_prompt.md': 'You test {{ what }}.',
  });
  expect(await registry.admin.resolveRolePrompt('backend')).toMatchObject({ source: 'skill' });
  expect(await registry.admin.resolveRolePrompt('qa', { variables: { what: 'it' } })).toEqual({
    source: 'legacy',
    text: 'You test it.',
  });
  expect(await registry.admin.resolveRolePrompt('docs')).toEqual({
    source: 'fallback',
    text: 'You are a docs specialist.',
  });
});

it('B27 the prompt of a role holds the index and the matched body (decision 22)', async () => {
  const { registry } = await openRegistry({ ...skill('backend', {}, 'THE BODY'), ...skill('api') });
  const { text } = await registry.admin.resolveRolePrompt('backend');
  expect(text).toBe('Skills:\n* backend: Does backend.\n- api: Does api.\n\nTHE BODY');
});

it('B28 an edit of a role is in its next prompt, and a new one after the next look', async () => {
  const { registry, root } = await openRegistry({ ...skill('backend', {}, 'Old.') });
  expect((await registry.admin.resolveRolePrompt('backend')).text).toMatch(/Old\.$/);
  writeTree(root, { ...skill('backend', {}, 'New.'), ...skill('qa') });
  expect((await registry.admin.resolveRolePrompt('backend')).text).toMatch(/New\.$/);
  await registry.refresh();
  expect(await registry.admin.resolveRolePrompt('qa')).toMatchObject({ source: 'skill' });
});

it('B29 load_skill takes a name, a reference and a script', async () => {
  const { registry } = await openRegistry(
    { ...skill('qa'), 'skills/qa/references/a.md': 'Reference.', 'skills/qa/scripts/b.sh': 'exit 1' },
    { tools: ['load_skill'] },
  );
  const load = (args: object) => runRegistryTool(registry, 'load_skill', { name: 'qa', ...args });
  expect(await load({ reference: 'a.md', script: 'b.sh' })).toMatchObject({
    reference_content: 'Reference.',
    script_content: 'exit 1',
    error: null,
  });
  expect(await load({ reference: '../SKILL.md' })).toMatchObject({
    reference_content: null,
    error: expect.stringContaining('PATH_TRAVERSAL'),
  });
});

it('B30 the result has the same keys always, and a body only when no file is asked for', async () => {
  const { registry } = await openRegistry(
    { ...skill('qa'), 'skills/qa/references/a.md': 'R.' },
    { tools: ['load_skill'] },
  );
  const load = (args: object) => runRegistryTool(registry, 'load_skill', args);
  const nothing = { reference_content: null, script_content: null, error: null };
  const found = { success: true, name: 'qa', available_references: ['a.md'], available_scripts: [] };
  expect(await load({ name: 'qa' })).toEqual({ ...found, ...nothing, body: 'Body of qa.' });
  expect(await load({ name: 'qa', reference: 'a.md' })).toEqual({
    ...found,
    ...nothing,
    body: null,
    reference_content: 'R.',
  });
  expect(Object.keys(await load({ name: 'gone' })).sort()).toEqual(
    Object.keys({ ...found, ...nothing, body: '' }).sort(),
  );
});

it('B34 every load is an event with name, file, source, duration and error', async () => {
  const { registry, loaded } = await openRegistry({ ...skill('qa'), 'skills/qa/references/a.md': 'R.' });
  await registry.read('qa');
  await registry.readResource('qa', 'references/a.md');
  await registry.read('gone').catch(() => undefined);
  expect(loaded).toMatchObject([
    { event: 'skill_loaded', skillId: 'qa', source: 'skills', error: null, outcome: 'success' },
    { skillId: 'qa', path: 'references/a.md', source: 'skills', error: null },
    { skillId: 'gone', source: null, error: 'SKILL_NOT_FOUND', outcome: 'failure' },
  ]);
  for (const { durationSeconds: duration_s } of loaded) expect(duration_s).toBeGreaterThanOrEqual(0);
});
