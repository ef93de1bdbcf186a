import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bootRoot, skill } from '../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

const ROWS = 'O1 O2 O3 O4 O5 O6 O7 O9 O10 O13 O15 O17 O18 O19 O21 O22 O24 O25 O26 O27 O28'.split(' ');
const ALLOW = { writes: { create: 'allow', update: 'allow', delete: 'allow' }, tools: ['skill'] };

const at = (folder: string, id: string, description = `Does ${id}.`): Tree => ({
  [`${folder}/${id}/SKILL.md`]: skillMd({ name: id, description }),
});
/** What a skill called `tea` with these fields gives: whether it is there, and `CODE message` of each problem. */
async function verdict(fields: Readonly<Record<string, string>>, body?: string) {
  const { registry } = await openRegistry(skill('tea', fields, body));
  return {
    there: registry.list().skills.map(({ skillId, name }) => `${skillId} ${name}`),
    problems: registry.problems().map(({ code, severity }) => `${severity} ${code}`),
    message: registry.problems()[0]?.message,
  };
}

it('tests every row of the list', ({ task }) => {
  const tested = new Set(task.file.tasks.map(({ name }) => name.split(' ')[0]));
  expect(ROWS.filter((id) => !tested.has(id))).toEqual([]);
});

it('O1 a skill has a name, a description and disable-model-invocation, which is false by default', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), ...skill('own', { 'disable-model-invocation': 'true' }) });
  expect(registry.snapshot().byId.get('tea')).toMatchObject({
    name: 'tea',
    description: 'Does tea.',
    modelInvocable: true,
  });
  expect(registry.snapshot().byId.get('own')).toMatchObject({ modelInvocable: false });
});

it('O2 a name that differs from its directory is a warning, and the directory is the id (decision 1)', async () => {
  expect(await verdict({ name: 'coffee' })).toEqual({
    there: ['tea coffee'],
    problems: ['warning NAME_MISMATCH'],
    message: 'The name "coffee" differs from the directory "tea", which is the id. Make them equal.',
  });
});

it('O3 a name over 64 characters is a warning, and the skill is loaded', async () => {
  const { there, problems } = await verdict({ name: 'x'.repeat(65) });
  expect(there).toHaveLength(1);
  expect(problems).toContain('warning NAME_INVALID');
  const { registry } = await openRegistry(skill('x'.repeat(64)));
  expect(registry.problems()).toEqual([]);
});

it('O4 a name with other characters than lowercase letters, digits and hyphens is a warning', async () => {
  for (const name of ['Tea', 'green tea', 'tea_1', 'tea!']) {
    expect((await verdict({ name })).problems, name).toContain('warning NAME_INVALID');
  }
});

it('O5 a name with a hyphen at an end, or two together, is a warning', async () => {
  for (const name of ['-tea', 'tea-', 'green--tea']) {
    const { there, problems } = await verdict({ name: JSON.stringify(name) });
    expect(problems, name).toContain('warning NAME_INVALID');
    expect(there).toHaveLength(1);
  }
});

it('O6 without a description a skill is loaded by its first paragraph, and refused only when it says nothing (decision 4)', async () => {
  for (const description of ['', '"  "']) {
    expect(await verdict({ description })).toMatchObject({
      there: ['tea tea'],
      problems: ['warning DESCRIPTION_MISSING'],
    });
    expect(await verdict({ description }, '')).toMatchObject({ there: [], problems: ['error SKILL_EMPTY'] });
  }
});

it('O7 a description over 1024 characters is a warning, and the skill is loaded', async () => {
  expect(await verdict({ description: 'x'.repeat(1025) })).toMatchObject({
    there: ['tea tea'],
    problems: ['warning DESCRIPTION_TOO_LONG'],
  });
  expect((await verdict({ description: 'x'.repeat(1024) })).problems).toEqual([]);
});

it('O9 whatever is wrong is a problem with severity, message and path, and nothing throws', async () => {
  const tree = {
    'skills/a/SKILL.md': '---\n: [',
    'skills/b/SKILL.md': new Uint8Array([0xff, 0, 1]),
    'skills/c/SKILL.md': '',
  };
  const { registry, root } = await openRegistry({ ...tree, ...skill('tea') });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toContain('tea');
  for (const id of ['a', 'b', 'c']) {
    const own = registry.problems().filter(({ file }) => file === join(root, 'skills', id, 'SKILL.md'));
    expect(own.length, id).toBeGreaterThan(0);
    for (const problem of own)
      expect(problem).toMatchObject({
        severity: expect.stringMatching(/^(error|warning)$/),
        message: expect.stringMatching(/./),
      });
  }
});

it('O10 a collision names the id and the files of winner and loser', async () => {
  const sources = [{ path: 'skills' }, { path: 'more' }];
  const { registry, root } = await openRegistry({ ...skill('tea'), ...at('more', 'tea', 'Other.') }, { sources });
  const [winner, loser] = ['skills', 'more'].map((folder) => join(root, folder, 'tea/SKILL.md'));
  expect(registry.problems()).toMatchObject([{ code: 'SKILL_ID_TAKEN', file: loser, details: { winner, loser } }]);
  expect(registry.problems()[0]?.message).toContain('Another skill "tea"');
});

it('O13 sources are searched in the order they are written, and what an extension adds comes last (decision 16)', async () => {
  const adds = extension(
    'travel',
    'depends_on: [skill_registry]',
    `async start() {
       const { registry } = this.context.getExtension('skill_registry');
       await registry.addSource({ path: 'travel-skills' });
     }`,
  );
  const tree = {
    ...at('builtin', 'a'),
    ...at('profile', 'b'),
    ...at('travel-skills', 'c'),
    ...at('profile', 'a', 'Loses.'),
  };
  const { kernel } = await bootRoot({ ...tree, ...adds }, { sources: [{ path: 'builtin' }, { path: 'profile' }] });
  const parts = await kernel.describeTurn('orchestrator_agent', '', {});
  const text = parts.find(({ source }) => source === 'skill_registry')?.text.split('\n\n')[0];
  expect(text).toBe('[Available Skills]\n• `a` — Does a.\n• `b` — Does b.\n• `c` — Does c.');
});

it('O15 folders are searched down to a SKILL.md and no further', async () => {
  const { registry } = await openRegistry({
    ...at('skills/kitchen', 'tea'),
    ...at('skills/kitchen/tea/examples', 'inner'),
  });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  expect((await registry.read('tea')).resources.map(({ path }) => path)).toEqual(['examples/inner/SKILL.md']);
});

it('O17 the first one wins, inside a source the first by path', async () => {
  const { registry, root } = await openRegistry({
    ...at('skills/b', 'tea', 'Of b.'),
    ...at('skills/a', 'tea', 'Of a.'),
  });
  expect(registry.list().skills).toMatchObject([{ description: 'Of a.' }]);
  expect(briefProblems(registry.problems(), root)).toEqual(['SKILL_ID_TAKEN skills/b/tea/SKILL.md']);
});

it('O18 the same file reached twice is no collision', async () => {
  const tree = { ...skill('tea'), 'skills/again': { link: 'tea' }, 'more/tea': { link: '../skills/tea' } };
  const sources = [{ path: 'skills' }, { path: 'more', allow_outside: true }];
  const { registry } = await openRegistry(tree, { sources });
  expect(registry.list().total).toBe(1);
  expect(registry.problems().filter(({ code }) => code === 'SKILL_ID_TAKEN')).toEqual([]);
});

it('O19 every skill says where it came from, and every source where it is', async () => {
  const outside = tempFolder(at('.', 'far'));
  const sources = [
    { path: 'skills', id: 'project' },
    { path: outside, id: 'user' },
  ];
  const { registry, root } = await openRegistry(skill('near'), { sources });
  expect(registry.snapshot().sources).toEqual([
    { id: 'project', kind: 'directory', location: join(root, 'skills'), skills: 1 },
    { id: 'user', kind: 'directory', location: outside, skills: 1 },
  ]);
  expect(registry.list().skills.map(({ skillId, source }) => `${source} ${skillId}`)).toEqual([
    'project near',
    'user far',
  ]);
});

it('O21 the strong wording stands before the list when it is asked for', async () => {
  const { registry } = await openRegistry(skill('tea'), { catalog: { enforcement: true } });
  const text = (await registry.context('')) ?? '';
  const headings = text.split('\n').filter((line) => line.startsWith('#'));
  expect(headings).toEqual([
    '# Skills — FIRST PRIORITY (MANDATORY)',
    '## Rules (MUST follow in order)',
    '## Enforcement',
  ]);
  expect(text).toContain('\n\nCRITICAL: You have installed skills');
  expect(text.match(/^\d\. /gm)).toHaveLength(6);
  expect(text).toContain('this is considered a FAILURE');
  expect(text).toContain('\n\n[Available Skills]\n• `tea` — Does tea.\n');
  expect(await (await openRegistry(skill('tea'))).registry.context('')).not.toContain('MANDATORY');
});

it('O22 the list is XML with the absolute path of each file when it is asked for', async () => {
  const tree = skill('tea', { description: '"Brews <b>tea</b> & \'more\'."' });
  const { registry, root } = await openRegistry(tree, { catalog: { format: 'xml' } });
  expect(await registry.context('')).toBe(
    [
      '<available_skills>',
      '  <skill>',
      '    <name>tea</name>',
      '    <description>Brews &lt;b&gt;tea&lt;/b&gt; &amp; &apos;more&apos;.</description>',
      `    <location>${root}/skills/tea/SKILL.md</location>`,
      '  </skill>',
      '</available_skills>',
      '',
      'To load a skill\'s full instructions: `read_skill(skill_id="<name>")`',
      "Scripts within a skill are relative to the skill's directory (parent of SKILL.md).",
    ].join('\n'),
  );
});

it('O24 a skill that disables its invocation by models is in no block, and a person still applies it (decision 5)', async () => {
  const tree = { ...skill('tea'), ...skill('own', { 'disable-model-invocation': 'true' }) };
  for (const format of ['bullets', 'xml']) {
    const { registry } = await openRegistry(tree, { catalog: { format } });
    expect(await registry.context('own')).not.toContain('own');
    await expect(registry.read('own', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  }
  const { kernel } = await bootRoot(tree);
  expect(await kernel.runCommand('/skills:own', {})).toMatchObject({ kind: 'send' });
});

it('O25 one skill tool has the actions of the seed, with its arguments', async () => {
  const { root, registry } = await openRegistry(skill('tea'), ALLOW);
  const act = (args: object) => runRegistryTool(registry, 'skill', args);
  const steps = [
    { action: 'create', name: 'coffee', description: 'Brews coffee.', body: 'Grind.' },
    { action: 'edit', name: 'coffee', content: skillMd({ name: 'coffee', description: 'Brews.' }, 'Grind and brew.') },
    { action: 'patch', name: 'coffee', fields: { description: 'Brews well.' } },
    { action: 'write_file', name: 'coffee', filename: 'references/beans.md', content: 'Arabica.' },
  ];
  for (const step of steps) expect(await act(step)).toMatchObject({ success: true });
  expect(await act({ action: 'view', name: 'coffee' })).toMatchObject({
    content: expect.stringContaining('Brews well.'),
  });
  expect(registry.admin.resources('coffee')).toMatchObject([{ path: 'references/beans.md' }]);
  expect(await act({ action: 'remove_file', name: 'coffee', filename: 'references/beans.md' })).toMatchObject({
    success: true,
  });
  expect(await act({ action: 'list' })).toMatchObject({ total: 2 });
  expect(await act({ action: 'delete', name: 'coffee' })).toMatchObject({ success: true });
  expect(existsSync(join(root, 'skills/coffee'))).toBe(false);
});

it('O26 the arguments of the code are taken as well, and delete archives', async () => {
  const { registry } = await openRegistry(skill('tea'), ALLOW);
  const act = (args: object) => runRegistryTool(registry, 'skill', args);
  const content = skillMd({ name: 'coffee', description: 'Brews.' }, 'Grind. Grind.');
  expect(await act({ action: 'create', name: 'coffee', content })).toMatchObject({ success: true });
  const patch = { action: 'patch', name: 'coffee', old_string: 'Grind.', new_string: 'Mill.', replace_all: true };
  expect(await act(patch)).toMatchObject({ success: true });
  const write = { action: 'write_file', name: 'coffee', file_path: 'scripts/run.sh', file_content: 'echo' };
  expect(await act(write)).toMatchObject({ success: true });
  expect((await registry.read('coffee')).content).toBe('Mill. Mill.');
  await act({ action: 'delete', name: 'coffee' });
  await registry.history.restore('coffee', { by: 'person:ada' });
  expect(registry.admin.resources('coffee')).toMatchObject([{ path: 'scripts/run.sh' }]);
});

it('O27 writes go to the first source that may be written, and view works for every skill', async () => {
  const tree = { ...at('team', 'law'), ...skill('tea') };
  const sources = [{ path: 'team', writable: false }, { path: 'skills' }];
  const { root, registry } = await openRegistry(tree, { ...ALLOW, sources });
  const act = (args: object) => runRegistryTool(registry, 'skill', args);
  expect(await act({ action: 'view', name: 'law' })).toMatchObject({ success: true });
  expect(await act({ action: 'edit', name: 'law', content: 'x' })).toMatchObject({
    error: { code: 'SOURCE_NOT_WRITABLE' },
  });
  await act({ action: 'create', name: 'coffee', description: 'Brews.', body: 'Grind.' });
  expect(existsSync(join(root, 'skills/coffee/SKILL.md'))).toBe(true);
  const none = await openRegistry(tree, { ...ALLOW, sources: [{ path: 'skills', writable: false }] });
  const refused = await runRegistryTool(none.registry, 'skill', {
    action: 'create',
    name: 'x',
    description: 'x',
    body: 'x',
  });
  expect(refused).toMatchObject({ error: { code: 'SOURCE_NOT_WRITABLE' } });
});

it('O28 the catalog has changed before the tool answers', async () => {
  const { registry } = await openRegistry(skill('tea'), ALLOW);
  await runRegistryTool(registry, 'skill', { action: 'patch', name: 'tea', fields: { description: 'Now different.' } });
  expect(registry.snapshot().byId.get('tea')?.description).toBe('Now different.');
  expect(await registry.context('')).toContain('Now different.');
});
