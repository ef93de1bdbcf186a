import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { agent, skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { type ScriptedAnswer, scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const HIDES_ITSELF = { 'disable-model-invocation': 'true' };
const TREE = {
  ...skill('law', { requires: '[secret, plain, gone, law]' }),
  ...skill('secret', { ...HIDES_ITSELF, requires: '[deep]' }),
  ...skill('deep', HIDES_ITSELF),
  ...skill('plain'),
  ...skill('other', HIDES_ITSELF),
};
const HINT = (ids: string) => `This skill requires: ${ids}. Load it first if you haven't already.`;

/** What the agent gets when it reads each of the skills, and its system text. */
async function readAs(block: string, ids: readonly string[]) {
  const script: ScriptedAnswer[] = ids.map((id) => ({ call: 'read_skill', args: { skill_id: id } }));
  const model = await scriptedModel([...script, { text: 'Done.' }]);
  const root = tempFolder({ ...TREE, ...agent('judge', `uses_tools: [skill_registry], ${block}`) });
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('judge', 'Judge.');
  return { results: toolResults(model.requests.at(-1)), system: systemText(model.requests[0]) };
}

it('what a bound skill requires is readable by its agent, and what hides itself is not listed', async () => {
  const { results, system } = await readAs('uses_skills: [law]', ['law', 'secret', 'deep', 'other']);
  const [law, secret, deep, other] = results;
  expect(law?.hint).toBe(HINT('secret, plain'));
  expect(secret).toMatchObject({ content: 'Body of secret.', hint: HINT('deep') });
  expect(deep).toMatchObject({ content: 'Body of deep.' });
  expect(other).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
  expect(system).toContain('• `plain`');
  expect(system).not.toMatch(/`(?:secret|deep|other|law)`/);
});

it('an agent that is not bound to the skill is told of none that it cannot read', async () => {
  const { results } = await readAs('model: x', ['law', 'secret']);
  expect(results[0]?.hint).toBe(HINT('plain'));
  expect(results[1]).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
});

it('a person is told of what there is, and of nothing else', async () => {
  const { registry } = await openRegistry({ ...TREE, ...skill('lost', { requires: '[gone]' }) });
  expect((await registry.read('law')).hint).toBe(HINT('secret, plain'));
  expect(await registry.read('lost')).not.toHaveProperty('hint');
});
