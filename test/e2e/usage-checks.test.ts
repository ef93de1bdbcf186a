import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import * as testing from 'skill-registry/testing';
import {
  invokeSkill,
  skillInvoked,
  skillNotInvoked,
  skillOrder,
  type UsageEvent,
  withSkill,
} from 'skill-registry/testing';
import { expect, it, onTestFinished } from 'vitest';
import type { SkillRegistryExtension } from '../../extensions/skill_registry/api.ts';
import { packageRoot } from '../../kernel/host.ts';
import { agent, skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { type ScriptedAnswer, scriptedModel, systemText } from '../helpers/scripted-model.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const at = (second: number, skillId: string, outcome = 'success', kind: UsageEvent['kind'] = 'load'): UsageEvent => ({
  time: new Date(1_000_000 * second).toISOString(),
  ...{ kind, skillId, outcome },
});

const EVENTS = [
  at(1, 'a'),
  at(2, 'b'),
  at(3, 'a'),
  at(4, 'given', 'given'),
  at(5, 'no', 'SKILL_OUT_OF_SCOPE', 'refusal'),
];

it.each([
  ['a skill that was read', skillInvoked('a')],
  ['one that was never asked for', skillNotInvoked('c')],
  ['one whose body only stood in the text', skillNotInvoked('given')],
  ['one that was refused', skillNotInvoked('no')],
  ['an order with others between', skillOrder(['a', 'a'])],
  ['a whole order', skillOrder(['a', 'b', 'a'])],
])('accepts %s', (_, check) => expect(check(EVENTS)).toBeUndefined());

it.each([
  ['a skill that was not read', skillInvoked('c'), /"c" to be invoked\. Recorded: a, b, a\.$/],
  ['one that was refused', skillInvoked('no'), /"no" to be invoked\. .* Of no also: refusal \(SKILL_OUT_OF_SCOPE\)\.$/],
  ['one whose body only stood in the text', skillInvoked('given'), /Of given also: load \(given\)\.$/],
  ['one that was read and should not', skillNotInvoked('a'), /"a" not to be invoked, and it was invoked 2 times/],
  ['another order', skillOrder(['b', 'a', 'b']), /order b, a, b; "b" was not invoked after "a"\. Recorded: a, b, a\./],
  ['an order that begins with another', skillOrder(['c', 'a']), /"c" was not invoked\. Recorded/],
])('refuses %s, and says what was recorded', (_, check, message) => expect(() => check(EVENTS)).toThrow(message));

it('goes by time, whatever the order of the events', () => {
  expect(skillOrder(['a', 'b', 'a'])([...EVENTS].reverse())).toBeUndefined();
  expect(() => skillInvoked('a')([])).toThrow('Recorded: no invocation.');
  expect(() => skillOrder([])).toThrow('at least one');
});

/** A kernel with a scripted model, and its registry as a test of an extension has it. */
async function kernelWith(script: readonly ScriptedAnswer[]) {
  const root = tempFolder({
    ...skill('tea'),
    ...agent('clerk', 'instructions: Help., uses_tools: [skill_registry]'),
  });
  const model = await scriptedModel(script);
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  const { registry } = kernel.getExtension<SkillRegistryExtension>('skill_registry');
  return { kernel, registry, requests: model.requests };
}

const turn = { agentId: 'clerk', threadId: 'thread-1' };

it('checks what a scripted model did in a conversation, with a skill that is there for the test', async () => {
  const { kernel, registry, requests } = await kernelWith([
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { call: 'read_skill', args: { skill_id: 'say-hello' } },
    { text: 'Ahoy!' },
  ]);
  const hello = { name: 'say-hello', description: 'How to greet.', instructions: 'Say Ahoy.' };
  await withSkill(registry, hello, async () => {
    const { text } = await kernel.invokeAgent('clerk', 'Greet me with tea', { turn });
    expect(text).toBe('Ahoy!');
    expect(systemText(requests[0])).toContain('`say-hello`');
    const events = await registry.usage.events({ thread: 'thread-1' });
    skillInvoked('say-hello')(events);
    skillNotInvoked('bread')(events);
    skillOrder(['tea', 'say-hello'])(events);
    expect(() => skillOrder(['say-hello', 'tea'])(events)).toThrow('"tea" was not invoked after "say-hello"');
  });
  expect(registry.snapshot().byId.has('say-hello')).toBe(false);
});

it('invokes a skill as a person does who types its command', async () => {
  const { kernel, registry, requests } = await kernelWith([{ text: 'Ahoy!' }]);
  const hello = { name: 'say-hello', description: 'How to greet.', instructions: 'Say Ahoy to $ARGUMENTS.' };
  await withSkill(registry, hello, async () => {
    const { text } = await invokeSkill(kernel, 'say-hello', 'the crew', turn);
    expect(text).toBe('Ahoy!');
    expect(String(requests[0]?.messages.at(-1)?.content)).toContain('Say Ahoy to the crew.');
    skillInvoked('say-hello')(await registry.usage.events({ thread: 'thread-1' }));
  });
  await expect(invokeSkill(kernel, 'say-hello', '', turn)).rejects.toMatchObject({ code: 'COMMAND_NOT_FOUND' });
});

it('runs the example of the documentation', async () => {
  const page = readFileSync(join(packageRoot(), 'docs/usage.md'), 'utf8');
  const example = /```js\nimport \{ (.*?) \} from 'skill-registry\/testing';\nimport .*\n([\s\S]*?)```/.exec(page);
  const { kernel, registry } = await kernelWith([
    { call: 'read_skill', args: { skill_id: 'say-hello' } },
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { text: 'Ahoy!' },
    { text: 'Ahoy, crew!' },
  ]);
  const names = example?.[1]?.split(', ') ?? [];
  expect(names).toHaveLength(5);
  const run = new Function('boot', ...names, `return (async () => {${example?.[2]}})()`);
  await run(async () => kernel, ...names.map((name) => (testing as Record<string, unknown>)[name]));
  expect(await registry.usage.events({ thread: 'thread-1' })).toHaveLength(3);
});

it('removes the skill of a test that fails', async () => {
  const { registry } = await openRegistry();
  const hello = { name: 'say-hello', description: 'd', instructions: 'Say Ahoy.' };
  const failing = withSkill(registry, hello, () => {
    throw new Error('wrong');
  });
  await expect(failing).rejects.toThrow('wrong');
  expect(registry.snapshot().skills).toEqual([]);
});
