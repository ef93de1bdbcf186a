import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agent, bootRoot, skill } from '../../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { systemText } from '../../helpers/scripted-model.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

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

it('4a.1 a pack without skills is none the worse, and whatever else it holds is left alone', async () => {
  const opened = await openPack({
    version: '1.0.0',
    prompts: { a: { system_template: 'x' } },
    tools: {},
    unknown: [1],
  });
  expect(idsOf(opened)).toEqual([]);
  expect(opened.registry.problems()).toEqual([]);
});

it('4a.2, 4a.28 an entry is a text, a path with preload, or an inline skill, and everything else is named by its pointer', async () => {
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

it('4a.3, 4a.15 a text is a folder, a file or an installed package', async () => {
  const acme = 'node_modules/@acme/billing-skills';
  const opened = await openPack(
    { skills: ['./skills', 'notes/style.md', 'other/SKILL.md', { path: '@acme/billing-skills' }] },
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

it('4a.4, 4a.29, 4d.11 preload puts the body into the prompt from the first turn, and is off by default', async () => {
  const { registry } = await openPack(
    { skills: [{ path: './skills/tea', preload: true }, './skills/cup'] },
    { ...below('skills/tea'), ...below('skills/cup') },
  );
  const text = await registry.context('');
  expect(text).toMatch(
    /^# Active Skills\n\nFollow their instructions\.\n\n\[Skill: tea \| \d+\]\n\nBody of skills\/tea\.\n\n\[End \| \d+\]/,
  );
  expect(text).not.toContain('Body of skills/cup.');
});

it('4a.6 inline names that repeat are named, and so are paths that are not there', async () => {
  const { registry, root } = await openPack({ skills: [INLINE, { ...INLINE, instructions: 'Other.' }, './gone'] });
  expect(briefProblems(registry.problems(), root)).toEqual(
    expect.arrayContaining(['PACK_NAME_REPEATED support.json', 'PACK_PATH_MISSING support.json']),
  );
});

it('4a.7 of two skills with one id the last declared wins', async () => {
  const tree = { ...below('a/tea', 'Of a.'), ...below('b/tea', 'Of b.') };
  for (const collision of ['first', 'last', 'error']) {
    const { registry } = await openPack({ skills: ['./a', './b'] }, tree, { collision });
    expect(registry.list().skills, collision).toMatchObject([{ skillId: 'tea', description: 'Of b.' }]);
    expect(await registry.read('support:a/tea')).toMatchObject({ content: 'Body of a/tea.' });
    expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_ID_TAKEN']);
  }
});

it('4a.8 skills stand beside the instructions of an agent and never replace them', async () => {
  const tree = {
    ...skill('tea'),
    'support.json': JSON.stringify({ id: 's', skills: [{ path: 'skills', preload: true }] }),
  };
  const helper = agent('helper', 'instructions: You help with support.');
  const { kernel, model } = await bootRoot({ ...tree, ...helper }, { sources: [{ pack: 'support.json' }] });
  await kernel.invokeAgent('helper', 'Hello.');
  const system = systemText(model.requests[0]);
  expect(system.startsWith('You help with support.\n\n---\n\n# Active Skills')).toBe(true);
  expect(system).toContain('Body of tea.');
});

it('4a.9 nothing is fetched, resolved or run: a package that is not installed is a problem', async () => {
  const depends = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.', requires: '[gone]' }) };
  const { registry, root } = await openPack({ skills: ['@acme/billing-skills', './skills'] }, depends);
  expect(briefProblems(registry.problems(), root)).toEqual([
    'PACKAGE_NOT_FOUND support.json',
    'REQUIRES_UNKNOWN skills/tea/SKILL.md',
  ]);
  expect(existsSync(join(root, 'node_modules'))).toBe(false);
  expect(registry.list().skills).toMatchObject([{ skillId: 'tea' }]);
});

it('4a.10 what one skill needs of others is told, what it needs of the machine is asked, and what is used is counted', async () => {
  const needs = { requires: '[cup]', metadata: '{ openclaw: { requires: { env: [NO_SUCH_VARIABLE_HERE] } } }' };
  const opened = await openPack(
    { skills: ['./skills', { path: './more', depends_on: ['./skills'] }] },
    { ...skill('tea', { requires: '[cup]' }), ...skill('cup'), ...skill('later', needs) },
  );
  const { registry } = opened;
  expect(idsOf(opened)).toEqual(['cup', 'tea']);
  expect(registry.problems().map(({ code, details }) => `${code} ${details?.pointer ?? ''}`)).toEqual([
    'PACK_INVALID /skills/1/depends_on',
    'SKILL_HIDDEN ',
  ]);
  const hint = "This skill requires: cup. Load it first if you haven't already.";
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'tea' }, { agentId: 'a' })).toMatchObject({ hint });
  expect((await registry.usage.report({ skillId: 'tea' })).skills).toMatchObject([{ skillId: 'tea', loads: 1 }]);
});

it('4a.11 an inline name is for people, and the id is made of it', async () => {
  const { registry } = await openPack({ skills: [{ ...INLINE, name: 'Escalation Protocol (EU)' }] });
  expect(registry.list().skills).toMatchObject([
    { skillId: 'escalation-protocol-eu', name: 'Escalation Protocol (EU)' },
  ]);
  expect(await registry.read('escalation-protocol-eu')).toMatchObject({ content: 'Ask for help.' });
});
