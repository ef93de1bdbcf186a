import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { agentExtension, bootTree, extension, states } from '../boot/boot-extensions.ts';

const ADDER = extension(
  'adder',
  '',
  `getTools() {
     const input = z.strictObject({ a: z.number().describe('The first.'), b: z.number().default(1) });
     const execute = async ({ a, b }) => ({ success: true, sum: a + b });
     return [defineTool({ name: 'add', description: 'Adds two numbers.', input, execute })];
   }`,
);

describe('without a model', () => {
  test.each<[what: string, environment: Record<string, string>, missing: readonly string[]]>([
    ['nothing is set', {}, ['MODEL_BASE_URL', 'MODEL_NAME']],
    ['the name is missing', { MODEL_BASE_URL: 'http://127.0.0.1:1/v1', MODEL_API_KEY: 'key' }, ['MODEL_NAME']],
    ['the address is missing', { MODEL_NAME: 'small' }, ['MODEL_BASE_URL']],
  ])('an agent runs and says how to configure one: %s', async (_, environment, missing) => {
    const kernel = await bootTree({ ...agentExtension('talker'), ...ADDER }, { environment });
    expect(states(kernel)).toEqual(['adder RUNNING', 'talker RUNNING']);
    const error = await kernel.invokeAgent('talker', 'hi').catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: 'MODEL_NOT_CONFIGURED', details: { missing } });
    for (const setting of ['MODEL_BASE_URL', 'MODEL_API_KEY', 'MODEL_NAME']) expect(String(error)).toContain(setting);
  });

  test.each(['localhost:11434', 'ftp://localhost/v1', 'localhost', 'sk-a-key'])(
    'and asks nobody at %j, which is no http address',
    async (address) => {
      const environment = { MODEL_BASE_URL: address, MODEL_NAME: 'small' };
      const kernel = await bootTree(agentExtension('talker'), { environment });
      // The address is not told: it may be a key in the wrong place.
      await expect(kernel.invokeAgent('talker', 'hi')).rejects.toMatchObject({
        code: 'MODEL_NOT_CONFIGURED',
        message: 'MODEL_BASE_URL is not an http address. Set it to an address such as http://localhost:11434/v1.',
      });
    },
  );
});

describe('with a model', () => {
  test('an answer has its text, its usage and the conversation so far, and streams', async () => {
    const model = await scriptedModel([{ text: 'Hello there.', usage: { input: 30, output: 4 } }]);
    const kernel = await bootTree(agentExtension('talker'), { environment: model.environment });
    const heard: string[] = [];
    const answer = await kernel.invokeAgent('talker', 'hi', { onText: (delta) => heard.push(delta) });
    expect(answer).toMatchObject({
      text: 'Hello there.',
      stopped: 'done',
      usage: { inputTokens: 30, outputTokens: 4 },
    });
    expect(answer.conversation.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(heard).toEqual(['Hello ', 'there.']);
    expect(model.requests[0]).toMatchObject({ model: 'scripted', stream: true });
  });

  test('the time budget of an agent begins when its instructions are there', async () => {
    const waits = extension('waits', '', `async getContext() { globalThis.passTime(); return 'Waited.'; }`);
    const model = await scriptedModel([{ text: 'Hello.' }]);
    const kernel = await bootTree(
      { ...agentExtension('talker', 'limits: { time_budget_ms: 60000 }'), ...waits },
      { environment: model.environment },
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.stubGlobal('passTime', () => vi.advanceTimersByTime(61_000));
    onTestFinished(() => void vi.useRealTimers().unstubAllGlobals());
    expect(await kernel.invokeAgent('talker', 'hi')).toMatchObject({ text: 'Hello.', stopped: 'done' });
  });

  test('its settings may stand in .env, and the manifest may name another model', async () => {
    const model = await scriptedModel([{ text: 'Hello.' }]);
    const lines = Object.entries(model.environment).map(([name, value]) => `${name}=${value}`);
    const kernel = await bootTree({ ...agentExtension('talker', 'model: special'), '.env': lines.join('\n') });
    await kernel.invokeAgent('talker', 'hi');
    expect(model.requests[0]?.model).toBe('special');
  });

  test('the parameters of the manifest reach the wire, and no others', async () => {
    const model = await scriptedModel(() => ({ text: 'Hello.' }));
    const parameters =
      'parameters: { temperature: 0, top_p: 0.5, frequency_penalty: 0.1, presence_penalty: 0.2, seed: 7, max_output_tokens: 99, stop: [END] }';
    const kernel = await bootTree(
      { ...agentExtension('exact', parameters), ...agentExtension('plain') },
      { environment: model.environment },
    );
    await kernel.invokeAgent('exact', 'hi');
    await kernel.invokeAgent('plain', 'hi');
    expect(model.requests[0]).toMatchObject({
      temperature: 0,
      top_p: 0.5,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      seed: 7,
      max_tokens: 99,
      stop: ['END'],
    });
    expect(Object.keys(model.requests[1] ?? {}).sort()).toEqual(['messages', 'model', 'stream', 'stream_options']);
  });

  test('a tool is offered with its schema, run with checked arguments, and its result handed back', async () => {
    const model = await scriptedModel([
      { call: 'add', args: { a: 2 }, usage: { input: 10, output: 5 } },
      { call: 'add', args: { a: 'two' }, usage: { input: 20, output: 5 } },
      { text: 'Three.', usage: { input: 30, output: 5 } },
    ]);
    const kernel = await bootTree(
      { ...agentExtension('talker', 'uses_tools: [adder]'), ...ADDER },
      { environment: model.environment },
    );
    const calls: unknown[] = [];
    const answer = await kernel.invokeAgent('talker', 'add', { onToolCall: (name, args) => calls.push([name, args]) });
    expect(model.requests[0]?.tools?.map(({ function: { name, description } }) => [name, description])).toEqual([
      ['add', 'Adds two numbers.'],
    ]);
    expect(model.requests[0]?.tools?.[0]?.function.parameters).toMatchObject({
      type: 'object',
      properties: { a: { type: 'number', description: 'The first.' }, b: { default: 1 } },
      required: ['a'],
      additionalProperties: false,
    });
    const results = model.requests[2]?.messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.parse(String(content)));
    expect(results).toMatchObject([
      { success: true, sum: 3 },
      { success: false, error: { code: 'INVALID_ARGUMENT' } },
    ]);
    expect(calls).toEqual([
      ['add', { a: 2 }],
      ['add', { a: 'two' }],
    ]);
    expect(answer).toMatchObject({ text: 'Three.', stopped: 'done', usage: { inputTokens: 60, outputTokens: 15 } });
  });

  test('a call of a tool there is none of is answered, and the turn goes on', async () => {
    const model = await scriptedModel([{ call: 'gone', args: {} }, { text: 'Never mind.' }]);
    const kernel = await bootTree(
      { ...agentExtension('talker', 'uses_tools: [adder]'), ...ADDER },
      { environment: model.environment },
    );
    expect(await kernel.invokeAgent('talker', 'hi')).toMatchObject({ text: 'Never mind.', stopped: 'done' });
  });

  test('a tool whose input has no JSON schema is left out and reported, and the turn goes on', async () => {
    const model = await scriptedModel([{ text: 'Hello.' }]);
    const members = `getTools() { return [defineTool({ name: 'odd', description: '', input: z.object({ when: z.date() }), execute: async () => ({ success: true }) })]; }`;
    const kernel = await bootTree(
      { ...agentExtension('talker', 'uses_tools: ["*"]'), ...ADDER, ...extension('odd', '', members) },
      { environment: model.environment },
    );
    expect(await kernel.invokeAgent('talker', 'hi')).toMatchObject({ text: 'Hello.' });
    expect(model.requests[0]?.tools?.map(({ function: { name } }) => name)).toEqual(['add']);
    expect(kernel.problems()).toContainEqual(
      expect.objectContaining({ code: 'TOOL_PROVIDER_FAILED', details: { id: 'odd' } }),
    );
  });

  test('a conversation is carried to the next turn', async () => {
    const model = await scriptedModel([{ call: 'add', args: { a: 2 } }, { text: 'Three.' }, { text: 'As I said.' }]);
    const kernel = await bootTree(
      { ...agentExtension('talker', 'uses_tools: [adder]'), ...ADDER },
      { environment: model.environment },
    );
    const { conversation } = await kernel.invokeAgent('talker', 'add');
    await kernel.invokeAgent('talker', 'again', { conversation });
    expect(model.requests[2]?.messages.map(({ role, content }) => `${role} ${content}`)).toEqual([
      'user add',
      'assistant null',
      'tool {"success":true,"sum":3}',
      'assistant Three.',
      'user again',
    ]);
  });
});

describe('an endpoint that fails', () => {
  test.each<[what: string, answer: { status: number; body: string }, message: string]>([
    ['refuses the key', { status: 401, body: '{"error":{"message":"Incorrect API key"}}' }, 'Incorrect API key'],
    ['does not know the model', { status: 404, body: '{"error":{"message":"no such model"}}' }, 'no such model'],
    ['answers with something else', { status: 400, body: 'nonsense' }, 'Bad Request'],
  ])('and %s is AGENT_FAILED with what it said', async (_, answer, message) => {
    const model = await scriptedModel([answer]);
    const kernel = await bootTree(agentExtension('talker'), { environment: model.environment });
    const error = await kernel.invokeAgent('talker', 'hi').catch((reason: Error) => reason);
    expect(error).toMatchObject({
      code: 'AGENT_FAILED',
      message: expect.stringContaining(`Agent "talker" failed: ${message}`),
    });
    expect(String(error)).toMatch(
      /[^.]\. If that is the endpoint of the model, correct MODEL_BASE_URL, .* start again\.$/,
    );
    expect(String(error)).not.toContain('test-key');
  });

  test('after a tool call is AGENT_FAILED too', async () => {
    const model = await scriptedModel([
      { call: 'add', args: { a: 1 } },
      { status: 400, body: '{"error":{"message":"too long"}}' },
    ]);
    const kernel = await bootTree(
      { ...agentExtension('talker', 'uses_tools: [adder]'), ...ADDER },
      { environment: model.environment },
    );
    await expect(kernel.invokeAgent('talker', 'hi')).rejects.toMatchObject({ code: 'AGENT_FAILED' });
  });
});

test.each<[what: string, id: string, code: string]>([
  ['is not there', 'gone', 'AGENT_NOT_FOUND'],
  ['is no agent', 'adder', 'AGENT_NOT_FOUND'],
  ['is disabled', 'off', 'AGENT_UNAVAILABLE'],
])('an agent that %s cannot be invoked', async (_, id, code) => {
  const kernel = await bootTree({
    ...agentExtension('off', '', 'enabled: false'),
    ...agentExtension('talker'),
    ...ADDER,
  });
  await expect(kernel.invokeAgent(id, 'hi')).rejects.toMatchObject({ code, details: { id } });
  await expect(kernel.describeTurn(id, 'hi', {})).rejects.toMatchObject({ code });
});
