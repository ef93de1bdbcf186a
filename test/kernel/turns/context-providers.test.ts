import { describe, expect, test } from 'vitest';
import type { ExtensionRecord } from '../../../kernel/boot/extension-record.ts';
import type { KernelState } from '../../../kernel/boot/kernel-state.ts';
import { collectContext, PART_SEPARATOR } from '../../../kernel/turns/system-text.ts';
import { scriptedModel, systemText } from '../../helpers/scripted-model.ts';
import { agentExtension, bootTree, codesOf, extension, problemsOf } from '../boot/boot-extensions.ts';

/** A running extension that says `text`. */
function provider(
  id: string,
  contextPriority: number,
  getContext: () => Promise<unknown> = async () => id,
): ExtensionRecord {
  const found = { manifest: { id } };
  return { found, state: 'RUNNING', instance: { contextPriority, getContext } } as unknown as ExtensionRecord;
}

function kernelWith(providers: readonly ExtensionRecord[]): KernelState {
  const messages = { report: () => {} };
  return { running: () => providers, budgets: { context: 1_000 }, messages } as unknown as KernelState;
}

describe('the texts of providers', () => {
  const collect = async (...providers: readonly ExtensionRecord[]): Promise<string> =>
    (await collectContext(kernelWith(providers), '', {})).map(({ source, text }) => `${source}=${text}`).join(' ');

  test('stand in ascending priority', async () => {
    expect(await collect(provider('c', 60), provider('a', -1), provider('d', 100), provider('b', 0))).toBe(
      'a=a b=b c=c d=d',
    );
  });

  test('keep their order where priorities are equal', async () => {
    expect(await collect(provider('c', 5), provider('a', 5), provider('b', 5))).toBe('c=c a=a b=b');
  });

  test.each([[undefined], [Number.NaN], ['10']])('have priority 100 where it is %s', async (priority) => {
    expect(await collect(provider('after', 101), provider('x', priority as number), provider('before', 99))).toBe(
      'before=before x=x after=after',
    );
  });

  test('are left out where they are null or empty', async () => {
    expect(
      await collect(
        provider('none', 1, async () => null),
        provider('empty', 2, async () => ''),
        provider('some', 3),
      ),
    ).toBe('some=some');
  });

  test('are asked for side by side', async () => {
    let release: (text: string) => void = () => {};
    const first = new Promise<string>((resolve) => {
      release = resolve;
    });
    const second = provider('second', 2, async () => {
      release('released');
      return 'second';
    });
    expect(
      await collect(
        provider('first', 1, () => first),
        second,
      ),
    ).toBe('first=released second=second');
  });
});

const SAYS = (text: string, priority?: number): string =>
  `${priority === undefined ? '' : `contextPriority = ${priority};`} async getContext() { return ${JSON.stringify(text)}; }`;
const AGENT = agentExtension('talker', 'integration_mode: handoff\ninstructions: Be kind.');

describe('the system text of a turn', () => {
  test('is the instructions and then the providers by priority, as describeTurn tells', async () => {
    const model = await scriptedModel([{ text: 'Hello.' }]);
    const kernel = await bootTree(
      {
        ...AGENT,
        ...extension('last', '', SAYS('No priority.')),
        ...extension('middle', '', SAYS('Sixty.', 60)),
        ...extension('zero', '', SAYS('Zero.', 0)),
      },
      { environment: model.environment },
    );
    await kernel.invokeAgent('talker', 'hi');
    const expected = ['Be kind.', 'Zero.', 'Sixty.', 'No priority.'].join('\n\n---\n\n');
    expect(systemText(model.requests[0])).toBe(expected);
    const parts = await kernel.describeTurn('talker', 'hi', {});
    expect(parts.map(({ text }) => text).join(PART_SEPARATOR)).toBe(expected);
    expect(parts.map(({ source }) => source)).toEqual(['talker', 'zero', 'middle', 'last']);
    expect(parts.every(({ tokens }) => tokens > 0)).toBe(true);
  });

  test('is made with the prompt and the turn of the agent', async () => {
    const model = await scriptedModel([{ text: 'Hello.' }]);
    const members = 'async getContext(prompt, turn) { return prompt + " " + JSON.stringify(turn); }';
    const kernel = await bootTree(
      { ...agentExtension('talker', 'uses_skills: []'), ...extension('echo', '', members) },
      { environment: model.environment },
    );
    const pretended = { agentId: 'somebody', givenSkills: ['x'], tools: ['read_skill'] };
    await kernel.invokeAgent('talker', 'hi', { turn: { threadId: 't1', channelId: 'test', ...pretended } });
    const own = { boundSkills: [], model: 'scripted', givenSkills: [], tools: [] };
    expect(systemText(model.requests[0])).toBe(
      `hi ${JSON.stringify({ threadId: 't1', channelId: 'test', agentId: 'talker', ...own })}`,
    );
  });

  test.each<[what: string, body: string, code: string, reason: string]>([
    ['throws', `getContext() { throw new Error('at once'); }`, 'CONTEXT_PROVIDER_FAILED', 'at once'],
    ['rejects', `async getContext() { throw new Error('later'); }`, 'CONTEXT_PROVIDER_FAILED', 'later'],
    ['never settles', 'getContext() { return new Promise(() => {}); }', 'CONTEXT_PROVIDER_TIMEOUT', 'within 80 ms'],
    ['gives a number', 'async getContext() { return 42; }', 'CONTEXT_PROVIDER_FAILED', 'getContext gave number'],
    ['gives nothing at all', 'async getContext() {}', 'CONTEXT_PROVIDER_FAILED', 'getContext gave undefined'],
  ])('lacks a provider that %s, which is told once', async (_, body, code, reason) => {
    const model = await scriptedModel(() => ({ text: 'Hello.' }));
    const kernel = await bootTree(
      { ...AGENT, ...extension('bad', '', `contextPriority = 1; ${body}`), ...extension('good', '', SAYS('Good.', 2)) },
      { environment: model.environment, budgets: { context: 80 } },
    );
    for (const prompt of ['one', 'two'])
      expect(await kernel.invokeAgent('talker', prompt)).toMatchObject({ text: 'Hello.', stopped: 'done' });
    expect(model.requests.map(systemText)).toEqual(Array(2).fill('Be kind.\n\n---\n\nGood.'));
    expect(problemsOf(kernel)).toMatchObject([
      { code, details: { id: 'bad' }, message: expect.stringContaining(reason) },
    ]);
    expect(kernel.undelivered()).toHaveLength(1);
  });

  test('takes a provider back that has recovered', async () => {
    const model = await scriptedModel(() => ({ text: 'Hello.' }));
    const members = `async getContext() { if (!this.tried) { this.tried = true; throw new Error('cold'); } return 'Warm.'; }`;
    const kernel = await bootTree({ ...AGENT, ...extension('slow', '', members) }, { environment: model.environment });
    await kernel.invokeAgent('talker', 'one');
    await kernel.invokeAgent('talker', 'two');
    expect(model.requests.map(systemText)).toEqual(['Be kind.', 'Be kind.\n\n---\n\nWarm.']);
    expect(codesOf(kernel)).toEqual(['CONTEXT_PROVIDER_FAILED']);
  });
});
