import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bootRoot, skill } from '../../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { extension } from '../../kernel/boot/boot-extensions.ts';

const at = (folder: string, id: string, description = `Does ${id}.`): Tree => ({
  [`${folder}/${id}/SKILL.md`]: skillMd({ name: id, description }),
});

it('3a.13 sources are searched in the order they are written, and what an extension adds comes last', async () => {
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

it('3a.15, 4d.13 folders are searched down to a SKILL.md and no further', async () => {
  const { registry } = await openRegistry({
    ...at('skills/kitchen', 'tea'),
    ...at('skills/kitchen/tea/examples', 'inner'),
  });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  expect((await registry.read('tea')).resources.map(({ path }) => path)).toEqual(['examples/inner/SKILL.md']);
});

it('3a.17 the first one wins, inside a source the first by path', async () => {
  const { registry, root } = await openRegistry({
    ...at('skills/b', 'tea', 'Of b.'),
    ...at('skills/a', 'tea', 'Of a.'),
  });
  expect(registry.list().skills).toMatchObject([{ description: 'Of a.' }]);
  expect(briefProblems(registry.problems(), root)).toEqual(['SKILL_ID_TAKEN skills/b/tea/SKILL.md']);
});

it('3a.18 the same file reached twice is no collision', async () => {
  const tree = { ...skill('tea'), 'skills/again': { link: 'tea' }, 'more/tea': { link: '../skills/tea' } };
  const sources = [{ path: 'skills' }, { path: 'more', allow_outside: true }];
  const { registry } = await openRegistry(tree, { sources });
  expect(registry.list().total).toBe(1);
  expect(registry.problems().filter(({ code }) => code === 'SKILL_ID_TAKEN')).toEqual([]);
});

it('3a.19, 3d.6 every skill says where it came from, and every source where it is', async () => {
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

it('3a.21, 3d.10 the strong wording stands before the list when it is asked for, and only then', async () => {
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

it('3a.22, 3a.23 the list is XML, escaped, with the absolute path of each file when it is asked for', async () => {
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

it('3a.24 a skill that disables its invocation by models is in no block, and a person still applies it', async () => {
  const tree = { ...skill('tea'), ...skill('own', { 'disable-model-invocation': 'true' }) };
  for (const format of ['bullets', 'xml']) {
    const { registry } = await openRegistry(tree, { catalog: { format } });
    expect(await registry.context('own')).not.toContain('own');
    await expect(registry.read('own', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  }
  const { kernel } = await bootRoot(tree);
  expect(await kernel.runCommand('/skills:own', {})).toMatchObject({ kind: 'send' });
});

it('3a.16, 3d.5 hidden folders are passed over, bare files and what ignore files name where that is asked for', async () => {
  const tree = {
    ...at('skills', 'tea'),
    ...at('skills/.hidden', 'no'),
    ...at('skills/__pycache__', 'nor'),
    ...at('skills', 'private'),
    'skills/greet.md': skillMd({ description: 'Greets.' }),
    'skills/.gitignore': 'private/\n',
  };
  const ids = async (flags: object): Promise<readonly string[]> => {
    const { registry } = await openRegistry(tree, { sources: [{ path: 'skills', ...flags }] });
    return registry.list().skills.map(({ skillId }) => skillId);
  };
  expect(await ids({})).toEqual(['private', 'tea']);
  expect(await ids({ bare_files: true, ignore_files: true })).toEqual(['greet', 'tea']);
});

it('3a.40, 3d.7 a profile comes before what is built in where its owner puts it first, and the prompt can be left out', async () => {
  const tree = { ...at('builtin', 'tea', 'Built in.'), ...at('profile', 'tea', 'Of the profile.') };
  const sources = [{ path: 'profile' }, { path: 'builtin' }];
  const { registry } = await openRegistry(tree, { sources });
  expect(registry.list().skills).toMatchObject([{ skillId: 'tea', description: 'Of the profile.' }]);
  expect((await registry.read('builtin:tea')).source).toBe('builtin');
  const none = await openRegistry(tree, { sources, inject: 'off' });
  expect(await none.registry.context('tea')).toBeNull();
});
