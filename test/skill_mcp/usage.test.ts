import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { skill } from '../helpers/boot-root.ts';
import { callTool, type Era, httpClient, serveRegistry, stdioClient } from '../helpers/mcp.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';

const IN_THREAD = { _meta: { 'skill-registry/thread': 't' } };
const TREE = { ...skill('tea'), 'skills/tea/times.md': 'Two minutes.', ...skill('bread') };

it.each<Era>(['modern', 'legacy'])('records what a %s client reads and is offered', async (era) => {
  const { registry, serving } = await serveRegistry(TREE);
  const client = await httpClient(serving.url, era);
  await callTool(client, 'read_skill', { skill_id: 'tea' });
  await callTool(client, 'read_skill_resource', { skill_id: 'tea', path: 'times.md' });
  await callTool(client, 'read_skill', { skill_id: 'gone' });
  await client.readResource({ uri: 'skill://bread/SKILL.md' });
  await client.readResource({ uri: 'skill://tea/times.md' });
  await client.getPrompt({ name: 'bread' });
  const events = await registry.usage.events();
  expect(events.map(({ kind, skillId, outcome }) => `${kind} ${skillId} ${outcome}`)).toEqual([
    'load tea success',
    'resource tea success',
    'failure gone SKILL_NOT_FOUND',
    'load bread success',
    'resource tea success',
    'load bread success',
  ]);
  // Of a resource, too: which version of the skill it belonged to.
  const { byId } = registry.snapshot();
  expect(events.map(({ digest }) => digest)).toEqual([
    ...['tea', 'tea', 'gone', 'bread', 'tea', 'bread'].map((id) => byId.get(id)?.digest),
  ]);
  const offersNow = async (): Promise<number> => (await registry.usage.report()).totals.offers;
  const before = await offersNow();
  // A client that says it is initialized has read the instructions, which name both.
  expect(before).toBe(era === 'legacy' ? 2 : 0);
  await callTool(client, 'list_skills', {});
  expect(await offersNow()).toBe(before + 2);
  await client.listResources();
  expect(await offersNow()).toBe(before + 4);
  // Prompts are for people.
  await client.listPrompts();
  expect(await offersNow()).toBe(before + 4);
});

it.each<Era>(['modern', 'legacy'])(
  'says of each event what a %s client calls itself, in one short line',
  async (era) => {
    const { registry, serving, root } = await serveRegistry({ ...TREE, 'data/.keep': '' });
    const named = async (name: string): Promise<void> => {
      const clientInfo = { name, version: '1' };
      const client = await httpClient(serving.url, era, {}, onTestFinished, undefined, clientInfo);
      await client.callTool({ name: 'read_skill', arguments: { skill_id: 'tea' }, ...IN_THREAD });
      await client.readResource({ uri: 'skill://tea/SKILL.md', ...IN_THREAD });
    };
    for (const name of ['one', 'a\u001b[31m\nb', 'x'.repeat(5000)]) await named(name);
    const events = await registry.usage.events({ thread: 't' });
    const long = 'x'.repeat(100);
    expect(events.map(({ client }) => client)).toEqual(['one 1', 'one 1', 'a[31m b 1', 'a[31m b 1', long, long]);
    await registry.close();
    const { stdout } = await runCommand(['stats', '--thread', 't', '--root', root]);
    expect(stdout).toContain('tea, "one 1"\n');
  },
);

it('says it of a connection on stdio', async () => {
  const { registry, root } = await openRegistry({ ...TREE, 'data/.keep': '' });
  await registry.close();
  const { client } = await stdioClient(['--root', root, '--trust', '--thread', 't'], 'legacy');
  await callTool(client, 'read_skill', { skill_id: 'tea' });
  await client.readResource({ uri: 'skill://tea/SKILL.md' });
  await client.close();
  const { stdout } = await runCommand(['stats', '--thread', 't', '--root', root]);
  expect(stdout.match(/tea, "test 1.0.0"\n/g)).toHaveLength(2);
});

it('records the agent of a door, and what is out of its scope', async () => {
  const mcp = { turn: { agentId: 'clerk', boundSkills: ['tea'] } };
  const { registry, serving } = await serveRegistry(TREE, { mcp });
  const client = await httpClient(serving.url);
  await callTool(client, 'read_skill', { skill_id: 'bread' });
  await client.readResource({ uri: 'skill://bread/SKILL.md' }).catch(() => undefined);
  await callTool(client, 'read_skill', { skill_id: 'tea' });
  expect(await registry.usage.events()).toMatchObject([
    { kind: 'refusal', skillId: 'bread', outcome: 'SKILL_OUT_OF_SCOPE', agent: 'clerk' },
    { kind: 'load', skillId: 'tea', outcome: 'success', agent: 'clerk' },
  ]);
});

it('records one read of a file that has changed since it was published', async () => {
  const { registry, serving, root } = await serveRegistry(TREE);
  const client = await httpClient(serving.url);
  await client.readResource({ uri: 'skill://tea/times.md' });
  writeFileSync(join(root, 'skills/tea/times.md'), 'Three minutes.');
  const { contents } = await client.readResource({ uri: 'skill://tea/times.md' });
  expect(contents).toMatchObject([{ text: 'Three minutes.' }]);
  expect((await registry.usage.report()).totals).toMatchObject({ resources: 2, loads: 0, failures: 0 });
});
