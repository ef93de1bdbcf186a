import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

it('1a.1 a skill is a directory with a SKILL.md of frontmatter and body', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/notes/README.md': 'No skill.' });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  expect(await registry.read('tea')).toMatchObject({ content: 'Body of tea.' });
});

it('1a.2 without name or description a skill is loaded all the same, and told what is missing', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': skillMd({ tags: '[a]' }, 'Brew it.') });
  expect(registry.problems().map(({ code }) => code)).toEqual(['DESCRIPTION_MISSING', 'NAME_MISSING']);
  expect(registry.list().skills[0]).toMatchObject({ skillId: 'tea', name: 'tea', description: 'Brew it.' });
});

it('1a.3 tags are a list, empty where there are none, and filter and find', async () => {
  const { registry } = await openRegistry({ ...skill('tea', { tags: '[drinks, hot]' }), ...skill('plain') });
  expect(registry.list({ tag: 'hot' }).skills).toMatchObject([{ skillId: 'tea', tags: ['drinks', 'hot'] }]);
  expect(registry.list({ query: 'drinks' }).skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  expect(registry.snapshot().byId.get('plain')?.tags).toEqual([]);
});

it('1a.4 requires is a list of ids, empty where there is none', async () => {
  const { registry } = await openRegistry({ ...skill('tea', { requires: '[water, cup]' }), ...skill('water') });
  expect(registry.snapshot().byId.get('tea')?.requires).toEqual(['water', 'cup']);
  expect(await registry.read('water')).toMatchObject({ requires: [] });
});

it('1a.5 requires loads nothing by itself', async () => {
  const { registry, loaded } = await openRegistry({ ...skill('tea', { requires: '[water]' }), ...skill('water') });
  expect(await registry.read('tea', {}, {})).toMatchObject({ content: 'Body of tea.' });
  expect(loaded.map(({ skillId }) => skillId)).toEqual(['tea']);
});

it('1a.6 a folded description is one line of the catalog', async () => {
  const description = '>\n  Brews tea.\n  Use when thirsty.\n\n  Twice.';
  const { registry } = await openRegistry(skill('tea', { description }));
  expect(await registry.context('')).toContain('• `tea` — Brews tea. Use when thirsty. Twice.\n');
});

it('1a.7 files may lie in any folder of a skill', async () => {
  const paths = ['any/deep/place.txt', 'references/a.md', 'scripts/run.sh', 'templates/t.md'];
  const files = Object.fromEntries(paths.map((path) => [`skills/tea/${path}`, path]));
  const { registry } = await openRegistry({ ...skill('tea'), ...files });
  expect((await registry.read('tea')).resources.map(({ path }) => path)).toEqual(paths);
  for (const path of paths) expect(await registry.readResource('tea', path)).toMatchObject({ content: path });
});

it('1a.8 the directory name is the id, and the name fails lookup', async () => {
  const { registry } = await openRegistry(skill('a-b', { name: 'Something Else' }));
  expect(await registry.context('')).toContain('`a-b`');
  expect(await registry.read('a-b')).toMatchObject({ skillId: 'a-b', name: 'Something Else' });
  await expect(registry.read('Something Else')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it('1a.9 fields of other clients are tolerated and kept', async () => {
  const fields = { globs: '["*.ts"]', model: 'opus', 'allowed-tools': 'Read', alwaysApply: 'true' };
  const { registry } = await openRegistry(skill('tea', fields));
  expect(registry.problems()).toEqual([]);
  expect(registry.snapshot().byId.get('tea')?.extra).toEqual({ globs: ['*.ts'], model: 'opus', alwaysApply: true });
});

it('1a.10 a body over 8000 tokens is a warning, and the skill stays usable', async () => {
  const { registry } = await openRegistry(skill('long', {}, 'word '.repeat(9000)));
  await registry.admin.tokenCounts();
  const limit = 8000;
  expect(registry.problems()).toMatchObject([{ code: 'SKILL_TOO_LONG', severity: 'warning', details: { limit } }]);
  expect((await registry.read('long')).approxTokens).toBeGreaterThan(limit);
  expect(await registry.context('')).toContain('`long`');
});

it('1a.12 the index holds frontmatter, and bodies stay on disk', async () => {
  const { registry, root } = await openRegistry(skill('tea', {}, 'THE BODY'));
  expect(JSON.stringify([...registry.snapshot().byId])).not.toContain('THE BODY');
  rmSync(join(root, 'skills/tea/SKILL.md'));
  await expect(registry.read('tea')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
});

it('1a.14 the catalog has the exact text', async () => {
  const { registry } = await openRegistry({
    ...skill('code-review', { description: 'Code review checklist and best practices' }),
    ...skill('task-decomposition', { description: 'Break complex tasks into subtasks' }),
  });
  expect(await registry.context('')).toBe(
    '[Available Skills]\n• `code-review` — Code review checklist and best practices\n' +
      '• `task-decomposition` — Break complex tasks into subtasks\n\n' +
      'Use read_skill(skill_id) to load full instructions.',
  );
});

it('1a.15 no skills give null and no block', async () => {
  const { registry } = await openRegistry({});
  expect(await registry.context('anything')).toBeNull();
});

it('1a.17, 4a.17 instructions come on read_skill, one file on read_skill_resource', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/tea/references/a.md': 'Leaf.' });
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'tea' })).toMatchObject({ content: 'Body of tea.' });
  const args = { skill_id: 'tea', path: 'references/a.md' };
  expect(await runRegistryTool(registry, 'read_skill_resource', args)).toMatchObject({ content: 'Leaf.' });
});

it('1a.18 fifty skills are shown whole in about a thousand tokens, 20 for each', async () => {
  const many = Object.assign({}, ...Array.from({ length: 50 }, (_, at) => skill(`skill-${at}`)));
  const { registry } = await openRegistry(many);
  const text = (await registry.context('')) ?? '';
  expect(text.split('\n').filter((line) => line.startsWith('• '))).toHaveLength(50);
  expect(countTokens(text)).toBeLessThan(1000);
});

it('1a.19 list_skills gives the catalog, and a query filters by name or tag', async () => {
  const { registry } = await openRegistry({ ...skill('brew-tea', { tags: '[drinks]' }), ...skill('plan') });
  const list = async (args: unknown) => (await runRegistryTool(registry, 'list_skills', args)).skills;
  expect(await list({})).toMatchObject([{ skill_id: 'brew-tea', description: 'Does brew-tea.' }, { skill_id: 'plan' }]);
  expect(await list({ query: '' })).toHaveLength(2);
  for (const query of ['ew-te', 'DRINK']) expect(await list({ query })).toMatchObject([{ skill_id: 'brew-tea' }]);
});

it('1a.20, 1d.5 read_skill gives the body and its tokens, and the raw file where that is asked for', async () => {
  const { registry } = await openRegistry(skill('extension-development'));
  const result = await runRegistryTool(registry, 'read_skill', { skill_id: 'extension-development' });
  expect(result.content).toBe('Body of extension-development.');
  expect(result.message).toBe(`Skill loaded: extension-development (approx. ${result.approx_tokens} tokens)`);
  const raw = { skill_id: 'extension-development', view: 'raw' };
  expect((await runRegistryTool(registry, 'read_skill', raw)).content).toMatch(/^---\nname: extension-development\n/);
});

it('1a.21 required skills are hinted at in the exact words', async () => {
  const { registry } = await openRegistry({
    ...skill('tea', { requires: '[water, cup]' }),
    ...skill('water'),
    ...skill('cup'),
  });
  const read = (skill_id: string) => runRegistryTool(registry, 'read_skill', { skill_id });
  const hint = "This skill requires: water, cup. Load it first if you haven't already.";
  expect(await read('tea')).toMatchObject({ hint });
  expect(await read('water')).not.toHaveProperty('hint');
});

it('1a.22 read_skill_resource gives one file of the directory', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/tea/t/x.txt': 'Text.' });
  const result = await runRegistryTool(registry, 'read_skill_resource', { skill_id: 'tea', path: 't/x.txt' });
  expect(result).toMatchObject({ success: true, skill_id: 'tea', path: 't/x.txt', content: 'Text.', size: 5 });
});

it('1a.23, 1d.1, 8.2 a path that leaves the skill is refused in the exact words', async () => {
  const trap = { 'secret.txt': 'secret', 'skills/tea/out.md': { link: '../../secret.txt' } };
  const { registry, root } = await openRegistry({ ...skill('tea'), ...skill('other'), ...trap });
  for (const path of ['../other/SKILL.md', 'a/../SKILL.md', join(root, 'secret.txt'), 'out.md']) {
    const result = await runRegistryTool(registry, 'read_skill_resource', { skill_id: 'tea', path });
    expect(result, path).toMatchObject({ success: false, error: { code: 'PATH_TRAVERSAL' } });
    expect(JSON.stringify(result), path).toContain('Path traversal detected');
  }
  for (const skill_id of ['../..', '..', 'tea/../other', join(root, 'skills/tea')]) {
    const result = await runRegistryTool(registry, 'read_skill_resource', { skill_id, path: 'secret.txt' });
    expect(result, skill_id).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
  }
});

it('1a.24 an unknown id is an error that names the nearest', async () => {
  const { registry } = await openRegistry(skill('brew-tea'));
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'brew-te' })).toEqual({
    success: false,
    error: { code: 'SKILL_NOT_FOUND', message: 'No skill "brew-te". Nearest: brew-tea.' },
  });
});

it('1a.29 a skill that is added, changed or removed is seen by the next look, and the look can be switched off', async () => {
  const { registry, root } = await openRegistry(skill('a'), { watch: { mode: 'poll', interval_seconds: 0.05 } });
  const end = new AbortController();
  const ended = registry.watch(end.signal);
  const until = (text: string) => waitFor(text, async () => (await registry.context(''))?.includes(text));
  writeTree(root, skill('b'));
  await until('`b` — Does b.');
  writeTree(root, skill('a', { description: 'Changed.' }));
  await until('`a` — Changed.');
  rmSync(join(root, 'skills/b'), { recursive: true });
  await waitFor('b to go', () => !registry.snapshot().byId.has('b'));
  end.abort();
  await ended;
  const off = await openRegistry(skill('a'), { watch: { mode: 'off' } });
  await off.registry.watch(new AbortController().signal);
  expect(off.registry.admin.watchMode()).toBe('off');
});

it('1a.33, 8.12 hundreds of skills stay within the budget, and what is not shown is counted and found', async () => {
  const inline = Array.from({ length: 200 }, (_, at) => ({
    name: `skill-${at}`,
    description: `Does skill-${at}.`,
    instructions: `Body of skill-${at}.`,
  }));
  const { registry } = await openRegistry({}, { sources: [{ inline }], catalog: { budget_tokens: 800 } });
  const text = (await registry.context('Use skill 7')) ?? '';
  expect(countTokens(text)).toBeLessThanOrEqual(800);
  expect(text).toMatch(/\d+ of 200 skills shown; list_skills\(query\) finds the rest\.$/);
  expect(await runRegistryTool(registry, 'list_skills', { query: 'skill-199' })).toMatchObject({ total: 1 });
});

it('1a.41 an agent is told to check its skills before a complex task', async () => {
  const { registry } = await openRegistry(skill('tea'));
  const [list] = registry.tools();
  expect(list?.description).toContain('Always check available skills before starting a complex task.');
});
