import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { droppedSkills, skillTools } from 'skill-registry/ai-sdk';
import { expect, it, onTestFinished, vi } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { heldSkill } from '../../helpers/held.ts';
import { httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TREE = { 'data/.keep': '', ...skill('tea'), 'skills/tea/a.md': 'A.', ...skill('bread'), ...skill('rye') };
const TURN = { agentId: 'clerk', threadId: 'one', ownThread: true } as const;
const OF = { agent: 'clerk', thread: 'one' };
const signal = new AbortController().signal;

it('gives back what a conversation had, in order, as it is today, and no text that its agent may not have now', async () => {
  const { registry } = await openRegistry(TREE);
  for (const id of ['tea', 'rye', 'bread']) await registry.read(id, {}, TURN);
  await registry.readResource('tea', 'a.md', TURN);
  const { digest } = await registry.read('bread');
  await registry.admin.management.write('bread', 'SKILL.md', (text) => text.replace('Body', 'Loaf'), {
    by: 'person:ada',
  });
  await registry.admin.setDisabled({ skill: 'rye' }, true, { by: 'person:ada' });
  const { skills, text } = await registry.usage.loadedIn(OF, { boundSkills: ['tea', 'bread', 'rye'] });
  expect(skills).toMatchObject([
    { skillId: 'tea', content: 'Body of tea.', files: ['a.md'] },
    { skillId: 'rye', withheld: 'unavailable' },
    { skillId: 'bread', content: 'Loaf of bread.', digest, digestNow: expect.stringMatching(/^sha256:/) },
  ]);
  expect(text).toContain(`It was changed meanwhile: ${digest} then, ${skills[2]?.digestNow} now.\nLoaf of bread.`);
  expect(text).not.toContain('Body of rye');
  // Out of its scope now.
  const narrower = await registry.usage.loadedIn(OF, { boundSkills: ['bread'] });
  expect(narrower.skills.map(({ withheld }) => withheld)).toEqual(['unavailable', 'unavailable', undefined]);
});

it('keeps the order of what was loaded within one millisecond', async () => {
  const { registry } = await openRegistry(TREE);
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  onTestFinished(() => now.mockRestore());
  for (const id of ['tea', 'rye', 'bread']) await registry.read(id, {}, TURN);
  const { skills } = await registry.usage.loadedIn(OF);
  expect(skills.map(({ skillId }) => skillId)).toEqual(['tea', 'rye', 'bread']);
});

it('gives no other agent anything, and no other conversation', async () => {
  const { registry } = await openRegistry(TREE);
  await registry.read('tea', {}, TURN);
  for (const of of [{ agent: 'other', thread: 'one' }, { thread: 'one' }, { agent: 'clerk', thread: 'two' }])
    expect(await registry.usage.loadedIn(of)).toEqual({ skills: [], text: '' });
  expect((await registry.usage.loadedIn(OF)).skills).toHaveLength(1);
});

it('names a skill that was held meanwhile or withdrawn, without its text', async () => {
  const { registry, root } = await openRegistry({ ...TREE, ...skill('bad') });
  for (const id of ['tea', 'bad']) await registry.read(id, {}, TURN);
  const { mkdirSync, rmSync, writeFileSync } = await import('node:fs');
  rmSync(join(root, 'skills/tea'), { recursive: true });
  for (const [path, text] of Object.entries(heldSkill('bad', 71))) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), String(text));
  }
  await registry.refresh();
  const { skills } = await registry.usage.loadedIn(OF);
  expect(skills.map(({ skillId, withheld, content }) => [skillId, withheld, content])).toEqual([
    ['tea', 'unavailable', undefined],
    ['bad', 'unavailable', undefined],
  ]);
});

it('keeps to its tokens, the last loaded first, and counts the conversation as empty afterwards', async () => {
  const long = 'word '.repeat(400).trim();
  const { registry } = await openRegistry({ ...TREE, ...skill('tea', {}, long), ...skill('bread', {}, long) });
  const [tool] = registry.tools(['read_skill']);
  const read = (id: string) => tool?.execute({ skill_id: id } as never, { turn: TURN, signal });
  for (const id of ['tea', 'bread']) await read(id);
  expect(await read('tea')).toMatchObject({ repeated: true });
  expect((await registry.usage.loadedIn({ ...OF, tokens: 0 })).skills).toHaveLength(2);
  expect(await read('tea')).toMatchObject({ repeated: true });
  const { skills } = await registry.usage.loadedIn({ ...OF, tokens: 500 });
  expect(skills.map(({ withheld, content }) => withheld ?? content?.length)).toEqual(['tokens', long.length]);
  expect(await read('tea')).toMatchObject({ content: long });
  expect(await read('tea')).toMatchObject({ repeated: true });
});

it('gives an agent of the AI SDK the skills that dropped messages had, and nothing while they are there', async () => {
  const { registry } = await openRegistry(TREE);
  const { read_skill: tool } = skillTools(registry, TURN);
  const results = [];
  for (const skill_id of ['tea', 'bread', 'tea'])
    results.push({
      role: 'tool',
      content: [{ output: { type: 'json', value: await tool?.execute({ skill_id }, {}) } }],
    });
  expect(await droppedSkills(registry, results, TURN)).toBe('');
  // The third only says that it is repeated.
  const text = await droppedSkills(registry, results.slice(1), TURN);
  expect(text).toContain('## Skill tea\nBody of tea.');
  expect(text).toContain('## Skill bread');
  expect(text).not.toContain('Body of bread.');
  expect(await tool?.execute({ skill_id: 'tea' }, {})).toMatchObject({ content: 'Body of tea.' });
  expect(await droppedSkills(registry, [], { agentId: 'clerk' })).toBe('');
});

it('says it at a terminal, marks the last conversation as a guess, and finds nothing for an unknown one', async () => {
  const { registry, root } = await openRegistry(TREE);
  await registry.read('tea', {}, { threadId: 'session-1' });
  await registry.close();
  const loaded = (...args: readonly string[]) => runCommand(['loaded', ...args, '--root', root]);
  expect(await loaded('--thread', 'session-1')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Body of tea.'),
  });
  expect((await loaded('--last')).stdout).toMatch(/^A guess: .*\n\nThis conversation had/);
  expect(await loaded('--thread', 'other')).toMatchObject({ status: 1, stdout: '' });
  expect((await loaded()).status).toBe(2);
  expect((await loaded('--last', '--agent', 'nobody')).stderr).toContain('AGENT_NOT_FOUND');
});

it('says it through the example of a hook, of recorded input of a host', async () => {
  const { registry, root } = await openRegistry(TREE, {});
  await registry.read('tea', {}, { threadId: 'session-1' });
  await registry.close();
  expect(await runCommand(['trust', 'allow', root], { trust: false })).toMatchObject({ status: 0 });
  const hook = (input: object): string =>
    execFileSync(process.execPath, [join(ROOT, 'examples/compaction-hook.mjs')], {
      input: JSON.stringify({ session_id: 'session-1', hook_event_name: 'SessionStart', cwd: root, ...input }),
      encoding: 'utf8',
      env: { ...process.env, SKILL_REGISTRY: join(ROOT, 'dist/cli/main.js'), SKILL_AGENT: '' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  const { hookSpecificOutput: said } = JSON.parse(hook({ source: 'compact' }));
  expect(said).toMatchObject({
    hookEventName: 'SessionStart',
    additionalContext: expect.stringContaining('Body of tea.'),
  });
  expect(hook({ source: 'startup' })).toBe('');
  expect(hook({ source: 'compact', session_id: '--help' })).toBe('');
});

it('is a prompt of MCP where agent and conversation have names, and of nobody else', async () => {
  const config = { agents: { brewer: { skills: ['tea'] }, baker: { skills: ['bread'] } } };
  const { serving } = await serveRegistry(TREE, { config, http: {}, agents: true });
  const name = 'skills_loaded_so_far';
  const at = (path: string) => httpClient(new URL(path, serving.url).href);
  const brewer = await at('/agents/brewer/threads/t/mcp');
  await brewer.callTool({ name: 'read_skill', arguments: { skill_id: 'tea' } });
  expect((await brewer.listPrompts()).prompts[0]).toMatchObject({ name });
  expect(JSON.stringify(await brewer.getPrompt({ name }))).toContain('Body of tea.');
  const baker = await at('/agents/baker/threads/t/mcp');
  expect(JSON.stringify(await baker.getPrompt({ name }))).toContain('None so far.');
  const plain = await at('/mcp');
  expect(JSON.stringify(await plain.listPrompts())).not.toContain(name);
  await expect(plain.getPrompt({ name })).rejects.toThrow('No prompt');
});
