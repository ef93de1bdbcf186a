import { expect, it } from 'vitest';
import { bootRoot, skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { runKernelTool, runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { extension } from '../../kernel/boot/boot-extensions.ts';

it('2a.24 only name and description stand in the prompt, and load_skill gives the body', async () => {
  const { registry } = await openRegistry(skill('backend', {}, 'THE BODY'), { tools: [], dialect: ['bernstein'] });
  const text = await registry.context('backend work');
  expect(text).toContain('`backend` — Does backend.');
  expect(text).not.toContain('THE BODY');
  expect(await runRegistryTool(registry, 'load_skill', { name: 'backend' })).toMatchObject({ body: 'THE BODY' });
});

it('2a.26 a role is its skill, else its legacy template, else one sentence', async () => {
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

it('2a.25, 2a.27 the prompt of a role holds the index and the matched body', async () => {
  const { registry } = await openRegistry({ ...skill('backend', {}, 'THE BODY'), ...skill('api') });
  const { text } = await registry.admin.resolveRolePrompt('backend');
  expect(text).toBe('Skills:\n* backend: Does backend.\n- api: Does api.\n\nTHE BODY');
});

it('2a.28, 2d.3 an edit of a role is in its next prompt, and a new one after the next look', async () => {
  const { registry, root } = await openRegistry({ ...skill('backend', {}, 'Old.') });
  expect((await registry.admin.resolveRolePrompt('backend')).text).toMatch(/Old\.$/);
  writeTree(root, { ...skill('backend', {}, 'New.'), ...skill('qa') });
  expect((await registry.admin.resolveRolePrompt('backend')).text).toMatch(/New\.$/);
  await registry.refresh();
  expect(await registry.admin.resolveRolePrompt('qa')).toMatchObject({ source: 'skill' });
});

it('2a.29, 2a.31, 2a.32 load_skill takes a name, a reference and a script, whose text it gives, and says in error what fails', async () => {
  const { registry } = await openRegistry(
    { ...skill('qa'), 'skills/qa/references/a.md': 'Reference.', 'skills/qa/scripts/b.sh': 'exit 1' },
    { tools: [], dialect: ['bernstein'] },
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
  expect(await load({ reference: 'gone.md' })).toMatchObject({ error: expect.stringContaining('gone.md') });
  expect(await load({ name: 'nobody' })).toMatchObject({
    body: '',
    available_references: [],
    success: false,
    error: { code: 'SKILL_NOT_FOUND', message: expect.stringContaining('nobody') },
  });
});

it('2a.30 the result has the same keys always, and a body only when no file is asked for', async () => {
  const { registry } = await openRegistry(
    { ...skill('qa'), 'skills/qa/references/a.md': 'R.' },
    { tools: [], dialect: ['bernstein'] },
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

it('2a.34 every load is an event on the bus with name, reference, script, source, duration_s and error', async () => {
  const ear = extension(
    'ear',
    '',
    "async start() { this.context.events.subscribe('skill_loaded', (event) => this.context.notifyUser(JSON.stringify(event))); }",
  );
  const files = { 'skills/qa/references/a.md': 'R.', 'skills/qa/scripts/b.sh': 'S.' };
  const config = {
    sources: [{ path: 'skills' }],
    tools: ['read_skill', 'read_skill_resource'],
    dialect: ['bernstein'],
  };
  const { kernel } = await bootRoot({ ...skill('qa'), ...files, ...ear }, config);
  await runKernelTool(kernel, 'read_skill', { skill_id: 'qa' });
  await runKernelTool(kernel, 'load_skill', { name: 'qa', reference: 'a.md' });
  await runKernelTool(kernel, 'read_skill_resource', { skill_id: 'qa', path: 'scripts/b.sh' });
  await runKernelTool(kernel, 'load_skill', { name: 'gone' });
  const heard = kernel
    .undelivered()
    .flatMap((line) => (line.includes('skill_loaded') ? [JSON.parse(line.slice(line.indexOf('{')))] : []));
  const found = { event: 'skill_loaded', name: 'qa', source: 'skills', duration_s: expect.any(Number), error: null };
  for (const event of [
    { ...found, reference: null, script: null },
    { ...found, reference: 'a.md', script: null },
    { ...found, reference: null, script: 'b.sh' },
    { name: 'gone', source: null, error: 'SKILL_NOT_FOUND' },
  ])
    expect(heard).toContainEqual(expect.objectContaining(event));
});

it('2a.44 the command lists skills, and shows a body, a reference or a script, with status 1 for what is not there', async () => {
  const root = tempFolder({
    ...skill('qa', { description: `Tests things${' and more'.repeat(20)}.` }),
    'skills/qa/references/a.md': 'Reference.',
    'skills/qa/scripts/b.sh': 'exit 1',
  });
  const run = (...args: readonly string[]) => runCommand([...args, '--root', root]);
  const { stdout } = await run('list', '--skills', `${root}/skills`);
  expect(stdout).toMatch(/^SKILL .*DESCRIPTION/);
  expect(stdout).toMatch(/\nqa .* Tests things/);
  expect((await run('show', 'qa')).stdout).toBe('Body of qa.\n');
  expect((await run('show', 'qa', '--reference', 'a.md')).stdout).toBe('Reference.\n');
  expect((await run('show', 'qa', '--script', 'b.sh')).stdout).toBe('exit 1\n');
  for (const args of [
    ['show', 'nobody'],
    ['show', 'qa', '--reference', 'gone.md'],
  ]) {
    expect(await run(...args)).toMatchObject({ status: 1, stderr: expect.stringMatching(/nobody|gone\.md/) });
  }
});

it('2d.8, 8.9 hidden characters are left out of descriptions, and those that join letters stay', async () => {
  const joined = 'می‌خواهم 👩‍🔬';
  const { registry } = await openRegistry(
    skill('qa', { description: `"Hid\u{E0041}\u{E0042}den \u{E0101}${joined}."` }),
  );
  expect(await registry.context('')).toContain(`• \`qa\` — Hidden ${joined}.\n`);
});

it('2d.11 a trigger keyword of several words finds its skill', async () => {
  const tree = { ...skill('qa', { trigger_keywords: '[pull request]' }), ...skill('docs'), ...skill('request') };
  const { registry } = await openRegistry(tree);
  const found = await runRegistryTool(registry, 'list_skills', { query: 'look at my pull request' });
  expect((found.skills as { skill_id: string }[]).map(({ skill_id }) => skill_id)).toContain('qa');
});
