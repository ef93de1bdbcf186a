import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const LONG = 'word '.repeat(400).trim();
const TREE = {
  'data/.keep': '',
  ...skill('tea', {}, LONG),
  'skills/tea/references/black.md': LONG,
  ...skill('bread', {}, LONG),
  ...skill('short'),
};
const TURN = { agentId: 'clerk', threadId: 'one', ownThread: true } as const;
const signal = new AbortController().signal;

async function tools(config: Readonly<Record<string, unknown>> = {}) {
  const { registry, root } = await openRegistry(TREE, config);
  const call = async (name: string, args: Readonly<Record<string, unknown>>, turn: object = TURN) => {
    const [tool] = registry.tools([name]);
    return (await tool?.execute(args as never, { turn, signal })) as Record<string, unknown> & {
      error: { code: string };
    };
  };
  return { registry, root, call };
}

it('tells with each body, file and prompt how many tokens its conversation has loaded, and counts them alike', async () => {
  const { registry, call } = await tools();
  const tea = Number((await call('read_skill', { skill_id: 'tea' })).thread_tokens);
  expect(tea).toBeGreaterThan(390);
  const path = 'references/black.md';
  const file = Number((await call('read_skill_resource', { skill_id: 'tea', path })).thread_tokens);
  expect(file).toBeGreaterThan(tea + 390);
  // A resource of MCP.
  await registry.admin.readBytes('tea', { path }, TURN);
  await registry.admin.readBytes('tea', { path, countsAsLoad: false }, TURN);
  // A prompt of MCP, and what a person applies.
  await registry.apply('bread', '', TURN);
  const { threadTokens = 0 } = await registry.read('short', {}, TURN);
  expect(threadTokens).toBeGreaterThan(file + 780);
  expect(threadTokens).toBeLessThan(file + 840);
  const { agents, threads } = await registry.usage.report();
  expect(threads).toEqual([{ agent: 'clerk', thread: 'one', tokens: threadTokens, last: expect.any(String) }]);
  expect(agents).toMatchObject([{ agent: 'clerk', tokens: threadTokens }]);
  expect(await registry.read('short', {}, { agentId: 'clerk' })).not.toHaveProperty('threadTokens');
  expect(await registry.read('short', {}, { agentId: 'other', threadId: 'one' })).toMatchObject({
    threadTokens: expect.toSatisfy((tokens: number) => tokens < 10),
  });
});

it('says since when a named conversation has a body, instead of giving it twice', async () => {
  const { registry, call } = await tools();
  const first = await call('read_skill', { skill_id: 'tea' });
  const second = await call('read_skill', { skill_id: 'tea' });
  expect(second).toEqual({
    success: true,
    skill_id: 'tea',
    repeated: true,
    digest: first.digest,
    content: expect.stringMatching(/^You have this since \d\d:\d\d; again: true gives it once more$/),
  });
  expect((await call('read_skill', { skill_id: 'tea', again: true })).content).toBe(first.content);
  expect((await call('read_skill', { skill_id: 'tea', view: 'raw' })).content).toContain('description:');
  // Another agent, another conversation, and those whom nobody has named, have it not.
  for (const turn of [
    { ...TURN, agentId: 'other' },
    { ...TURN, threadId: 'two' },
    { threadId: 'one', ownThread: true },
    { agentId: 'clerk', threadId: 'one' },
    { agentId: 'clerk', connectionId: 'one', ownThread: true },
  ])
    expect((await call('read_skill', { skill_id: 'tea' }, turn)).content).toBe(first.content);
  // A program that reads gets what it asks for.
  expect((await registry.read('tea', {}, TURN)).content).toBe(first.content);
  await registry.admin.management.write('tea', 'SKILL.md', (text) => `${text}\nMore.`, { by: 'person:ada' });
  expect((await call('read_skill', { skill_id: 'tea' })).content).toContain('More.');
  expect((await call('read_skill', { skill_id: 'tea' })).repeated).toBe(true);
});

it('takes no older content for what a conversation has, when it is written later', async () => {
  const { registry, call } = await tools();
  await call('read_skill', { skill_id: 'tea' });
  await registry.usage.events();
  // Written with the events, because nobody has named this conversation.
  await call('read_skill', { skill_id: 'tea' }, { agentId: 'clerk', threadId: 'one' });
  await registry.admin.management.write('tea', 'SKILL.md', (text) => `${text}\nMore.`, { by: 'person:ada' });
  expect((await call('read_skill', { skill_id: 'tea' })).content).toContain('More.');
  await registry.usage.events();
  expect((await call('read_skill', { skill_id: 'tea' })).repeated).toBe(true);
});

it('gives a body again to an agent of the config with repeat: full', async () => {
  const { registry, call } = await tools({ agents: { clerk: { skills: ['*'], repeat: 'full' } } });
  expect(registry.problems()).toEqual([]);
  const first = await call('read_skill', { skill_id: 'tea' });
  expect((await call('read_skill', { skill_id: 'tea' })).content).toBe(first.content);
  expect((await call('read_skill', { skill_id: 'tea' }, { ...TURN, agentId: 'other' })).repeated).toBeUndefined();
  expect((await call('read_skill', { skill_id: 'tea' }, { ...TURN, agentId: 'other' })).repeated).toBe(true);
});

it('does not say of a skill that was held or disabled meanwhile that the agent has it', async () => {
  const { registry, call } = await tools();
  await call('read_skill', { skill_id: 'tea' });
  await registry.admin.setDisabled({ skill: 'tea' }, true, { by: 'person:ada' });
  expect((await call('read_skill', { skill_id: 'tea' })).error).toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it('warns from 80 % of the tokens of a conversation on, and gives nothing that would go beyond', async () => {
  const { registry, call } = await tools({ limits: { thread_tokens: 1000 } });
  expect(await call('read_skill', { skill_id: 'tea' })).not.toHaveProperty('token_warning');
  const near = await call('read_skill', { skill_id: 'bread' });
  expect(near.token_warning).toMatch(
    /^Of the 1,000 tokens of skills that this conversation may load, 8\d\d are used\.$/,
  );
  const refused = await call('read_skill_resource', { skill_id: 'tea', path: 'references/black.md' });
  expect(refused).toMatchObject({ success: false, error: { code: 'THREAD_TOKENS_SPENT' } });
  expect(JSON.stringify(refused)).not.toContain('word word');
  await expect(registry.apply('tea', '', TURN)).rejects.toMatchObject({ code: 'THREAD_TOKENS_SPENT' });
  await expect(registry.admin.readBytes('tea', {}, TURN)).rejects.toMatchObject({ code: 'THREAD_TOKENS_SPENT' });
  // What is small enough, and what it has, it gets.
  expect((await call('read_skill', { skill_id: 'short' })).success).toBe(true);
  expect((await call('read_skill', { skill_id: 'tea' })).repeated).toBe(true);
  expect((await call('read_skill', { skill_id: 'tea' }, { ...TURN, threadId: 'two' })).success).toBe(true);
  const { failing } = await registry.usage.report();
  expect(failing).toContainEqual({ skillId: 'tea', code: 'THREAD_TOKENS_SPENT', count: 3 });
});

it('counts the day of an agent over its conversations and processes, also where nobody has a name', async () => {
  const { registry, root } = await openRegistry(TREE, { limits: { agent_tokens_per_day: 1000 } });
  await registry.read('tea', {}, { agentId: 'clerk', threadId: 'one' });
  await registry.read('tea', {}, {});
  const other = await openRoot(root, {
    config: { sources: [{ path: 'skills' }], limits: { agent_tokens_per_day: 1000 } },
  });
  await other.read('tea', {}, { agentId: 'clerk', threadId: 'two' });
  await expect(registry.read('bread', {}, { agentId: 'clerk' })).rejects.toMatchObject({ code: 'AGENT_TOKENS_SPENT' });
  await registry.read('bread', {}, {});
  await expect(other.read('bread', {}, {})).rejects.toMatchObject({ code: 'AGENT_TOKENS_SPENT' });
  await other.read('bread', {}, { agentId: 'third' });
});

it('has written what a named conversation has before it answers, so that every process says it at once', async () => {
  const { root, call } = await tools();
  const other = await openRoot(root, {});
  const [tool] = other.tools(['read_skill']);
  await call('read_skill', { skill_id: 'tea' });
  // Asked without waiting.
  const database = openSqlite(join(root, 'data/skill_registry/usage.db'));
  expect(database.prepare('SELECT skill FROM handed').all()).toHaveLength(1);
  database.close();
  expect(await tool?.execute({ skill_id: 'tea' } as never, { turn: TURN, signal })).toMatchObject({ repeated: true });
});

it('keeps what a conversation has loaded when events are removed, and in another process', async () => {
  const { registry, root, call } = await tools();
  await call('read_skill', { skill_id: 'tea' });
  await registry.close();
  const database = openSqlite(join(root, 'data/skill_registry/usage.db'));
  database.exec('DELETE FROM event');
  database.close();
  const again = await openRoot(root);
  const [tool] = again.tools(['read_skill']);
  expect(await tool?.execute({ skill_id: 'tea' } as never, { turn: TURN, signal })).toMatchObject({ repeated: true });
});

it.each([{ thread_tokens: 1000 }, { agent_tokens_per_day: 5 }])(
  'says at load that nothing obeys %j without usage',
  async (limits) => {
    const { registry } = await openRegistry(TREE, { usage: false, limits });
    expect(registry.problems()).toMatchObject([{ code: 'LIMIT_WITHOUT_USAGE', severity: 'error' }]);
    const counted = await openRegistry(TREE, { limits });
    expect(counted.registry.problems()).toEqual([]);
  },
);

it('gives nothing under a limit while it cannot be counted, and everything without one', async () => {
  const root = tempFolder(TREE);
  const limited = await openRoot(root, { config: { sources: [{ path: 'skills' }], limits: { thread_tokens: 9000 } } });
  const free = await openRoot(root);
  const file = join(root, 'data/skill_registry/usage.db');
  rmSync(file, { force: true });
  mkdirSync(file, { recursive: true });
  await expect(limited.read('tea', {}, TURN)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect((await free.read('tea', {}, TURN)).content).toBe(LONG);
  rmSync(file, { recursive: true });
  expect((await limited.read('tea', {}, TURN)).threadTokens).toBeGreaterThan(390);
});
