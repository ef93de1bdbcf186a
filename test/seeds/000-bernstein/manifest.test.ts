import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import type { Tree } from '../../helpers/temp-folder.ts';

const DESCRIPTION = 'Writes and reviews the backend of the service.';
const strict = (fields: Readonly<Record<string, string>>, more: Tree = {}) =>
  openRegistry({ ...skill('backend', { description: DESCRIPTION, ...fields }), ...more }, { validation: 'strict' });
const messages = async (fields: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  (await strict(fields)).registry.problems().map(({ message }) => message);

it('2a.1 a pack is a SKILL.md with optional references, scripts and assets, and a missing bucket is empty', async () => {
  const { registry } = await openRegistry(
    { ...skill('backend'), 'skills/backend/references/api.md': 'API.', 'skills/backend/assets/logo.svg': '<svg/>' },
    { tools: [], dialect: ['bernstein'] },
  );
  expect(await runRegistryTool(registry, 'load_skill', { name: 'backend' })).toMatchObject({
    available_references: ['api.md'],
    available_scripts: [],
  });
  expect((await registry.read('backend')).resources.map(({ path }) => path)).toContain('assets/logo.svg');
});

it('2a.2 a name that is no slug is refused under strict in the exact words', async () => {
  expect(await messages({ name: 'Backend Pro' })).toContain(
    "invalid manifest: [name] name 'Backend Pro' must match regex ^[a-z][a-z0-9-]*$ " +
      '(lowercase letters, digits, hyphens; must start with a letter)',
  );
  expect(await messages({ name: 'x'.repeat(65) })).toContain(
    'invalid manifest: [name] expected 1-64 characters, got 65',
  );
  expect(await messages({})).toEqual([]);
});

it('2a.3 a description has 20 to 500 characters under strict, and any length loads under lenient', async () => {
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

it('2a.4, 2d.5 trigger_keywords, references, scripts and assets are lists of texts, and files that are declared have to be there', async () => {
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

it('2a.5 version and author are text, and a version that nobody wrote is none', async () => {
  const { registry } = await strict({ version: '"2.1.0"', author: 'Ada' });
  expect(registry.snapshot().byId.get('backend')).toMatchObject({ version: '2.1.0', author: 'Ada' });
  const plain = (await strict({ author: 'null' })).registry.snapshot().byId.get('backend');
  expect([plain?.version, plain?.author]).toEqual([undefined, undefined]);
});

it('2a.6 unknown keys and values of another type are refused under strict, and tolerated under lenient', async () => {
  const [unknown = ''] = await messages({ descripton: 'Typo.' });
  expect(unknown).toMatch(/^invalid manifest: \[descripton\] unknown key; known keys: name, description, /);
  expect(await messages({ version: '1.0' })).toEqual([
    'invalid manifest: [version] expected text, got the number 1 (quotes make it text)',
  ]);
  const { registry } = await openRegistry(skill('backend', { descripton: 'Typo.', version: '1.0' }));
  expect(registry.problems()).toEqual([]);
});

it('2a.7, 2a.10 a refusal names the file and the detail, such as a name that is not the name of the folder', async () => {
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

it('2a.8, 2a.9 a file that is no manifest is refused under strict in the exact words, also when it is too long', async () => {
  const long = `---\nname: backend\ndescription: ${DESCRIPTION}\nauthor: ${'x'.repeat(16_384)}\n---\n\nBody.\n`;
  const said: readonly (readonly [text: string, message: string])[] = [
    ['# Title\n', 'missing YAML frontmatter — expected ``---`` on the first line'],
    ['---\nname: backend\n', 'unterminated YAML frontmatter — missing closing ``---`` fence'],
    ['---\n- x\n---\n', 'frontmatter must be a YAML mapping, got list'],
    [long, 'frontmatter exceeds 16384 bytes — refusing to parse'],
  ];
  for (const [text, message] of said) {
    const { registry } = await openRegistry({ 'skills/backend/SKILL.md': text }, { validation: 'strict' });
    expect(registry.list().total).toBe(0);
    expect(registry.problems().map((problem) => problem.message)).toEqual([message]);
  }
});

it('2d.6 a byte order mark and a blank line first are put up with, and strict refuses hyphens that the standard does', async () => {
  const text = `---\nname: backend\ndescription: ${DESCRIPTION}\n---\n\nBody.\n`;
  for (const before of ['\uFEFF', '\n']) {
    const { registry } = await openRegistry({ 'skills/backend/SKILL.md': before + text });
    expect(await registry.read('backend')).toMatchObject({ name: 'backend', content: 'Body.' });
  }
  for (const name of ['a-', 'a--b']) expect(await messages({ name })).toContainEqual(expect.stringContaining('hyphen'));
});
