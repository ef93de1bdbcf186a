import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText } from 'ai';
import { skillSystemPrompt, skillTools } from 'skill-registry/ai-sdk';
import { expect, it } from 'vitest';
import { openRegistry } from '../helpers/open-registry.ts';
import { scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { skillMd } from '../helpers/temp-folder.ts';

const TREE = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, 'Boil water.'),
  'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }),
};
const TURN = { agentId: 'waiter', boundSkills: ['tea'] };

it('gives an agent of the AI SDK the catalog and the tools, in its scope', async () => {
  const { registry, loaded } = await openRegistry(TREE);
  const model = await scriptedModel([
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { call: 'read_skill', args: { skill_id: 'cup' } },
    { call: 'read_skill', args: { nonsense: true } },
    { text: 'Done.' },
  ]);
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: model.baseURL });
  const result = streamText({
    model: provider.chatModel('scripted'),
    system: await skillSystemPrompt(registry, TURN, 'make tea'),
    tools: skillTools(registry, TURN),
    prompt: 'Make tea.',
    stopWhen: stepCountIs(5),
  });
  expect(await result.text).toBe('Done.');
  expect(systemText(model.requests[0])).toBe(await registry.context('make tea', TURN));
  expect(systemText(model.requests[0])).not.toContain('cup');
  expect(model.requests[0]?.tools?.map(({ function: { name } }) => name)).toEqual([...registry.config.tools]);
  const [tea, cup, wrong] = toolResults(model.requests[3]);
  expect(tea).toMatchObject({ success: true, content: 'Boil water.' });
  expect(cup).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
  expect(wrong).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
  expect(loaded.map(({ agentId: agent_id, outcome }) => [agent_id, outcome])).toEqual([
    ['waiter', 'success'],
    ['waiter', 'refused'],
  ]);
});

it('has nothing to say in the system prompt of an agent that sees no skill', async () => {
  const { registry } = await openRegistry({});
  expect(await skillSystemPrompt(registry)).toBe('');
  const model = await scriptedModel([{ status: 500, body: 'no' }]);
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: model.baseURL });
  const asked = generateText({
    model: provider.chatModel('scripted'),
    tools: skillTools(registry),
    prompt: 'Hi.',
    maxRetries: 0,
  });
  await expect(asked).rejects.toThrow();
});

it('gives an agent of the AI SDK the skills for the files that the host names', async () => {
  const crowd = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `skills/cup-${at}/SKILL.md`,
      skillMd({ name: `cup-${at}`, description: 'Holds tea.' }),
    ]),
  );
  const tree = { ...crowd, 'skills/sql/SKILL.md': skillMd({ name: 'sql', description: 'Queries.', paths: '"*.sql"' }) };
  const { registry } = await openRegistry(tree, { catalog: { budget_tokens: 150 } });
  const turn = { paths: ['db/schema.sql'] };
  const model = await scriptedModel([{ call: 'list_skills', args: { query: 'tea' } }, { text: 'Done.' }]);
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: model.baseURL });
  const result = streamText({
    model: provider.chatModel('scripted'),
    system: await skillSystemPrompt(registry, turn, 'make tea'),
    tools: skillTools(registry, turn),
    prompt: 'Make tea.',
    stopWhen: stepCountIs(2),
  });
  expect(await result.text).toBe('Done.');
  expect(await skillSystemPrompt(registry, {}, 'make tea')).not.toContain('`sql`');
  expect(systemText(model.requests[0])).toContain('• `sql` — Queries.');
  const [listed] = toolResults(model.requests[1]) as readonly { readonly skills: readonly object[] }[];
  expect(listed?.skills).toContainEqual(expect.objectContaining({ skill_id: 'sql' }));
});
