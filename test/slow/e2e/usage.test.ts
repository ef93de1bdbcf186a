import { boot, type Kernel } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import type { SkillRegistry, UsageEvent } from '../../../extensions/skill_registry/host.ts';
import { agent, skill } from '../../helpers/boot-root.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { type ScriptedAnswer, scriptedModel, toolResults, type WireRequest } from '../../helpers/scripted-model.ts';
import { type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const TREE: Tree = {
  'data/.keep': '',
  ...skill('tea', {}, 'Body of tea, a secret recipe.'),
  'skills/tea/times.md': 'Two minutes.',
  ...skill('bread'),
  ...skill('bound'),
  ...skill('always', { metadata: '{ preload: true }' }),
  ...agent('clerk', 'instructions: Help., uses_tools: [skill_registry], uses_skills: [bound]'),
};

interface Scene {
  readonly kernel: Kernel;
  readonly requests: readonly WireRequest[];
  /** Another registry on the same root: another process would see the same. */
  readonly reader: SkillRegistry;
}

async function scene(script: readonly ScriptedAnswer[], tree: Tree = TREE, config: object = {}): Promise<Scene> {
  const root = tempFolder(tree);
  const model = await scriptedModel(script);
  const skill_registry = { sources: [{ path: 'skills' }], ...config };
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry } });
  onTestFinished(() => kernel.shutdown());
  return { kernel, requests: model.requests, reader: await openRoot(root) };
}

/** What was recorded in a conversation, when there are so many events: `kind skill outcome agent`. */
async function recorded(reader: SkillRegistry, thread: string, count: number): Promise<readonly UsageEvent[]> {
  return waitFor(`${count} events of ${thread}`, async () => {
    const events = await reader.usage.events({ thread });
    return events.length >= count ? events : undefined;
  });
}

const brief = ({ kind, skillId, outcome, agent: by }: UsageEvent): string => `${kind} ${skillId} ${outcome} ${by}`;

it('records the loads, files, refusals and failures of a turn, and no word of them', async () => {
  const { kernel, reader, requests } = await scene([
    { call: 'read_skill', args: { skill_id: 'bound' } },
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { call: 'read_skill', args: { skill_id: 'please tell me the password hunter2' } },
    { text: 'Done.' },
  ]);
  await kernel.invokeAgent('clerk', 'Make my private tea', { turn: { threadId: 'thread-1' } });
  const events = await recorded(reader, 'thread-1', 4);
  expect(events.map(brief)).toEqual([
    'load bound given clerk',
    'load bound success clerk',
    'refusal tea SKILL_OUT_OF_SCOPE clerk',
    'failure (invalid) SKILL_NOT_FOUND clerk',
  ]);
  // The model is told nothing of the skill that is out of its scope.
  expect(toolResults(requests.at(-1))[1]).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
  expect(events[1]).toMatchObject({ source: 'skills', tokens: expect.any(Number), durationMs: expect.any(Number) });
  expect(events[1]?.digest).toBe(reader.snapshot().byId.get('bound')?.digest);
  expect(JSON.stringify(events)).not.toMatch(/private|password|hunter2|Body|Does/);
});

it('counts what the text of a turn names as offers, and what stands in it as given', async () => {
  const tree = { ...TREE, ...skill('always', {}) };
  const config = {
    sources: [
      { path: 'skills' },
      { inline: { name: 'rules', description: 'd', instructions: 'Rule.' }, preload: true },
    ],
  };
  const { kernel, reader, requests } = await scene([{ text: 'Done.' }], tree, config);
  await kernel.invokeAgent('orchestrator_agent', 'Hello', { turn: { threadId: 'thread-1' } });
  expect(String(requests[0]?.messages[0]?.content)).toContain('• `tea`');
  const events = await recorded(reader, 'thread-1', 1);
  expect(events.map(brief)).toContain('load rules given orchestrator_agent');
  expect(events.find(({ skillId }) => skillId === 'rules')?.tokens).toBeGreaterThan(0);
  const { skills, totals, agents } = await reader.usage.report();
  expect(skills.find(({ skillId }) => skillId === 'tea')).toMatchObject({ offers: 1, notTaken: 1, loads: 0 });
  expect(skills.find(({ skillId }) => skillId === 'rules')).toMatchObject({ offers: 0, notTaken: 0, loads: 1 });
  expect(agents.find(({ agent: by }) => by === 'orchestrator_agent')).toMatchObject({ offers: totals.offers });
});

it('records nothing for what only a person sees: /context, /skills, and the check of an agent at start', async () => {
  const { kernel, reader } = await scene([{ text: 'Done.' }]);
  await kernel.runCommand('/context hello', { agentId: 'clerk', threadId: 'looked' });
  await kernel.runCommand('/skills tea', { agentId: 'clerk', threadId: 'looked' });
  await kernel.runCommand('/skills', { agentId: 'clerk', threadId: 'looked' });
  await kernel.invokeAgent('clerk', 'Hello', { turn: { threadId: 'asked' } });
  await recorded(reader, 'asked', 1);
  expect(await reader.usage.events({ thread: 'looked' })).toEqual([]);
  expect(await reader.usage.events()).toHaveLength(1);
  expect((await reader.usage.report()).totals).toMatchObject({ offers: 0, loads: 1 });
});

it('records /skills:<id> of a person as a load of the agent it is sent to', async () => {
  const { kernel, reader } = await scene([]);
  const turn = { agentId: 'orchestrator_agent', threadId: 'thread-1', userId: 'ada' };
  const sent = await kernel.runCommand('/skills:tea now', turn);
  if (sent.kind === 'send') sent.settled?.(true);
  const events = await recorded(reader, 'thread-1', 1);
  expect(events.map(brief)).toEqual(['load tea success orchestrator_agent']);
  expect(JSON.stringify(events)).not.toContain('ada');
});

it('records the steps of a proposal: who asked for it, and that a person decided', async () => {
  const change = { old_string: 'a secret recipe', new_string: 'no secret', justification: 'It is none.' };
  const { kernel, reader } = await scene([
    { call: 'propose_skill_update', args: { skill_id: 'tea', ...change } },
    { call: 'propose_skill_update', args: { skill_id: 'tea', ...change, old_string: 'not there' } },
    { text: 'Done.' },
  ]);
  await kernel.invokeAgent('orchestrator_agent', 'Improve tea', { turn: { threadId: 'thread-1' } });
  const [proposal] = await reader.proposals.list();
  // Once to see it, and once to decide.
  for (let time = 0; time < 2; time++) await kernel.runCommand(`/proposals approve ${proposal?.id}`, { userId: 'ada' });
  await waitFor('the decision', async () => (await reader.usage.events({ kind: 'proposal' })).length === 2);
  const events = await reader.usage.events();
  expect(events.filter(({ kind }) => kind !== 'load').map(brief)).toEqual([
    'proposal tea proposed orchestrator_agent',
    'failure tea INVALID_ARGUMENT orchestrator_agent',
    'proposal tea approved undefined',
  ]);
  expect(JSON.stringify(events)).not.toMatch(/ada|secret|none/);
});

it('says which revision of a skill shaped a conversation', async () => {
  const { kernel, reader } = await scene([{ call: 'read_skill', args: { skill_id: 'tea' } }, { text: 'Done.' }]);
  await reader.admin.management.write('tea', 'SKILL.md', (text) => text.replace('secret', 'open'), {
    by: 'person:ada',
  });
  await kernel.runCommand('/skills reload', {});
  await kernel.invokeAgent('orchestrator_agent', 'Tea', { turn: { threadId: 'thread-1' } });
  const events = await recorded(reader, 'thread-1', 1);
  expect(events.find(({ skillId }) => skillId === 'tea')).toMatchObject({ outcome: 'success', revision: 2 });
});

it('records nothing with usage: false, and tells the event bus all the same', async () => {
  const { kernel, reader } = await scene([{ call: 'read_skill', args: { skill_id: 'tea' } }, { text: 'Done.' }], TREE, {
    usage: false,
  });
  await kernel.invokeAgent('orchestrator_agent', 'Tea', { turn: { threadId: 'thread-1' } });
  await kernel.shutdown();
  expect(await reader.usage.events()).toEqual([]);
  expect((await reader.usage.report()).totals).toMatchObject({ offers: 0, loads: 0 });
});
