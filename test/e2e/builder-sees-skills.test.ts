import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { type ScriptedAnswer, scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';

const MUG = skillMd({ name: 'mug', description: 'Does mug.' }, 'Hold it.');
const OWN = {
  ...skill('tea'),
  ...skill('skill-authoring'),
  ...skill('secret', { 'disable-model-invocation': 'true' }),
};

/** What the builder gets for each call, and its first system text. */
async function build(tree: Tree, calls: readonly (readonly [name: string, args: object])[], config: object = {}) {
  const root = tempFolder(tree);
  const script: ScriptedAnswer[] = calls.map(([call, args]) => ({ call, args }));
  const model = await scriptedModel([...script, { text: 'Done.' }]);
  const skill_registry = { sources: [{ path: 'skills' }], ...config };
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry } });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('builder_agent', 'Write a skill.');
  return { results: toolResults(model.requests.at(-1)), system: systemText(model.requests[0]) };
}

it('the builder is shown, lists and reads the skills of the root and the one that it has just written', async () => {
  const { results, system } = await build(
    OWN,
    [
      ['write_file', { path: 'skills/mug/SKILL.md', content: MUG }],
      ['list_skills', {}],
      ['read_skill', { skill_id: 'mug' }],
      ['read_skill', { skill_id: 'tea' }],
      ['read_skill', { skill_id: 'secret' }],
    ],
    { writes: { create: 'allow' } },
  );
  expect(system).toContain('• `tea` — Does tea.');
  const [written, list, mug, tea, secret] = results;
  expect(written).toMatchObject({ success: true });
  const ids = ((list?.skills ?? []) as { skill_id: string }[]).map(({ skill_id }) => skill_id);
  expect(ids.sort()).toEqual([
    'mug',
    'skill-registry:extension-development',
    'skill-registry:skill-authoring',
    'skills:skill-authoring',
    'tea',
  ]);
  expect([mug?.content, tea?.content]).toEqual(['Hold it.', 'Body of tea.']);
  expect(secret).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
});

it('the builder proposes a change to a skill of the root', async () => {
  const args = { skill_id: 'tea', old_string: 'Body of tea.', new_string: 'Steep it.', justification: 'Clearer.' };
  const { results } = await build(OWN, [
    ['propose_skill_update', args],
    ['list_proposals', {}],
  ]);
  expect(results[0]).toMatchObject({ success: true, file: expect.any(String) });
  expect(results[1]).toMatchObject({ proposals: [{ skill_id: 'tea' }] });
});

it('a skill of the root with the id of a bound one is another skill, by every tool', async () => {
  const { results } = await build(OWN, [
    ['read_skill', { skill_id: 'skill-authoring' }],
    ['read_skill', { skill_id: 'skills:skill-authoring' }],
    ['read_file', { path: 'skills/skill-authoring/SKILL.md' }],
  ]);
  const [short, qualified, file] = results.map((result) => String(result.content));
  expect(short).toContain('# Skill authoring');
  expect([qualified, file]).toEqual(['Body of skill-authoring.', expect.stringContaining('Body of skill-authoring.')]);
});

it('where the root offers the shipped skills, the bound ones are not listed again', async () => {
  const { system, results } = await build({}, [['list_skills', {}]], { sources: [{ shipped: true }] });
  const catalog = system.split('[Available Skills]')[1];
  expect(catalog).toMatch(/`code-review`/);
  expect(catalog).not.toMatch(/`(?:[a-z-]+:)?(?:skill-authoring|extension-development)`/);
  expect(results[0]?.total).toBe(4);
});

it('the builder reads a skill that cannot be loaded, to say what is wrong with it', async () => {
  const { results } = await build({ 'skills/broken/SKILL.md': '---\nname: [\n---\n' }, [
    ['read_file', { path: 'skills/broken/SKILL.md' }],
  ]);
  expect(results[0]).toMatchObject({ success: true, content: '---\nname: [\n---\n' });
});
