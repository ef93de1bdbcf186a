import { describe, expect, test } from 'vitest';
import { delimited } from '../../../lib/text/index.ts';
import { scriptedModel, systemText } from '../../helpers/scripted-model.ts';
import { type Tree, writeTree } from '../../helpers/temp-folder.ts';
import { agentExtension, bootTree, codesOf, extension, problemsOf, reasonOf, states } from '../boot/boot-extensions.ts';

/** Provides the skills `one` and `two`. */
const LIBRARY = extension(
  'library',
  '',
  `skills = { one: 'Body of one.', two: 'Body of two.' };
   async getSkillContent(id) {
     if (!(id in this.skills)) throw new CodedError('SKILL_NOT_FOUND', 'No skill "' + id + '". Nearest: ' + Object.keys(this.skills).join(', ') + '.');
     return this.skills[id];
   }
   onSkillsChanged() { return () => {}; }
   getCommands() { return [{ name: 'edit', description: '', execute: async (args) => { this.skills.one = args; return { kind: 'new' }; } }]; }`,
);

/** An agent `talker` with these files beside its manifest. */
function talker(agent: string, files: Tree = {}): Tree {
  const beside = Object.entries(files).map(([name, text]) => [`extensions/talker/${name}`, text]);
  return { ...agentExtension('talker', agent, 'description: Talks'), ...Object.fromEntries(beside) };
}

/** The system messages of one turn of `talker`, with the root folder as `<root>`. */
async function systemsOf(tree: Tree): Promise<readonly string[]> {
  const model = await scriptedModel(() => ({ text: 'Hello.' }));
  const kernel = await bootTree(tree, { environment: model.environment });
  await kernel.invokeAgent('talker', 'hi');
  const messages = model.requests[0]?.messages.filter(({ role }) => role === 'system') ?? [];
  return messages.map(({ content }) => String(content).replaceAll(kernel.root, '<root>'));
}

const ALL = 'uses_skills: [two, one]\ninstructions: |\n  Be kind.\n';
const bodyOf = (id: string, text = `Body of ${id}.`): string => delimited(`Skill: ${id}`, text);
const BODIES = `${bodyOf('two')}\n\n${bodyOf('one')}`;

describe('the instructions of an agent are in the one system message:', () => {
  test.each<[what: string, tree: Tree, expected: readonly string[]]>([
    [
      'prompt file, bound bodies in their order, inline instructions',
      { ...LIBRARY, ...talker(ALL, { 'prompt.md': '\n# Talk\n\nSay it.\n\n' }) },
      [`# Talk\n\nSay it.\n\n${BODIES}\n\nBe kind.`],
    ],
    ['bodies and inline instructions', { ...LIBRARY, ...talker(ALL) }, [`${BODIES}\n\nBe kind.`]],
    ['inline instructions alone', talker('instructions: Be kind.'), ['Be kind.']],
    ['a prompt file alone', talker('model: other', { 'prompt.md': 'Say it.' }), ['Say it.']],
    [
      'prompt.md rather than prompt.jinja2',
      talker('model: x', { 'prompt.md': 'md', 'prompt.jinja2': '{{ gone }}' }),
      ['md'],
    ],
    [
      'no skill where uses_skills is empty',
      { ...LIBRARY, ...talker('uses_skills: []\ninstructions: Be kind.') },
      ['Be kind.'],
    ],
    ['nothing at all', talker('model: other'), []],
    ['braces of prompt.md as they are', talker('model: x', { 'prompt.md': 'Say {{ it }}.' }), ['Say {{ it }}.']],
    [
      'the root folder in a template',
      talker('model: x', { 'prompt.jinja2': 'Work in {{ root_dir }}' }),
      ['Work in <root>'],
    ],
    [
      'a rendered template',
      talker('model: x', {
        'prompt.jinja2': '{% if agent.id %}{{ agent.id }}: {{ agent.name }} & {{ agent.description }}{% endif %}\n',
      }),
      ['talker: The talker & Talks'],
    ],
  ])('%s', async (_, tree, expected) => {
    expect(await systemsOf(tree)).toEqual(expected);
  });
});

test('an edited skill or prompt is in the next invocation', async () => {
  const model = await scriptedModel(() => ({ text: 'Hello.' }));
  const kernel = await bootTree(
    { ...LIBRARY, ...talker('uses_skills: [one]', { 'prompt.md': 'Before.' }) },
    { environment: model.environment },
  );
  await kernel.invokeAgent('talker', 'hi');
  await kernel.runCommand('/edit New body.', {});
  writeTree(kernel.root, { 'extensions/talker/prompt.md': 'After.' });
  await kernel.invokeAgent('talker', 'hi');
  expect(model.requests.map(systemText)).toEqual([
    `Before.\n\n${bodyOf('one')}`,
    `After.\n\n${bodyOf('one', 'New body.')}`,
  ]);
});

describe('an agent that cannot be given its instructions is in ERROR, and the rest runs:', () => {
  test.each<[what: string, tree: Tree, reason: string]>([
    [
      'an undefined name in its template',
      talker('model: x', { 'prompt.jinja2': 'Hello {{ user }}' }),
      'undefined. It may use agent, root_dir',
    ],
    [
      'a broken template',
      talker('model: x', { 'prompt.jinja2': '{% if agent %}' }),
      'cannot be given its instructions',
    ],
    ['a prompt that is a folder', talker('model: x', { 'prompt.md/file': '' }), 'directory'],
    [
      'a skill that does not exist',
      { ...LIBRARY, ...talker('uses_skills: [one, onne]') },
      'SKILL_NOT_FOUND: No skill "onne". Nearest: one, two.',
    ],
    [
      'a skill where nobody provides skills',
      talker('uses_skills: [one]'),
      'uses_skills names "one", but no running extension provides skills',
    ],
  ])('%s', async (_, tree, reason) => {
    const kernel = await bootTree({ ...tree, ...extension('zest') });
    expect(states(kernel).slice(-2)).toEqual(['talker ERROR', 'zest RUNNING']);
    expect(reasonOf(kernel, 'talker')).toContain(reason);
    expect(problemsOf(kernel)).toMatchObject([
      { code: 'AGENT_NOT_READY', severity: 'error', details: { id: 'talker' } },
    ]);
    expect(kernel.agents()).toEqual([]);
    await expect(kernel.invokeAgent('talker', 'hi')).rejects.toMatchObject({
      code: 'AGENT_UNAVAILABLE',
      details: { id: 'talker', reason: expect.stringContaining(reason) },
    });
  });

  test('a skill the registry does not have, with the nearest ids', async () => {
    const kernel = await bootTree(talker('uses_skills: [code-reviw]'), {
      keep: ['skill_registry'],
      config: { skill_registry: { watch: { mode: 'off' } } },
    });
    expect(codesOf(kernel)).toEqual(['AGENT_NOT_READY']);
    expect(reasonOf(kernel, 'talker')).toMatch(/SKILL_NOT_FOUND.*code-reviw.*code-review/s);
  });
});

test('an extension that is an agent by itself is invoked as it is', async () => {
  const members = `
    getAgentDescriptor() { return { id: 'parrot', name: 'Parrot', description: 'Repeats', integrationMode: 'handoff', usesTools: [] }; }
    async invoke(task, { turn }) {
      return { text: task + ' by ' + turn.agentId, stopped: 'done', usage: { inputTokens: 0, outputTokens: 0 }, conversation: [] };
    }`;
  const kernel = await bootTree(extension('parrot', '', members));
  expect(kernel.agents()).toMatchObject([{ id: 'parrot', integrationMode: 'handoff' }]);
  expect(await kernel.invokeAgent('parrot', 'hi')).toMatchObject({ text: 'hi by parrot' });
});
