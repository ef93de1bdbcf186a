import { expect, it } from 'vitest';
import { bootRoot, skill } from '../../helpers/boot-root.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';

const TREE = { 'data/.keep': '', ...skill('tea'), ...skill('bread') };
const brief = (outcomes: readonly { skillId: string; helped: number; didNot: number }[]) =>
  outcomes.map(({ skillId, helped, didNot }) => [skillId, helped, didNot]);

it('notes an outcome for each skill that the agent of the conversation has loaded, and for no other', async () => {
  const { registry } = await openRegistry(TREE);
  const { usage } = registry;
  await registry.read('tea', {}, { agentId: 'clerk', threadId: 'one' });
  await registry.read('tea', {}, { agentId: 'clerk', threadId: 'one' });
  await registry.read('bread', {}, { agentId: 'other', threadId: 'one' });
  await registry.read('bread', {}, { threadId: 'one' });
  await registry.read('bread', {}, { agentId: 'clerk', threadId: 'two' });
  expect(await usage.record({ agent: 'clerk', thread: 'one', outcome: 'helped' })).toEqual(['tea']);
  expect(await usage.record({ agent: 'clerk', thread: 'three', outcome: 'helped' })).toEqual([]);
  const { outcomes, agents } = await usage.report();
  expect(brief(outcomes)).toEqual([['tea', 1, 0]]);
  expect(agents.find(({ agent }) => agent === 'clerk')).toMatchObject({ loads: 3, failures: 0 });
  const [event] = await usage.events({ kind: 'outcome' });
  expect(event).toMatchObject({ skillId: 'tea', agent: 'clerk', thread: 'one', outcome: 'helped' });
  await expect(usage.record({ thread: 'one', outcome: 'it was great' } as never)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

it('counts the last word of a conversation, of each content of a skill, with its revision before and after a change', async () => {
  const { registry, root } = await openRegistry(TREE);
  const said = async (thread: string, ...outcomes: readonly ('helped' | 'did_not')[]): Promise<void> => {
    await registry.read('tea', {}, { agentId: 'clerk', threadId: thread });
    for (const outcome of outcomes) await registry.usage.record({ agent: 'clerk', thread, outcome });
  };
  await said('one', 'did_not');
  await said('two', 'helped', 'did_not');
  await registry.admin.management.write('tea', 'SKILL.md', (text) => text.replace('Body', 'Leaf'), {
    by: 'person:ada',
  });
  await said('three', 'did_not', 'helped');
  const { outcomes } = await registry.usage.report({ skillId: 'tea' });
  expect(outcomes.map(({ revision, helped, didNot }) => [revision, helped, didNot])).toEqual([
    [1, 0, 2],
    [2, 1, 0],
  ]);
  const { stdout } = await runCommand(['stats', '--root', root]);
  const lines = stdout.replace(/ +/g, ' ').replace(/\d{4}-\d\d-\d\d/g, 'DAY');
  expect(lines).toContain('HELPED DID NOT REV SINCE SKILL\n 0 2 1 DAY tea\n 1 0 2 DAY tea\n');
});

it('takes /feedback of a person at the terminal, and keeps no word of it', async () => {
  const { kernel, root } = await bootRoot(TREE);
  const turn = { agentId: 'orchestrator_agent', threadId: 'thread-1' };
  const { registry } = kernel.getExtension<{ registry: Awaited<ReturnType<typeof openRoot>> }>('skill_registry');
  const said = async (line: string) => (await kernel.runCommand(line, turn)) as { text: string };
  expect((await said('/feedback helped')).text).toContain('No skill was loaded');
  await registry.read('tea', {}, turn);
  expect((await said('/feedback it was hunter2')).text).toContain('/feedback did_not');
  expect((await said('/feedback did_not')).text).toBe('Noted of tea.');
  expect(brief((await registry.usage.report()).outcomes)).toEqual([['tea', 0, 1]]);
  await kernel.shutdown();
  const kept = await (await openRoot(root)).usage.events();
  expect(JSON.stringify(kept)).not.toContain('hunter2');
});

it('notes nothing with usage: false', async () => {
  const { registry } = await openRegistry(TREE, { usage: false });
  await registry.read('tea', {}, { threadId: 'one' });
  expect(await registry.usage.record({ thread: 'one', outcome: 'helped' })).toEqual([]);
});
