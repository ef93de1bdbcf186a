import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { countTokens, delimited } from '../../lib/text/index.ts';
import { agent, bootRoot, skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { runRegistryTool } from '../helpers/run-registry-tool.ts';
import { systemText } from '../helpers/scripted-model.ts';
import { skillMd, type Tree, writeTree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

const ROWS = Array.from({ length: 41 }, (_, index) => `Y${index + 1}`);
/** In 002-yodoca-proposals.test.ts and 002-yodoca-search.test.ts. */
const ELSEWHERE = ['Y30', 'Y31', 'Y34', 'Y35', 'Y36', 'Y37', 'Y38', 'Y40'];

it('tests every row of the list', ({ task }) => {
  const tested = new Set(task.file.tasks.map(({ name }) => name.split(' ')[0]));
  expect(ROWS.filter((id) => !tested.has(id) && !ELSEWHERE.includes(id))).toEqual([]);
});

it('Y1 a skill is a directory with a SKILL.md of frontmatter and body', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/notes/README.md': 'No skill.' });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  expect(await registry.read('tea')).toMatchObject({ content: 'Body of tea.' });
});

it('Y2 without name or description a skill is loaded all the same, and told what is missing (decision 4)', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': skillMd({ tags: '[a]' }, 'Brew it.') });
  expect(registry.problems().map(({ code }) => code)).toEqual(['DESCRIPTION_MISSING', 'NAME_MISSING']);
  expect(registry.list().skills[0]).toMatchObject({ skillId: 'tea', name: 'tea', description: 'Brew it.' });
});

it('Y3 tags are a list, empty where there are none, and filter and find', async () => {
  const { registry } = await openRegistry({ ...skill('tea', { tags: '[drinks, hot]' }), ...skill('plain') });
  expect(registry.list({ tag: 'hot' }).skills).toMatchObject([{ skillId: 'tea', tags: ['drinks', 'hot'] }]);
  expect(registry.list({ query: 'drinks' }).skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  expect(registry.snapshot().byId.get('plain')?.tags).toEqual([]);
});

it('Y4 requires is a list of ids, empty where there is none', async () => {
  const { registry } = await openRegistry({ ...skill('tea', { requires: '[water, cup]' }), ...skill('water') });
  expect(registry.snapshot().byId.get('tea')?.requires).toEqual(['water', 'cup']);
  expect(await registry.read('water')).toMatchObject({ requires: [] });
});

it('Y5 requires loads nothing by itself', async () => {
  const { registry, loaded } = await openRegistry({ ...skill('tea', { requires: '[water]' }), ...skill('water') });
  expect(await registry.read('tea', {}, {})).toMatchObject({ content: 'Body of tea.' });
  expect(loaded.map(({ skillId }) => skillId)).toEqual(['tea']);
});

it('Y6 a folded description is one line of the catalog', async () => {
  const description = '>\n  Brews tea.\n  Use when thirsty.\n\n  Twice.';
  const { registry } = await openRegistry(skill('tea', { description }));
  expect(await registry.context('')).toContain('• `tea` — Brews tea. Use when thirsty. Twice.\n');
});

it('Y7 files may lie in any folder of a skill', async () => {
  const paths = ['any/deep/place.txt', 'references/a.md', 'scripts/run.sh', 'templates/t.md'];
  const files = Object.fromEntries(paths.map((path) => [`skills/tea/${path}`, path]));
  const { registry } = await openRegistry({ ...skill('tea'), ...files });
  expect((await registry.read('tea')).resources.map(({ path }) => path)).toEqual(paths);
  for (const path of paths) expect(await registry.readResource('tea', path)).toMatchObject({ content: path });
});

it('Y8 the directory name is the id, and the name fails lookup (decision 1)', async () => {
  const { registry } = await openRegistry(skill('a-b', { name: 'Something Else' }));
  expect(await registry.context('')).toContain('`a-b`');
  expect(await registry.read('a-b')).toMatchObject({ skillId: 'a-b', name: 'Something Else' });
  await expect(registry.read('Something Else')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it('Y9 fields of other clients are tolerated and kept', async () => {
  const fields = { globs: '["*.ts"]', model: 'opus', 'allowed-tools': 'Read', alwaysApply: 'true' };
  const { registry } = await openRegistry(skill('tea', fields));
  expect(registry.problems()).toEqual([]);
  expect(registry.snapshot().byId.get('tea')?.extra).toEqual({ globs: ['*.ts'], model: 'opus', alwaysApply: true });
});

it('Y10 a body over 8000 tokens is a warning, and the skill stays usable', async () => {
  const { registry } = await openRegistry(skill('long', {}, 'word '.repeat(9000)));
  await registry.admin.tokenCounts();
  const limit = 8000;
  expect(registry.problems()).toMatchObject([{ code: 'SKILL_TOO_LONG', severity: 'warning', details: { limit } }]);
  expect((await registry.read('long')).approxTokens).toBeGreaterThan(limit);
  expect(await registry.context('')).toContain('`long`');
});

it('Y11 the folder of skills is scanned when the extension starts', async () => {
  const { kernel } = await bootRoot({ ...skill('tea'), ...skill('cup') });
  const { text } = (await kernel.runCommand('/skills', {})) as { text: string };
  expect(text).toMatch(/\ncup .*\ntea /);
});

it('Y12 the index holds frontmatter, and bodies stay on disk', async () => {
  const { registry, root } = await openRegistry(skill('tea', {}, 'THE BODY'));
  expect(JSON.stringify([...registry.snapshot().byId])).not.toContain('THE BODY');
  rmSync(join(root, 'skills/tea/SKILL.md'));
  await expect(registry.read('tea')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
});

it('Y13 every agent carries the catalog, at about 20 tokens a skill', async () => {
  const { kernel, model } = await bootRoot({ ...skill('tea'), ...agent('helper', 'instructions: Help.') });
  for (const id of ['orchestrator_agent', 'helper']) await kernel.invokeAgent(id, 'hello');
  const block = '[Available Skills]\n• `tea` — Does tea.';
  for (const request of model.requests) expect(systemText(request)).toContain(block);
  expect(await countTokens('• `tea` — Does tea.\n')).toBeLessThan(20);
});

it('Y14 the catalog has the exact text', async () => {
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

it('Y15 no skills give null and no block', async () => {
  const { registry } = await openRegistry({});
  expect(await registry.context('anything')).toBeNull();
});

it('Y16 the catalog stands at priority 60, after 59 and before 61', async () => {
  const says = (priority: number): Tree =>
    extension(`at_${priority}`, '', `contextPriority = ${priority}; async getContext() { return 'at ${priority}'; }`);
  const { kernel } = await bootRoot({ ...skill('tea'), ...says(61), ...says(59) });
  const parts = await kernel.describeTurn('orchestrator_agent', 'tea', {});
  expect(parts.map(({ source }) => source)).toEqual(['orchestrator_agent', 'at_59', 'skill_registry', 'at_61']);
});

it('Y17 instructions come on read_skill, one file on read_skill_resource', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/tea/references/a.md': 'Leaf.' });
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'tea' })).toMatchObject({ content: 'Body of tea.' });
  const args = { skill_id: 'tea', path: 'references/a.md' };
  expect(await runRegistryTool(registry, 'read_skill_resource', args)).toMatchObject({ content: 'Leaf.' });
});

it('Y18 fifty skills are shown whole in about a thousand tokens', async () => {
  const many = Object.assign({}, ...Array.from({ length: 50 }, (_, at) => skill(`skill-${at}`)));
  const { registry } = await openRegistry(many);
  const text = (await registry.context('')) ?? '';
  expect(text.split('\n').filter((line) => line.startsWith('• '))).toHaveLength(50);
  expect(await countTokens(text)).toBeLessThan(1000);
});

it('Y19 list_skills gives the catalog, and a query filters by name or tag', async () => {
  const { registry } = await openRegistry({ ...skill('brew-tea', { tags: '[drinks]' }), ...skill('plan') });
  const list = async (args: unknown) => (await runRegistryTool(registry, 'list_skills', args)).skills;
  expect(await list({})).toMatchObject([{ skill_id: 'brew-tea', description: 'Does brew-tea.' }, { skill_id: 'plan' }]);
  expect(await list({ query: '' })).toHaveLength(2);
  for (const query of ['ew-te', 'DRINK']) expect(await list({ query })).toMatchObject([{ skill_id: 'brew-tea' }]);
});

it('Y20 read_skill gives the body and its tokens (decision 2)', async () => {
  const { registry } = await openRegistry(skill('extension-development'));
  const result = await runRegistryTool(registry, 'read_skill', { skill_id: 'extension-development' });
  expect(result.content).toBe('Body of extension-development.');
  expect(result.message).toBe(`Skill loaded: extension-development (approx. ${result.approx_tokens} tokens)`);
});

it('Y21 required skills are hinted at in the exact words', async () => {
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

it('Y22 read_skill_resource gives one file of the directory', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), 'skills/tea/t/x.txt': 'Text.' });
  const result = await runRegistryTool(registry, 'read_skill_resource', { skill_id: 'tea', path: 't/x.txt' });
  expect(result).toMatchObject({ success: true, skill_id: 'tea', path: 't/x.txt', content: 'Text.', size: 5 });
});

it('Y23 a path that leaves the skill is refused in the exact words', async () => {
  const trap = { 'secret.txt': 'secret', 'skills/tea/out.md': { link: '../../secret.txt' } };
  const { registry, root } = await openRegistry({ ...skill('tea'), ...skill('other'), ...trap });
  for (const path of ['../other/SKILL.md', 'a/../SKILL.md', join(root, 'secret.txt'), 'out.md']) {
    const result = await runRegistryTool(registry, 'read_skill_resource', { skill_id: 'tea', path });
    expect(result, path).toMatchObject({ success: false, error: { code: 'PATH_TRAVERSAL' } });
    expect(JSON.stringify(result), path).toContain('Path traversal detected');
  }
});

it('Y24 an unknown id is an error that names the nearest', async () => {
  const { registry } = await openRegistry(skill('brew-tea'));
  expect(await runRegistryTool(registry, 'read_skill', { skill_id: 'brew-te' })).toEqual({
    success: false,
    error: { code: 'SKILL_NOT_FOUND', message: 'No skill "brew-te". Nearest: brew-tea.' },
  });
});

it('Y25 uses_skills is a field of the manifest', async () => {
  const agents = { ...agent('judge', 'uses_skills: [law]'), ...agent('clerk', 'model: x') };
  const { kernel } = await bootRoot({ ...skill('law'), ...agents });
  const used = new Map(kernel.agents().map(({ id, usesSkills }) => [id, usesSkills]));
  expect(used.get('judge')).toEqual(['law']);
  expect(used.get('clerk')).toBeUndefined();
  expect(kernel.problems()).toEqual([]);
});

it('Y26 the whole body of a bound skill is in the instructions', async () => {
  const law = skill('law', {}, '# Law\n\nAll of it.');
  const { kernel, model } = await bootRoot({ ...law, ...agent('judge', 'uses_skills: [law]') });
  await kernel.invokeAgent('judge', 'Judge.');
  expect(systemText(model.requests[0])).toContain('# Law\n\nAll of it.');
});

it('Y27 instructions are the prompt file, then bound bodies, then the inline text', async () => {
  const judge = agent('judge', 'uses_skills: [law, grace], instructions: Be brief.', { 'prompt.jinja2': 'You judge.' });
  const { kernel, model } = await bootRoot({ ...skill('law'), ...skill('grace'), ...judge });
  await kernel.invokeAgent('judge', 'Judge.');
  const bodyOf = (id: string): string => delimited(`Skill: ${id}`, `Body of ${id}.`);
  const expected = `You judge.\n\n${bodyOf('law')}\n\n${bodyOf('grace')}\n\nBe brief.`;
  expect(systemText(model.requests[0]).startsWith(expected)).toBe(true);
});

it('Y28 an agent that names the registry is offered its tools, and one without uses_skills has no bodies', async () => {
  const agents = { ...agent('judge', 'uses_tools: [skill_registry]'), ...agent('clerk', 'instructions: Write.') };
  const { kernel, model } = await bootRoot({ ...skill('law'), ...agents });
  for (const id of ['judge', 'clerk']) await kernel.invokeAgent(id, 'Go.');
  const [judge, clerk] = model.requests;
  expect(judge?.tools?.map((tool) => tool.function.name)).toEqual([
    'list_skills',
    'read_skill',
    'read_skill_resource',
    'propose_skill_update',
    'list_proposals',
  ]);
  expect(clerk?.tools ?? []).toEqual([]);
  expect(systemText(clerk).startsWith('Write.\n\n---\n\n[Available Skills]')).toBe(true);
});

it('Y29 a skill that is added, changed or removed is seen by the next look, and the look can be switched off', async () => {
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
  expect(off.registry.admin.watching()).toBe('off');
});

it('Y32 a specialist sees its own skills, the orchestrator all', async () => {
  const skills = { ...skill('law'), ...skill('tea') };
  const { kernel, model } = await bootRoot({ ...skills, ...agent('judge', 'uses_skills: [law]') });
  for (const id of ['judge', 'orchestrator_agent']) await kernel.invokeAgent(id, 'Go.');
  const [judge, orchestrator] = model.requests.map(systemText);
  expect(judge).toContain('[Skill: law | ');
  expect(judge).not.toContain('• `tea`');
  expect(orchestrator).toContain('• `law`');
  expect(orchestrator).toContain('• `tea`');
});

it('Y33 hundreds of skills stay within the budget', async () => {
  const many = Object.assign({}, ...Array.from({ length: 500 }, (_, at) => skill(`skill-${at}`)));
  const { registry } = await openRegistry(many);
  const text = (await registry.context('Use skill 7')) ?? '';
  expect(await countTokens(text)).toBeLessThanOrEqual(2000);
  expect(text).toMatch(/\d+ of 500 skills shown; list_skills\(query\) finds the rest\.$/);
  expect(await runRegistryTool(registry, 'list_skills', { query: 'skill-499' })).toMatchObject({ total: 1 });
});

it('Y39 one extension is tool provider, context provider and service', async () => {
  const { kernel } = await bootRoot(skill('tea'));
  const own = kernel.tools().filter(({ extensionId }) => extensionId === 'skill_registry');
  expect(own.map(({ tool }) => tool.name)).toEqual([
    'list_skills',
    'read_skill',
    'read_skill_resource',
    'propose_skill_update',
    'list_proposals',
  ]);
  const parts = await kernel.describeTurn('orchestrator_agent', 'x', {});
  expect(parts.map(({ source }) => source)).toContain('skill_registry');
});

it('Y41 an agent is told to check its skills before a complex task', async () => {
  const { registry } = await openRegistry(skill('tea'));
  const [list] = registry.tools();
  expect(list?.description).toContain('Always check available skills before starting a complex task.');
});
