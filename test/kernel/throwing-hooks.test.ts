import { expect, test } from 'vitest';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { agentExtension, bootTree, extension, problemsOf, states } from './boot/boot-extensions.ts';

const fail = (name: string): never => {
  throw new Error(`${name} is broken`);
};
const LOUD = extension(
  'loud',
  '',
  `async initialize(context) { context.log.info('here'); }
   getTools() {
     return [defineTool({ name: 'step', description: '', input: z.object({}), execute: async () => ({ success: true }) })];
   }`,
);

test('hooks of a host that throw are problems; extensions start and a turn is answered all the same', async () => {
  const model = await scriptedModel([{ call: 'step', args: {} }, { text: 'Done.' }]);
  const tree = { ...LOUD, ...agentExtension('talker', 'uses_tools: [loud]') };
  const kernel = await bootTree(tree, { environment: model.environment, onLog: () => fail('onLog') });
  expect(states(kernel)).toEqual(['loud RUNNING', 'talker RUNNING']);
  const onToolCall = (): never => fail('onToolCall');
  const onText = (): Promise<never> => Promise.reject(new Error('onText is broken'));
  const answer = await kernel.invokeAgent('talker', 'go', { onToolCall, onText });
  expect(answer).toMatchObject({ text: 'Done.', stopped: 'done' });
  const hooks = problemsOf(kernel).map(({ code, details, message }) => [code, details?.hook, message.split('.')[0]]);
  expect(hooks).toEqual([
    ['HOOK_FAILED', 'onLog', 'onLog failed: onLog is broken'],
    ['HOOK_FAILED', 'onToolCall', 'onToolCall failed: onToolCall is broken'],
    ['HOOK_FAILED', 'onText', 'onText failed: onText is broken'],
  ]);
});
