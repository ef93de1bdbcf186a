import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createMcpServer, createSkillMcpDoor, serveHttp } from 'skill-registry/mcp';
import { expect, it } from 'vitest';
import { callTool, httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }) };
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Status and body of a plain POST; `fetch` would not send these headers. */
function post(
  url: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array = PING,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { ...HEADERS, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

it('answers to the names of this machine and to those it was given, from no foreign page', async () => {
  const { serving } = await serveRegistry(TEA, { http: { allowedHosts: ['skills.example'] } });
  expect(await post(serving.url)).toMatchObject({ status: 200 });
  for (const host of ['localhost:1', '[::1]', 'skills.example:8080']) {
    expect(await post(serving.url, { host })).toMatchObject({ status: 200 });
  }
  expect(await post(serving.url, { host: 'evil.example' })).toMatchObject({
    status: 403,
    body: expect.stringContaining(
      'Allowed: localhost, 127.0.0.1, [::1], skills.example; allowed_hosts, or --allow-host',
    ),
  });
  expect(await post(serving.url, { origin: 'http://localhost:3000' })).toMatchObject({ status: 200 });
  for (const origin of ['http://evil.example', 'null']) {
    expect(await post(serving.url, { origin })).toMatchObject({ status: 403 });
  }
});

it('asks for the token on every request once there is one', async () => {
  const { serving } = await serveRegistry(TEA, { http: { token: 'correct-horse-battery' } });
  expect(await post(serving.url)).toMatchObject({ status: 401 });
  expect(await post(serving.url, { authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
  expect(await post(serving.url, { authorization: 'Bearer correct-horse-battery' })).toMatchObject({ status: 200 });
});

it('opens no port to other machines without a token, and says when it cannot listen', async () => {
  const { door, serving } = await serveRegistry(TEA);
  await expect(serveHttp(door, { host: '0.0.0.0' })).rejects.toMatchObject({
    code: 'MCP_TOKEN_MISSING',
    message: expect.stringContaining('SKILL_MCP_TOKEN'),
  });
  const taken = Number(new URL(serving.url).port);
  await expect(serveHttp(door, { port: taken })).rejects.toMatchObject({
    code: 'MCP_LISTEN_FAILED',
    message: expect.stringContaining('the port is taken'),
  });
});

it('refuses what is too large, no JSON, no UTF-8, and elsewhere', async () => {
  const { serving } = await serveRegistry(TEA, { http: { bodyBytes: 2000 } });
  expect(await post(serving.url, {}, JSON.stringify({ filler: 'x'.repeat(3000) }))).toMatchObject({ status: 413 });
  expect(await post(serving.url, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
  for (const body of ['{', '', 'null', Buffer.from(PING.replace('ping', 'p\xefng'), 'latin1')]) {
    expect(await post(serving.url, {}, body)).toMatchObject({
      status: 400,
      body: expect.stringMatching(/"code":-32[67]00/),
    });
  }
  expect(await post(new URL('/', serving.url).href)).toMatchObject({ status: 404 });
  expect(await post(serving.url)).toMatchObject({ status: 200 });
});

it('waits only so long for a request to arrive, and for its answer to begin', async () => {
  const opened = await openRegistry(TEA);
  const slow = { ...opened.registry, context: () => new Promise<string>(() => undefined) };
  const door = createSkillMcpDoor(slow);
  const serving = await serveHttp(door, { requestSeconds: 0.2 });
  expect(await post(serving.url)).toMatchObject({ status: 503, body: expect.stringContaining('within 0.2 s') });
  const socket = connect(Number(new URL(serving.url).port), '127.0.0.1');
  let heard = '';
  socket.on('data', (data) => {
    heard += String(data);
  });
  socket.write('POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{');
  await waitFor('the connection to be ended', () => socket.destroyed || socket.readableEnded);
  expect(heard).toMatch(/^HTTP\/1\.1 (408|503)/);
  await serving.close();
});

it('refuses a body that does not end as soon as it is too large', async () => {
  const { serving } = await serveRegistry(TEA);
  const sent = request(serving.url, { method: 'POST', headers: HEADERS });
  const status = new Promise((resolve, reject) => {
    sent.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
  });
  const more = (): void => void sent.write(Buffer.alloc(65_536, 'x'), (error) => error || setImmediate(more));
  more();
  expect(await status).toBe(413);
  sent.destroy();
  expect(await post(serving.url)).toMatchObject({ status: 200 });
});

it('serves several clients at once, each with what it asks for', async () => {
  const { serving } = await serveRegistry({
    ...TEA,
    'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }, 'Hold it.'),
  });
  const clients = await Promise.all([httpClient(serving.url), httpClient(serving.url, 'legacy')]);
  const asked = clients.flatMap((client) =>
    ['tea', 'cup'].map(async (id) => (await callTool(client, 'read_skill', { skill_id: id })).result.skill_id),
  );
  expect(await Promise.all(asked)).toEqual(['tea', 'cup', 'tea', 'cup']);
});

it('tells waiting clients when the lists of resources and prompts change, and ends their streams when it closes', async () => {
  const { serving, root, registry } = await serveRegistry(TEA);
  const heard: string[] = [];
  const onChanged = (what: string) => ({ autoRefresh: false, debounceMs: 0, onChanged: () => void heard.push(what) });
  const client = await httpClient(serving.url, 'modern', {
    listChanged: { resources: onChanged('resources'), prompts: onChanged('prompts') },
  });
  await waitFor('the subscription', async () => (await serving.status()).subscriptions === 1);
  writeTree(root, { 'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }) });
  await registry.refresh();
  await waitFor('both notifications', () => heard.length === 2);
  expect(heard.sort()).toEqual(['prompts', 'resources']);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['cup', 'tea']);
  // Only the body: no list of prompts shows it.
  writeFileSync(
    join(root, 'skills/tea/SKILL.md'),
    skillMd({ name: 'tea', description: 'Brews tea.' }, 'Another body.'),
  );
  await registry.refresh();
  await waitFor('the notification', () => heard.length === 3);
  expect(heard[2]).toBe('resources');
  await serving.close();
  expect(await serving.status()).toEqual({ connections: 0, subscriptions: 0 });
  await expect(
    new StreamableHTTPClientTransport(new URL(serving.url)).send({ jsonrpc: '2.0', method: 'x' }),
  ).rejects.toThrow();
});

it('gives a server for a transport of one’s own, which tells of changes until it is closed', async () => {
  const { registry, root } = await openRegistry(TEA);
  const server = await createMcpServer(registry);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const heard: string[] = [];
  const client = new Client({ name: 'test', version: '1.0.0' });
  client.setNotificationHandler('notifications/prompts/list_changed', () => void heard.push('prompts'));
  await Promise.all([server.connect(ours), client.connect(theirs as never)]);
  expect((await client.listTools()).tools).toHaveLength(3);
  writeTree(root, { 'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Holds tea.' }) });
  await registry.refresh();
  await waitFor('the notification', () => heard.length === 1);
  await client.close();
  await expect(createMcpServer(registry, { tools: ['nope'] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(createMcpServer(registry, { pageSize: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
