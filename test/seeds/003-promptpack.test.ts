import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { delimited } from '../../lib/text/index.ts';
import { agent, bootRoot, skill } from '../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { systemText } from '../helpers/scripted-model.ts';
import { skillMd, type Tree } from '../helpers/temp-folder.ts';

const ROWS = 'P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11'.split(' ');
const LATER = ['P10'];

const INLINE = { name: 'escalation-protocol', description: 'Steps for escalating.', instructions: 'Ask for help.' };
const below = (path: string, description = `Does ${path.split('/').at(-1)}.`): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: path.split('/').at(-1) ?? '', description }, `Body of ${path}.`),
});
/** A registry over one pack, `support.json`. */
const openPack = (pack: object, tree: Tree = {}, config: object = {}) =>
  openRegistry(
    { 'support.json': JSON.stringify({ id: 'support', ...pack }), ...tree },
    { sources: [{ pack: 'support.json' }], ...config },
  );
const idsOf = ({ registry }: Awaited<ReturnType<typeof openPack>>, turn = {}): readonly string[] =>
  registry.list({ limit: 200 }, turn).skills.map(({ skillId }) => skillId);

it('tests every row of the list but those that belong to later work', ({ task }) => {
  const tested = new Set(task.file.tasks.map(({ name }) => name.split(' ')[0]));
  expect(ROWS.filter((id) => !tested.has(id))).toEqual(LATER);
});

it('P1 a pack without skills is none the worse, and whatever else it holds is left alone', async () => {
  const opened = await openPack({
    version: '1.0.0',
    prompts: { a: { system_template: 'x' } },
    tools: {},
    unknown: [1],
  });
  expect(idsOf(opened)).toEqual([]);
  expect(opened.registry.problems()).toEqual([]);
});

it('P2 an entry is a text, a path with preload, or an inline skill, and everything else is named by its pointer', async () => {
  const good = ['./skills/tea', { path: './skills/cup', preload: true }, INLINE];
  const bad = [7, '', { path: '' }, { path: './x', extra: 1 }, { name: 'a', description: 'b' }, { ...INLINE, more: 1 }];
  const opened = await openPack({ skills: [...good, ...bad] }, { ...below('skills/tea'), ...below('skills/cup') });
  expect(idsOf(opened)).toEqual(['cup', 'escalation-protocol', 'tea']);
  const pointers = opened.registry.problems().map(({ code, details }) => `${code} ${details?.pointer}`);
  expect(pointers).toEqual([
    'PACK_INVALID /skills/3',
    'PACK_INVALID /skills/4',
    'PACK_INVALID /skills/5/path',
    'PACK_INVALID /skills/6/extra',
    'PACK_INVALID /skills/7/instructions',
    'PACK_INVALID /skills/8/more',
  ]);
});

it('P3 a text is a folder, a file or an installed package', async () => {
  const acme = 'node_modules/@acme/billing-skills';
  const opened = await openPack(
    { skills: ['./skills', 'notes/style.md', 'other/SKILL.md', '@acme/billing-skills'] },
    {
      ...below('skills/deep/tea'),
      'notes/style.md': skillMd({ name: 'style', description: 'Style.' }),
      'other/SKILL.md': skillMd({ name: 'other', description: 'Other.' }),
      [`${acme}/package.json`]: '{"name":"@acme/billing-skills","version":"1.0.0"}',
      ...below(`${acme}/skills/invoices`),
    },
  );
  expect(opened.registry.problems()).toEqual([]);
  expect(idsOf(opened)).toEqual(['invoices', 'other', 'style', 'tea']);
});

it('P4 preload puts the body into the prompt from the first turn, and is off by default', async () => {
  const { registry } = await openPack(
    { skills: [{ path: './skills/tea', preload: true }, './skills/cup'] },
    { ...below('skills/tea'), ...below('skills/cup') },
  );
  const text = await registry.context('');
  expect(text).toContain(
    `# Active Skills\n\nFollow their instructions.\n\n${delimited('Skill: tea', 'Body of skills/tea.')}`,
  );
  expect(text).not.toContain('Body of skills/cup.');
});

it('P5 a workflow state sees the folder or the file it names, all when it names none, nothing for none', async () => {
  const states = {
    all: {},
    folder: { skills: './skills/billing' },
    file: { skills: 'skills/tea/SKILL.md' },
    shut: { skills: 'none' },
  };
  const opened = await openPack(
    { skills: ['./skills'], workflow: { version: 1, entry: 'folder', states } },
    { ...below('skills/tea'), ...below('skills/billing/refund'), ...below('skills/billing/invoice') },
  );
  const seen = (state?: string) => idsOf(opened, { workflowState: { pack: 'support', ...(state ? { state } : {}) } });
  expect(seen('all')).toEqual(['invoice', 'refund', 'tea']);
  expect(seen('folder')).toEqual(['invoice', 'refund']);
  expect(seen('file')).toEqual(['tea']);
  expect(seen('shut')).toEqual([]);
  expect(seen()).toEqual(['invoice', 'refund']);
  const turn = { workflowState: { pack: 'support', state: 'file' } };
  const refused = await runRegistryTool(opened.registry, 'read_skill', { skill_id: 'refund' }, turn);
  expect(refused).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
  expect(await opened.registry.context('', { workflowState: { pack: 'support', state: 'shut' } })).toBeNull();
});

it('P6 inline names that repeat are named, and so are paths that are not there', async () => {
  const { registry, root } = await openPack({ skills: [INLINE, { ...INLINE, instructions: 'Other.' }, './gone'] });
  expect(briefProblems(registry.problems(), root)).toEqual(
    expect.arrayContaining(['PACK_NAME_REPEATED support.json', 'PACK_PATH_MISSING support.json']),
  );
});

it('P7 of two skills with one id the last declared wins (decision 17)', async () => {
  const tree = { ...below('a/tea', 'Of a.'), ...below('b/tea', 'Of b.') };
  for (const collision of ['first', 'last', 'error']) {
    const { registry } = await openPack({ skills: ['./a', './b'] }, tree, { collision });
    expect(registry.list().skills, collision).toMatchObject([{ skillId: 'tea', description: 'Of b.' }]);
    expect(await registry.read('support:a/tea')).toMatchObject({ content: 'Body of a/tea.' });
    expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_ID_TAKEN']);
  }
});

it('P8 skills stand beside the instructions of an agent and never replace them', async () => {
  const tree = {
    ...skill('tea'),
    'support.json': JSON.stringify({ id: 's', skills: [{ path: 'skills', preload: true }] }),
  };
  const helper = agent('helper', 'instructions: You help with support.');
  const { kernel, model } = await bootRoot({ ...tree, ...helper }, { sources: [{ pack: 'support.json' }] });
  await kernel.invokeAgent('helper', 'Hello.');
  const system = systemText(model.requests[0]);
  expect(system.startsWith('You help with support.\n\n---\n\n# Active Skills')).toBe(true);
  expect(system).toContain(delimited('Skill: tea', 'Body of tea.'));
});

it('P9 nothing is fetched, resolved or run: a package that is not installed is a problem', async () => {
  const depends = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.', requires: '[gone]' }) };
  const { registry, root } = await openPack({ skills: ['@acme/billing-skills', './skills'] }, depends);
  expect(briefProblems(registry.problems(), root)).toEqual([
    'PACKAGE_NOT_FOUND support.json',
    'REQUIRES_UNKNOWN skills/tea/SKILL.md',
  ]);
  expect(existsSync(join(root, 'node_modules'))).toBe(false);
  expect(registry.list().skills).toMatchObject([{ skillId: 'tea' }]);
});

it('P11 an inline name is for people, and the id is made of it', async () => {
  const { registry } = await openPack({ skills: [{ ...INLINE, name: 'Escalation Protocol (EU)' }] });
  expect(registry.list().skills).toMatchObject([
    { skillId: 'escalation-protocol-eu', name: 'Escalation Protocol (EU)' },
  ]);
  expect(await registry.read('escalation-protocol-eu')).toMatchObject({ content: 'Ask for help.' });
});
