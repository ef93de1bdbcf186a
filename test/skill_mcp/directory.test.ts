import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createMcpServer, createSkillMcpDoor, serveHttp } from 'skill-registry/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { serveStreams } from '../../extensions/skill_mcp/stdio.ts';
import { callTool, type Era, httpClient, serveRegistry } from '../helpers/mcp.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd, type Tree } from '../helpers/temp-folder.ts';

const SKILL_DIR = '$'.concat('{SKILL_DIR}');
const TREE: Tree = {
  'skills/brew/SKILL.md': skillMd(
    { name: 'brew', description: 'Brews tea.', 'allowed-tools': 'Read Bash(git add *)' },
    `Run scripts/brew.mjs in ${SKILL_DIR}.`,
  ),
  'skills/brew/scripts/brew.mjs': 'console.log("brewed");',
};
const TOOLS = ['read_skill', 'skill', 'load_skill', 'list_skills', 'read_skill_resource'];
const CALLS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['read_skill', { skill_id: 'brew' }],
  ['read_skill', { skill_id: 'brew', view: 'raw' }],
  ['skill', { action: 'view', name: 'brew' }],
  ['skill', { action: 'list' }],
  ['load_skill', { name: 'brew' }],
  ['list_skills', {}],
  ['read_skill_resource', { skill_id: 'brew', path: 'scripts/brew.mjs' }],
];

it.each<[era: Era, local: boolean]>([
  ['modern', false],
  ['legacy', false],
  ['modern', true],
  ['legacy', true],
])('is never told over HTTP, whatever the door was made with (%s, local: %s)', async (era, local) => {
  const { serving, root } = await serveRegistry(TREE, { mcp: { local, tools: TOOLS } });
  const client = await httpClient(serving.url, era);
  for (const [tool, args] of CALLS) {
    const answer = await client.callTool({ name: tool, arguments: args });
    expect(answer.isError ?? false, tool).toBe(false);
    for (const folder of [root, realpathSync(root)]) expect(JSON.stringify(answer), tool).not.toContain(folder);
    expect(answer.structuredContent, tool).not.toHaveProperty('directory');
  }
  // Its session of the 2025 protocol has the body already.
  const { result } = await callTool(client, 'read_skill', { skill_id: 'brew', again: true });
  expect(result).toMatchObject({
    allowed_tools: ['Read', 'Bash(git add *)'],
    resources: [{ path: 'scripts/brew.mjs' }],
  });
  const { messages } = await client.getPrompt({ name: 'brew' });
  expect(messages).toMatchObject([{ content: { text: expect.stringContaining('in skill://brew.') } }]);
});

it('is told over stdio by the library, and over HTTP by the same door is not', async () => {
  const { registry, root } = await openRegistry(TREE);
  const door = createSkillMcpDoor(registry);
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = '';
  output.on('data', (data) => {
    text += String(data);
  });
  const served = serveStreams(door, new AbortController().signal, { input, output });
  const call = (id: number, method: string, params: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  call(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  });
  call(2, 'tools/call', { name: 'read_skill', arguments: { skill_id: 'brew' } });
  await expect.poll(() => text).toContain('"id":2');
  expect(text).toContain(`"directory":${JSON.stringify(realpathSync(join(root, 'skills/brew')))}`);
  input.end();
  await served;

  const serving = await serveHttp(door);
  onTestFinished(() => serving.close());
  const { result } = await callTool(await httpClient(serving.url), 'read_skill', { skill_id: 'brew' });
  expect(result).toMatchObject({ success: true });
  expect(result).not.toHaveProperty('directory');
});

it.each([
  [false, undefined],
  [true, 'skills/brew'],
])('is told over a transport of one’s own only where the client is said to be local: %s', async (local, expected) => {
  const { registry, root } = await openRegistry(TREE);
  const server = await createMcpServer(registry, { local });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await Promise.all([server.connect(theirs), client.connect(mine)]);
  onTestFinished(() => client.close());
  const { result } = await callTool(client, 'read_skill', { skill_id: 'brew' });
  expect(result.directory).toBe(expected && realpathSync(join(root, expected)));
});

it.each<[local: boolean]>([[false], [true]])(
  'stands in a catalog of elements only where the client is local: %s',
  async (local) => {
    const { registry, root } = await openRegistry(TREE, { catalog: { format: 'xml' } });
    const door = createSkillMcpDoor(registry, { local });
    const server = await door.createServer();
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'test', version: '1.0.0' });
    await Promise.all([server.connect(theirs), client.connect(mine)]);
    onTestFinished(() => client.close());
    const file = local ? join(root, 'skills/brew/SKILL.md') : 'skill://brew/SKILL.md';
    expect(client.getInstructions()).toContain(`<location>${file}</location>`);
    // The same door over HTTP, after that text was made.
    const serving = await serveHttp(door);
    onTestFinished(() => serving.close());
    const remote = await httpClient(serving.url);
    expect(remote.getInstructions()).toContain('<location>skill://brew/SKILL.md</location>');
    expect(remote.getInstructions()).not.toContain(root);
  },
);
