import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, writeTree } from '../../helpers/temp-folder.ts';

const inline = (name: string) => ({ name, description: `Does ${name}.`, instructions: `Body of ${name}.` });
const PACK = JSON.stringify({
  id: 'kitchen',
  skills: ['./parts', { path: 'pan.md', preload: true }, inline('wash'), inline('dry')],
  workflow: { entry: 'day', states: { day: { skills: 'wash' }, night: {} } },
});
const PARTS: Tree = {
  'packs/parts/pot/SKILL.md': skillMd({ name: 'pot', description: 'Boils.' }),
  'packs/pan.md': skillMd({ name: 'pan', description: 'Fries.' }),
};

const ids = (registry: SkillRegistry): readonly string[] => registry.snapshot().skills.map(({ id }) => id);
const codes = (registry: SkillRegistry): readonly string[] => registry.problems().map(({ code }) => code);

async function rewrite(opened: { registry: SkillRegistry; root: string }, tree: Tree): Promise<void> {
  writeTree(opened.root, tree);
  await opened.registry.refresh();
}

it('a pack saved half, anywhere in it, keeps its last skills and scopes, and a problem says so', async () => {
  const opened = await openRegistry({ 'packs/p.json': PACK, ...PARTS }, { sources: [{ pack: 'packs/p.json' }] });
  const { registry } = opened;
  const day = { workflowState: { pack: 'kitchen', state: 'day' } };
  expect(ids(registry)).toEqual(['dry', 'pan', 'pot', 'wash']);
  for (let length = 0; length < PACK.length; length += 7) {
    await rewrite(opened, { 'packs/p.json': PACK.slice(0, length) });
    expect(ids(registry)).toEqual(['dry', 'pan', 'pot', 'wash']);
    expect(registry.problems()).toMatchObject([
      {
        code: 'PACK_INVALID',
        severity: 'error',
        message: expect.stringMatching(/Until then the last valid version of the pack is used\.$/),
      },
    ]);
  }
  expect(await registry.read('wash')).toMatchObject({ content: 'Body of wash.' });
  expect(registry.visible(day).map(({ id }) => id)).toEqual(['wash']);
  expect(registry.snapshot().byId.get('pan')?.preload).toBe(true);
  // Its parts are looked at as ever.
  await rewrite(opened, { 'packs/parts/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds.' }) });
  expect(ids(registry)).toContain('cup');
  await rewrite(opened, { 'packs/p.json': JSON.stringify({ id: 'kitchen', skills: [inline('dry')] }) });
  expect([ids(registry), codes(registry)]).toEqual([['dry'], []]);
});

it.each<[string, string]>([
  ['no object', '[]'],
  ['skills that are no list', JSON.stringify({ id: 'kitchen', skills: { wash: inline('wash') } })],
  ['more than it may have', `{"id": "${'x'.repeat(4_200_000)}"}`],
])('a pack that cannot be used any more stays what it was: %s', async (_, text) => {
  const opened = await openRegistry({ 'packs/p.json': PACK, ...PARTS }, { sources: [{ pack: 'packs/p.json' }] });
  await rewrite(opened, { 'packs/p.json': text });
  expect(ids(opened.registry)).toEqual(['dry', 'pan', 'pot', 'wash']);
  expect(codes(opened.registry)).toEqual([text.length > 1000 ? 'PACK_UNREADABLE' : 'PACK_INVALID']);
});

it('a pack that is removed is gone, and one that was never whole has no skills', async () => {
  const opened = await openRegistry(
    { 'packs/p.json': PACK.slice(0, 40), ...PARTS },
    { sources: [{ pack: 'packs/p.json' }] },
  );
  expect(ids(opened.registry)).toEqual([]);
  expect(opened.registry.problems()[0]?.message).not.toContain('Until then');
  await rewrite(opened, { 'packs/p.json': PACK });
  rmSync(join(opened.root, 'packs/p.json'));
  await opened.registry.refresh();
  expect([ids(opened.registry), codes(opened.registry)]).toEqual([[], ['PACK_UNREADABLE']]);
});

const BREW = 'node_modules/brew';
const manifest = (fields: object): string =>
  JSON.stringify({ name: 'brew', version: '1.0.0', type: 'module', ...fields });

it('a package saved half, or with a new version that fails, keeps its last skills', async () => {
  const skills = { [`${BREW}/skills/a/SKILL.md`]: skillMd({ name: 'a', description: 'A.' }) };
  const opened = await openRegistry(
    { [`${BREW}/package.json`]: manifest({}), ...skills },
    { sources: [{ package: 'brew' }] },
  );
  const { registry, root } = opened;
  for (const text of ['', '{"name": "br', '[]', manifest({ skills: 7 })]) {
    await rewrite(opened, { [`${BREW}/package.json`]: text });
    expect(ids(registry)).toEqual(['a']);
    expect(registry.problems()).toMatchObject([
      { code: 'PACKAGE_BROKEN', message: expect.stringMatching(/Until then its last skills are used\.$/) },
    ]);
  }
  await rewrite(opened, { [`${BREW}/package.json`]: manifest({ version: '2.0.0' }) });
  expect([ids(registry), codes(registry)]).toEqual([['a'], []]);
  rmSync(join(root, BREW), { recursive: true });
  await registry.refresh();
  expect([ids(registry), codes(registry)]).toEqual([[], ['PACKAGE_NOT_FOUND']]);
});

it('a package whose code fails keeps its last skills; one that has none any more does not', async () => {
  const factory = (code: string, version: string): Tree => ({
    [`${BREW}/package.json`]: manifest({ version, main: 'main.js' }),
    [`${BREW}/main.js`]: code,
  });
  const good = `export const skillSource = () => 'own';`;
  const own = { [`${BREW}/own/a/SKILL.md`]: skillMd({ name: 'a', description: 'A.' }) };
  const opened = await openRegistry({ ...factory(good, '1.0.0'), ...own }, { sources: [{ package: 'brew' }] });
  expect(ids(opened.registry)).toEqual(['a']);
  await rewrite(opened, factory('export const skillSource = () => { throw new Error("no luck"); };', '2.0.0'));
  expect(ids(opened.registry)).toEqual(['a']);
  expect(opened.registry.problems()[0]?.message).toMatch(/no luck\. .* Until then its last skills are used\.$/);
  await rewrite(opened, factory('export const other = 1;', '3.0.0'));
  expect([ids(opened.registry), codes(opened.registry)]).toEqual([[], ['PACKAGE_BROKEN']]);
});

it('a part of a package that fails keeps its last skills', async () => {
  const code = `
    import { existsSync } from 'node:fs';
    const skill = { id: 'a', description: 'A.', body: 'A.' };
    export const skillSource = () => ({
      id: 'x',
      skills() { if (existsSync(new URL('./down', import.meta.url))) throw new Error('down'); return [skill]; },
    });`;
  const tree = { [`${BREW}/package.json`]: manifest({ main: 'main.js' }), [`${BREW}/main.js`]: code };
  const opened = await openRegistry(tree, { sources: [{ package: 'brew' }] });
  await rewrite(opened, { [`${BREW}/down`]: '' });
  expect([ids(opened.registry), codes(opened.registry)]).toEqual([['a'], ['SOURCE_FAILED']]);
  expect(opened.registry.problems()[0]?.message).toContain('it keeps its last 1 skill');
  expect(await opened.registry.read('a')).toMatchObject({ content: 'A.' });
  rmSync(join(opened.root, BREW, 'down'));
  await opened.registry.refresh();
  expect(codes(opened.registry)).toEqual([]);
});

it.each([
  ['a folder', 'skills/tea/SKILL.md', 'skills'],
  ['a single file', 'tea.md', 'tea.md'],
])('SKILL.md of %s, saved half, never shows models what its author hides from them', async (_, file, path) => {
  const fields = { name: 'tea', description: 'Brews tea.', 'disable-model-invocation': 'true', tags: '[hot]' };
  const text = skillMd(fields, 'Boil water.');
  const opened = await openRegistry({ [file]: text }, { sources: [{ path }] });
  const { registry } = opened;
  for (let length = 0; length <= text.length; length++) {
    await rewrite(opened, { [file]: text.slice(0, length) });
    expect([length, registry.list().skills]).toEqual([length, []]);
    const isWhole = length >= text.indexOf('\n---') + 4;
    if (length > 0)
      expect(registry.snapshot().byId.get('tea')).toMatchObject({ description: 'Brews tea.', tags: ['hot'] });
    expect(codes(registry).length > 0).toBe(!isWhole);
  }
  // A line that hides it counts at once, even in a half that does not say the rest.
  await rewrite(opened, { [file]: skillMd({ name: 'tea', description: 'Brews.' }) });
  expect(registry.list().total).toBe(1);
  await rewrite(opened, { [file]: '---\nname: tea\ndisable-model-invocation: true\ndescr' });
  expect(registry.list().total).toBe(0);
});
