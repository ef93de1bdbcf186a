import { describe, expect, test } from 'vitest';
import { type ScriptedAnswer, scriptedModel } from '../../../helpers/scripted-model.ts';
import { waitFor } from '../../../helpers/wait-for.ts';
import { agentExtension, type BootedKernel, bootTree, extension } from '../../../kernel/boot/boot-extensions.ts';

/** `step` is done at once, `deaf` never, `obedient` when its signal aborts. */
const TOOLS = extension(
  'tools',
  '',
  `getTools() {
     const tool = (name, execute) => defineTool({ name, description: '', input: z.object({}), execute });
     return [
       tool('step', async () => ({ success: true })),
       tool('deaf', () => { this.context.log.info('deaf'); return new Promise(() => {}); }),
       tool('obedient', (_, { signal }) => new Promise((resolve) => {
         this.context.log.info('obedient');
         signal.addEventListener('abort', () => { this.context.log.info('told'); resolve({ success: true }); });
       })),
     ];
   }`,
);

async function withLimits(
  limits: string,
  script: Parameters<typeof scriptedModel>[0],
): Promise<{ kernel: BootedKernel; model: Awaited<ReturnType<typeof scriptedModel>> }> {
  const model = await scriptedModel(script);
  const tree = { ...TOOLS, ...agentExtension('talker', `uses_tools: [tools]\nlimits: { ${limits} }`) };
  return { model, kernel: await bootTree(tree, { environment: model.environment }) };
}

const STEP: ScriptedAnswer = { call: 'step', args: {}, usage: { input: 20, output: 10 } };
const DONE: ScriptedAnswer = { text: 'Done.', usage: { input: 20, output: 10 } };

describe('an invocation ends', () => {
  test.each<[limits: string, script: readonly ScriptedAnswer[], stopped: string, calls: number]>([
    ['max_turns: 1', [STEP], 'max_turns', 1],
    ['max_turns: 3', [STEP, STEP, STEP], 'max_turns', 3],
    ['max_turns: 3', [STEP, STEP, DONE], 'done', 3],
    ['max_turns: 1', [DONE], 'done', 1],
    ['max_tokens_per_invocation: 60', [STEP, STEP], 'max_tokens', 2],
    ['max_tokens_per_invocation: 61', [STEP, STEP, STEP], 'max_tokens', 3],
    ['max_tokens_per_invocation: 30', [DONE], 'done', 1],
    ['max_tokens_per_invocation: 60, max_turns: 2', [STEP, STEP], 'max_tokens', 2],
  ])('under { %s } after %j with %s', async (limits, script, stopped, calls) => {
    const { kernel, model } = await withLimits(limits, script);
    const answer = await kernel.invokeAgent('talker', 'go');
    expect(answer).toMatchObject({ stopped, usage: { inputTokens: 20 * calls, outputTokens: 10 * calls } });
    expect(model.requests).toHaveLength(calls);
  });

  test('by our own count where the endpoint reports no usage, each call with all that was said before', async () => {
    const silent: ScriptedAnswer = { call: 'step', args: {}, usage: null };
    const [once, twice] = await Promise.all(
      [1, 2].map(async (calls) => {
        const { kernel } = await withLimits(`max_turns: ${calls}`, () => silent);
        return (await kernel.invokeAgent('talker', 'go')).usage.inputTokens;
      }),
    );
    // The second call carries the first one's request and result as well.
    expect(twice).toBeGreaterThan(2 * (once as number));
    const { kernel, model } = await withLimits(`max_tokens_per_invocation: ${twice}`, () => silent);
    expect(await kernel.invokeAgent('talker', 'go')).toMatchObject({ stopped: 'max_tokens' });
    expect(model.requests).toHaveLength(2);
  });

  test('after 20 model calls where the manifest says nothing', async () => {
    const { kernel, model } = await withLimits('', () => STEP);
    expect(await kernel.invokeAgent('talker', 'go')).toMatchObject({ stopped: 'max_turns' });
    expect(model.requests).toHaveLength(20);
  });

  test('and can be continued from where a limit has stopped it', async () => {
    const { kernel, model } = await withLimits('max_turns: 1', [STEP, DONE]);
    const { conversation } = await kernel.invokeAgent('talker', 'go');
    expect(await kernel.invokeAgent('talker', 'go on', { conversation })).toMatchObject({ text: 'Done.' });
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });
});

test.each([
  ['max_tokens_per_invocation: 50', 50],
  ['max_turns: 2', undefined],
])('a single answer may be as long as { %s } leaves', async (limits, expected) => {
  const { kernel, model } = await withLimits(limits, [DONE]);
  await kernel.invokeAgent('talker', 'go');
  expect(model.requests[0]?.max_tokens).toBe(expected);
});

describe('the time budget ends', () => {
  // Side by side: it is all waiting, and long enough for a busy machine to have begun.
  test('an answer that hangs, and keeps what was said, and a tool that hangs, deaf or obedient', async () => {
    const begin = (script: readonly ScriptedAnswer[]) => withLimits('time_budget_ms: 1500', script);
    const [talking, deaf, obedient] = await Promise.all([
      begin([{ hangAfter: 'Let me see' }]),
      begin([{ call: 'deaf', args: {} }]),
      begin([{ call: 'obedient', args: {} }]),
    ]);
    const turns = [talking, deaf, obedient].map(({ kernel }) => kernel.invokeAgent('talker', 'go'));
    const [answer, ...others] = await Promise.all(turns);
    expect(answer).toMatchObject({ text: 'Let me see', stopped: 'time_budget' });
    expect(answer?.conversation).toMatchObject([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Let me see' },
    ]);
    expect(others).toMatchObject([{ stopped: 'time_budget' }, { stopped: 'time_budget' }]);
    expect(deaf.kernel.logged).toContain('tools deaf');
    expect(obedient.kernel.logged).toContain('tools obedient');
    for (const { model } of [deaf, obedient]) expect(model.requests).toHaveLength(1);
  });

  test('nothing that is quick', async () => {
    const { kernel } = await withLimits('time_budget_ms: 60000', [STEP, DONE]);
    expect(await kernel.invokeAgent('talker', 'go')).toMatchObject({ stopped: 'done' });
  });
});

describe('the signal of the caller cancels', () => {
  test('an answer that streams, which can be taken up again', async () => {
    const { kernel, model } = await withLimits('', [{ hangAfter: 'Let me see' }, DONE]);
    const abort = new AbortController();
    const onText = (): void => abort.abort();
    const answer = await kernel.invokeAgent('talker', 'go', { signal: abort.signal, onText });
    expect(answer).toMatchObject({ text: 'Let me see', stopped: 'cancelled' });
    await kernel.invokeAgent('talker', 'go on', { conversation: answer.conversation });
    expect(model.requests[1]?.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: go',
      'assistant: Let me see',
      'user: go on',
    ]);
  });

  test.each<[call: string, logged: readonly string[]]>([
    ['deaf', ['tools deaf']],
    ['obedient', ['tools obedient', 'tools told']],
  ])('a tool that runs: %s', async (call, logged) => {
    const { kernel, model } = await withLimits('', [{ call, args: {} }]);
    const abort = new AbortController();
    const turn = kernel.invokeAgent('talker', 'go', { signal: abort.signal });
    await waitFor('the tool', () => kernel.logged.length);
    abort.abort();
    expect(await turn).toMatchObject({ stopped: 'cancelled' });
    expect(kernel.logged).toEqual(logged);
    expect(model.requests).toHaveLength(1);
  });

  test('before anything is asked', async () => {
    const { kernel, model } = await withLimits('', [DONE]);
    expect(await kernel.invokeAgent('talker', 'go', { signal: AbortSignal.abort() })).toMatchObject({
      text: '',
      stopped: 'cancelled',
    });
    expect(model.requests).toHaveLength(0);
  });
});
