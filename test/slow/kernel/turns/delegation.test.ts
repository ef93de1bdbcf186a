import { describe, expect, test } from 'vitest';
import {
  type ScriptedAnswer,
  scriptedModel,
  systemText,
  toolResults,
  type WireRequest,
} from '../../../helpers/scripted-model.ts';
import { waitFor } from '../../../helpers/wait-for.ts';
import { agentExtension, bootTree, codesOf, extension } from '../../../kernel/boot/boot-extensions.ts';

/** Says who asks and what that agent may see. */
const SCOPE = extension(
  'scope',
  '',
  'async getContext(_, { agentId, boundSkills }) { return agentId + " sees " + (boundSkills ?? ["all"]).join(","); }',
);
/** Provides every skill. */
const LIBRARY = extension(
  'library',
  '',
  `async getSkillContent(id) { return 'Body of ' + id; } onSkillsChanged() { return () => {}; }`,
);
/** A tool that invokes an agent through the kernel; with \`later\`, when the turn is over. */
const CALLER = extension(
  'caller',
  '',
  `getTools() {
     const input = z.object({ id: z.string(), later: z.boolean().default(false) });
     const execute = async ({ id, later }) => {
       const invoke = () => this.context.kernel.invokeAgent(id, 'from the tool').then(
         ({ text }) => ({ success: true, text }),
         ({ code, message }) => ({ success: false, error: { code, message } }),
       );
       if (!later) return await invoke();
       this.later = setInterval(async () => {
         if (!this.over) return;
         clearInterval(this.later);
         this.context.log.info(JSON.stringify(await invoke()));
       }, 5);
       return { success: true };
     };
     return [defineTool({ name: 'call_agent', description: '', input, execute })];
   }
   getCommands() { return [{ name: 'over', description: '', execute: async () => { this.over = true; return { kind: 'new' }; } }]; }
   async stop() { clearInterval(this.later); }`,
);

const toolNames = (request: WireRequest | undefined): readonly string[] =>
  (request?.tools ?? []).map(({ function: { name } }) => name).sort();

async function run(tree: Parameters<typeof bootTree>[0], script: readonly ScriptedAnswer[]) {
  const model = await scriptedModel(script);
  return { model, kernel: await bootTree(tree, { environment: model.environment }) };
}

test('an agent calls another with a task, and gets its answer', async () => {
  const { model, kernel } = await run(
    {
      ...agentExtension('helper', 'instructions: Help.', 'description: Knows the weather.'),
      ...agentExtension('talker', 'integration_mode: handoff\nuses_tools: [helper]\ninstructions: Talk.'),
    },
    [{ call: 'helper', args: { task: 'Will it rain?' } }, { text: 'It will.' }, { text: 'Take an umbrella.' }],
  );
  const answer = await kernel.invokeAgent('talker', 'umbrella?');
  expect(answer).toMatchObject({ text: 'Take an umbrella.', stopped: 'done' });
  expect(model.requests[0]?.tools?.[0]?.function).toMatchObject({
    name: 'helper',
    description: expect.stringContaining('Agent "The helper": Knows the weather.'),
    parameters: { required: ['task'] },
  });
  expect(model.requests[1]?.messages).toEqual([
    { role: 'system', content: 'Help.' },
    { role: 'user', content: 'Will it rain?' },
  ]);
  expect(toolResults(model.requests[2])).toEqual([{ success: true, answer: 'It will.', stopped: 'done' }]);
});

describe('a callee', () => {
  test.each<[what: string, caller: string, callee: string, seen: string]>([
    ['that binds skills sees its own', 'uses_skills: [a, b]', 'uses_skills: [c]', 'helper sees c'],
    ['that binds none of them sees none', 'uses_skills: [a, b]', 'uses_skills: []', 'helper sees '],
    ['without uses_skills sees what its caller sees', 'uses_skills: [a, b]', '', 'helper sees a,b'],
    ['sees everything where nobody binds any', '', '', 'helper sees all'],
    ['that binds skills sees only those of a caller that sees everything', '', 'uses_skills: [c]', 'helper sees c'],
  ])('%s', async (_, caller, callee, seen) => {
    const { model, kernel } = await run(
      {
        ...LIBRARY,
        ...SCOPE,
        ...agentExtension('helper', callee),
        ...agentExtension('talker', `integration_mode: handoff\nuses_tools: [helper]\n${caller}`),
      },
      [{ call: 'helper', args: { task: 'help' } }, { text: 'Helped.' }, { text: 'Done.' }],
    );
    await kernel.invokeAgent('talker', 'go');
    expect(systemText(model.requests[1]).split('\n\n---\n\n').at(-1)).toBe(seen);
  });

  test('that fails is a failed tool call, and the turn of its caller goes on', async () => {
    const { model, kernel } = await run(
      { ...agentExtension('helper'), ...agentExtension('talker', 'uses_tools: [helper]') },
      [
        { call: 'helper', args: { task: 'help' } },
        { status: 401, body: '{"error":{"message":"no key"}}' },
        { text: 'Alone, then.' },
      ],
    );
    expect(await kernel.invokeAgent('talker', 'go')).toMatchObject({ text: 'Alone, then.' });
    expect(toolResults(model.requests[2])).toMatchObject([{ success: false, error: { code: 'AGENT_FAILED' } }]);
  });

  test('that reaches its limit says so', async () => {
    const { model, kernel } = await run(
      {
        ...agentExtension('helper', 'limits: { time_budget_ms: 1000 }'),
        ...agentExtension('talker', 'uses_tools: [helper]'),
      },
      [{ call: 'helper', args: { task: 'help' } }, { hangAfter: 'Hm' }, { text: 'Done.' }],
    );
    await kernel.invokeAgent('talker', 'go');
    expect(toolResults(model.requests[2])).toEqual([{ success: true, answer: 'Hm', stopped: 'time_budget' }]);
  });

  test('is cancelled with its caller', async () => {
    const { model, kernel } = await run(
      { ...agentExtension('helper'), ...agentExtension('talker', 'uses_tools: [helper]') },
      [{ call: 'helper', args: { task: 'help' } }, { hangAfter: 'Hm' }],
    );
    const abort = new AbortController();
    const turn = kernel.invokeAgent('talker', 'go', { signal: abort.signal });
    await waitFor('the callee', () => model.requests.length === 2);
    abort.abort();
    expect(await turn).toMatchObject({ stopped: 'cancelled' });
  });
});

describe('the tools of an agent', () => {
  const CALC = extension(
    'calc',
    '',
    `getTools() { return [defineTool({ name: 'add', description: '', input: z.object({}), execute: async () => ({ success: true }) })]; }`,
  );
  const OTHERS = { ...CALC, ...agentExtension('helper'), ...agentExtension('person', 'integration_mode: handoff') };

  test.each<[uses: string, names: readonly string[]]>([
    ['[]', []],
    ['["*"]', ['add', 'helper']],
    ['[calc]', ['add']],
    ['[helper]', ['helper']],
    ['[person]', []],
    ['[talker]', []],
  ])('under uses_tools: %s', async (uses, names) => {
    const { model, kernel } = await run({ ...OTHERS, ...agentExtension('talker', `uses_tools: ${uses}`) }, [
      { text: 'Hi.' },
    ]);
    await kernel.invokeAgent('talker', 'go');
    expect(toolNames(model.requests[0])).toEqual(names);
    expect(codesOf(kernel)).toEqual([]);
  });

  test('a name in uses_tools that nobody has is a warning', async () => {
    const kernel = await bootTree({ ...OTHERS, ...agentExtension('talker', 'uses_tools: [calc, gone]') });
    expect(kernel.problems()).toContainEqual(
      expect.objectContaining({ code: 'AGENT_TOOLS_MISSING', severity: 'warning', details: { id: 'talker' } }),
    );
  });
});

describe('an agent that waits is not called by those it waits for:', () => {
  const PAIR = { ...agentExtension('ping', 'uses_tools: ["*"]'), ...agentExtension('pong', 'uses_tools: ["*"]') };

  test('it is not among their tools', async () => {
    const { model, kernel } = await run(PAIR, [
      { call: 'pong', args: { task: 'play' } },
      { call: 'ping', args: { task: 'play' } },
      { text: 'I cannot.' },
      { text: 'Done.' },
    ]);
    expect(await kernel.invokeAgent('ping', 'go')).toMatchObject({ text: 'Done.', stopped: 'done' });
    expect(model.requests.slice(0, 2).map(toolNames)).toEqual([['pong'], []]);
  });

  test('a tool that tries through the kernel is refused', async () => {
    const { model, kernel } = await run({ ...agentExtension('ping', 'uses_tools: [caller]'), ...CALLER }, [
      { call: 'call_agent', args: { id: 'ping' } },
      { text: 'Done.' },
    ]);
    await kernel.invokeAgent('ping', 'go');
    expect(toolResults(model.requests[1])).toMatchObject([{ success: false, error: { code: 'AGENT_UNAVAILABLE' } }]);
  });

  test('a tool may call another agent through the kernel', async () => {
    const { model, kernel } = await run({ ...PAIR, ...CALLER }, [
      { call: 'call_agent', args: { id: 'pong' } },
      { text: 'Pong.' },
      { text: 'Done.' },
    ]);
    await kernel.invokeAgent('ping', 'go');
    expect(toolResults(model.requests[2])).toEqual([{ success: true, text: 'Pong.' }]);
  });

  test('but it may be called once its turn is over, by what a tool has left running', async () => {
    const { kernel } = await run({ ...agentExtension('ping', 'uses_tools: [caller]'), ...CALLER }, [
      { call: 'call_agent', args: { id: 'ping', later: true } },
      { text: 'Done.' },
      { text: 'Again.' },
    ]);
    await kernel.invokeAgent('ping', 'go');
    await kernel.runCommand('/over', {});
    await waitFor('the second turn', () => kernel.logged.length);
    expect(kernel.logged).toEqual(['caller {"success":true,"text":"Again."}']);
  });

  test('two turns of one agent may run side by side', async () => {
    const { kernel } = await run(agentExtension('ping'), [{ text: 'One.' }, { text: 'Two.' }]);
    const answers = await Promise.all([kernel.invokeAgent('ping', 'a'), kernel.invokeAgent('ping', 'b')]);
    expect(answers.map(({ text }) => text).sort()).toEqual(['One.', 'Two.']);
  });
});
