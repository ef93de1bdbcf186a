import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, it } from 'vitest';
import { httpClient, stdioClient } from '../helpers/mcp.ts';
import { openRoot } from '../helpers/open-registry.ts';
import { runCommand, startCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

const TREE = {
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }, 'See $'.concat('{SKILL_DIR}.')),
  'skills/cup/SKILL.md': skillMd({ name: 'mug', description: 'Holds tea.' }),
  'extensions/waiter/manifest.yaml':
    'id: waiter\nname: Waiter\nversion: 1.0.0\ndescription: Waits.\nagent: { integration_mode: tool, uses_skills: [tea] }\n',
};

/** A package whose code prints where only the protocol may stand. */
const LOUD = {
  'data/skill_registry/config.yaml': 'sources: [{ path: skills }, { package: loud }]\n',
  'node_modules/loud/package.json': JSON.stringify({ name: 'loud', version: '1.0.0', type: 'module', main: 'main.js' }),
  'node_modules/loud/main.js':
    "console.log('LOUD'); export function skillSource() { return { id: 'loud', kind: 'x', location: 'x', scan: async () => ({ skills: [], problems: [] }) }; }",
};

it('serves an agent’s skills on standard output, where nothing but the protocol stands, and tells of an edit', async () => {
  const root = tempFolder({ ...TREE, ...LOUD });
  const heard: string[] = [];
  const onChanged = (): void => void heard.push('changed');
  const listChanged = { resources: { autoRefresh: false, debounceMs: 0, onChanged } };
  const { client, stderr } = await stdioClient(['--root', root, '--trust', '--agent', 'waiter'], 'legacy', {
    listChanged,
  });
  const skills = new SkillsClient(client);
  expect((await skills.list()).skills.map(({ uri }) => uri)).toEqual(['skill://tea/SKILL.md']);
  const { messages } = await client.getPrompt({ name: 'tea' });
  // On this machine, so a path means something.
  expect(JSON.stringify(messages)).toContain(`See ${join(root, 'skills/tea')}.`);
  await waitFor('what the package printed', () => stderr().includes('LOUD'));
  writeFileSync(join(root, 'skills/tea/SKILL.md'), skillMd({ name: 'tea', description: 'Brews better tea.' }));
  await waitFor('the notification', () => heard.length > 0);
  const description = async () => (await skills.list()).skills[0]?.frontmatter.description;
  await waitFor('the edit', async () => (await description()) === 'Brews better tea.');
});

it('says on standard error which skills are not published, and ends when its client leaves', async () => {
  const root = tempFolder(TREE);
  const running = startCommand(['mcp', '--root', root]);
  await running.untilStderr('Skill "cup" is not published over MCP');
  running.child.stdin?.end();
  expect(await running.exited).toBe(0);
  expect(running.stdout()).toBe('');
});

it('names five skills that are not published, and says that there are more', async () => {
  const cups = Array.from({ length: 8 }, (_, at) => [`skills/cup-${at}/SKILL.md`, skillMd({ name: 'mug' })]);
  const running = startCommand(['mcp', '--root', tempFolder(Object.fromEntries(cups))]);
  await running.untilStderr('More skills are not published over MCP');
  running.child.stdin?.end();
  expect(await running.exited).toBe(0);
  expect(running.stderr().match(/is not published over MCP/g)).toHaveLength(5);
  expect(running.stderr().match(/More skills/g)).toHaveLength(1);
});

it('listens on HTTP, prints the address, asks for the token, and ends with status 0 on SIGTERM', async () => {
  const root = tempFolder(TREE);
  const running = startCommand(['mcp', '--http', '0', '--root', root, '--json'], {
    environment: { SKILL_MCP_TOKEN: 'correct-horse-battery' },
  });
  await running.until('}');
  const { url } = JSON.parse(running.stdout()) as { url: string };
  await expect(httpClient(url)).rejects.toThrow();
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: 'Bearer correct-horse-battery',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(await response.text()).toContain('read_skill_resource');
  running.child.kill('SIGTERM');
  expect(await running.exited).toBe(0);
});

it('refuses an agent that does not exist, a port that is none, and other machines without a token', async () => {
  const root = tempFolder(TREE);
  const mcp = (...args: string[]) => runCommand(['mcp', '--root', root, '--http', '0', ...args]);
  expect(await mcp('--agent', 'cook')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/AGENT_NOT_FOUND: No agent "cook"\. Agents: .*waiter/),
  });
  writeTree(root, { 'extensions/broken/manifest.yaml': 'id: broken\nagent: 5\n' });
  expect(await mcp('--agent', 'broken')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('AGENT_UNAVAILABLE'),
  });
  expect(await mcp('--http', 'x')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('A port is 0 to 65535'),
  });
  expect(await mcp('--host', '0.0.0.0')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('SKILL_MCP_TOKEN'),
  });
});

const OF_CONFIG = {
  ...TREE,
  'data/skill_registry/config.yaml': 'sources: [{ path: skills }]\nagents: { brewer: { skills: [tea] } }\n',
};

it('issues a token in one process that a running server obeys, and forgets it at the next request', async () => {
  const root = tempFolder(OF_CONFIG);
  const token = (...args: string[]) => runCommand(['mcp', 'token', ...args, '--root', root, '--trust', '--json']);
  const running = startCommand(['mcp', '--http', '0', '--root', root, '--trust', '--json']);
  await running.until('}');
  const url = new URL('/agents/brewer/mcp', (JSON.parse(running.stdout()) as { url: string }).url).href;
  const isServed = (given?: string): Promise<boolean> =>
    httpClient(url, 'modern', {}, undefined, given)
      .then((client) => client.listPrompts())
      .then(
        () => true,
        () => false,
      );
  expect(await isServed()).toBe(true);
  expect(await token('add', 'cook')).toMatchObject({ status: 1, stderr: expect.stringContaining('brewer') });
  const added = JSON.parse((await token('add', 'brewer')).stdout) as { readonly token: string; readonly id: string };
  expect([await isServed(), await isServed(added.token)]).toEqual([false, true]);
  const listed = await token('list');
  expect(listed.stdout).not.toContain(added.token);
  expect(JSON.parse(listed.stdout)).toMatchObject({ tokens: [{ agent: 'brewer', id: added.id, revoked: false }] });
  expect(await token('revoke', 'brewer')).toMatchObject({ status: 0 });
  expect([await isServed(), await isServed(added.token)]).toEqual([false, false]);
  expect(await token('revoke', 'brewer')).toMatchObject({ status: 2 });
  await running.untilStderr('brewer: served to test 1.0.0');
  running.child.kill('SIGTERM');
  expect(await running.exited).toBe(0);
});

it('serves an agent of the config on stdio in the thread that is named, else counts the process only', async () => {
  const root = tempFolder(OF_CONFIG);
  for (const [thread, named] of [
    [['--thread', 'T 1'], 'T 1'],
    [[], undefined],
  ] as const) {
    const { client } = await stdioClient(['--root', root, '--trust', '--agent', 'brewer', ...thread]);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['skill://tea/SKILL.md']);
    await client.callTool({ name: 'read_skill', arguments: { skill_id: 'tea' } });
    await client.callTool({ name: 'read_skill', arguments: { skill_id: 'mug' } });
    await client.close();
    const registry = await openRoot(root);
    const events = (await registry.usage.events()).slice(-2);
    expect(events).toMatchObject([{ agent: 'brewer' }, { agent: 'brewer', outcome: 'SKILL_NOT_FOUND' }]);
    const [one, other] = events.map((event) => event.thread);
    expect([one, other]).toEqual([other, named ?? expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  }
  const both = await runCommand(['mcp', '--root', root, '--http', '0', '--thread', 'T']);
  expect(both).toMatchObject({ status: 2, stderr: expect.stringContaining('/agents/<id>/threads/<thread>/mcp') });
});
