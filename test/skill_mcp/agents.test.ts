import { readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createAgentDoors, serveHttp } from 'skill-registry/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { openAgentTokens } from '../../lib/agent-tokens/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { skill } from '../helpers/boot-root.ts';
import { callTool, type Era, httpClient, type ServedRegistry, serveRegistry } from '../helpers/mcp.ts';
import { WORKFLOW } from '../helpers/rfc-workflow.ts';

const TREE = { ...skill('tea'), ...skill('bread') };
const CONFIG = { agents: { brewer: { skills: ['tea'] }, baker: { skills: ['bread'] } } };
const BY = 'person:ada';

const served = (http = {}): Promise<ServedRegistry> => serveRegistry(TREE, { config: CONFIG, http, agents: true });
const at = ({ serving }: ServedRegistry, path: string): string => new URL(path, serving.url).href;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(url: string, authorization?: string, method = 'POST', more: object = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more };
  const body = method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) : null;
  const sent = { method, headers: authorization === undefined ? headers : { ...headers, authorization }, body };
  const response = await fetch(url, sent);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

it('offers an agent the tool that makes a skill where the config names it', async () => {
  const namesFor = async (tools: object) => {
    const opened = await serveRegistry(TREE, { config: { ...CONFIG, ...tools }, agents: true });
    const names = async (path: string) =>
      (await (await httpClient(at(opened, path))).listTools()).tools.map(({ name }) => name);
    return [await names('/agents/brewer/mcp'), await names('/mcp')];
  };
  const [ofAgent, ofOthers] = await namesFor({ tools: ['read_skill', 'create_skill'] });
  expect([ofAgent?.includes('create_skill'), ofOthers?.includes('create_skill')]).toEqual([true, false]);
  expect((await namesFor({}))[0]).not.toContain('create_skill');
});

const PLACES = [
  '/mcp',
  '/agents/brewer/mcp',
  '/agents/brewer/threads/t/mcp',
  '/agents/baker/mcp',
  '/agents/none/mcp',
  '/x',
];

async function statuses(one: ServedRegistry, token?: string): Promise<readonly number[]> {
  const header = token === undefined ? undefined : `Bearer ${token}`;
  const answers: number[] = [];
  for (const path of PLACES) answers.push((await ask(at(one, path), header)).status);
  return answers;
}

it('opens the address of its agent with a token, nothing else, until it is revoked', async () => {
  const one = await served();
  const tokens = openAgentTokens(one.root);
  // Nobody has issued a token: whoever is on this machine may use every address.
  expect(await statuses(one)).toEqual([200, 200, 200, 200, 401, 404]);
  const brewer = tokens.add('brewer', BY);
  expect(await statuses(one, brewer.token)).toEqual([401, 200, 200, 401, 401, 401]);
  expect(await statuses(one)).toEqual([200, 401, 401, 401, 401, 401]);
  const second = tokens.add('brewer', BY);
  expect(tokens.revoke('brewer', BY, brewer.id)).toMatchObject([{ id: brewer.id }]);
  expect(await statuses(one, brewer.token)).toEqual([401, 401, 401, 401, 401, 401]);
  expect(await statuses(one, second.token)).toEqual([401, 200, 200, 401, 401, 401]);
  // With the last one gone its address stays closed, and also when the file with the decisions is lost.
  tokens.revoke('brewer', BY);
  expect(await statuses(one)).toEqual([200, 401, 401, 401, 401, 401]);
  rmSync(openTrust().file);
  expect(await statuses(one)).toEqual([200, 401, 401, 401, 401, 401]);
});

it('opens /mcp alone with the token of the server', async () => {
  const one = await served({ token: 'correct-horse' });
  expect(await statuses(one)).toEqual([401, 401, 401, 401, 401, 401]);
  expect(await statuses(one, 'correct-horse')).toEqual([200, 401, 401, 401, 401, 404]);
  const { token } = openAgentTokens(one.root).add('baker', BY);
  expect(await statuses(one, token)).toEqual([401, 401, 401, 200, 401, 401]);
});

it('asks for a token at every address beyond loopback', async () => {
  const { door } = await serveRegistry(TREE, { config: CONFIG });
  await expect(serveHttp(door, { host: '0.0.0.0' })).rejects.toMatchObject({ code: 'MCP_TOKEN_MISSING' });
  const one = await served({ host: '0.0.0.0', token: 'correct-horse' });
  const here = (url: string): ServedRegistry => ({
    ...one,
    serving: { ...one.serving, url: url.replace('0.0.0.0', '127.0.0.1') },
  });
  const none = [401, 401, 401, 401, 401, 401];
  expect(await statuses(here(one.serving.url))).toEqual(none);
  // A token of an agent is enough to listen there, and /mcp stays closed.
  const { token } = openAgentTokens(one.root).add('brewer', BY);
  const agents = createAgentDoors(one.registry, one.root, one.registry.admin.agents());
  const other = await serveHttp(door, { host: '0.0.0.0', agents });
  onTestFinished(() => other.close());
  expect(await statuses(here(other.url))).toEqual(none);
  expect(await statuses(here(other.url), token)).toEqual([401, 200, 200, 401, 401, 401]);
});

it('says nothing by a 401: the same answer for every wrong token, address and way to ask', async () => {
  const one = await served();
  const tokens = openAgentTokens(one.root);
  const { token } = tokens.add('brewer', BY);
  const gone = tokens.add('baker', BY);
  tokens.revoke('baker', BY);
  const answers: Answer[] = [];
  for (const header of [
    undefined,
    'Bearer wrong',
    `Bearer ${gone.token}`,
    `Bearer ${token}`,
    `Basic ${token}`,
    'Bearer',
  ])
    for (const path of [
      '/agents/baker/mcp',
      '/agents/none/mcp',
      '/agents/baker/threads/%00/mcp',
      '/agents/__proto__/mcp',
    ])
      for (const method of ['POST', 'GET', 'DELETE', 'PUT'])
        answers.push(await ask(at(one, path), header, method, { 'mcp-session-id': 'a' }));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const shown = answers.map(({ headers }) => JSON.stringify([...headers].filter(([name]) => name !== 'date')));
  expect(new Set(shown).size).toBe(1);
});

it('keeps digests of tokens only, in a file of its user, and none of another root', async () => {
  const one = await served();
  const other = await served();
  const { token } = openAgentTokens(one.root).add('brewer', BY);
  const { file } = openTrust();
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(openAgentTokens(other.root).check(token)).toEqual({ isOfAgent: false, wasIssued: false });
  expect(await statuses(other)).toEqual([200, 200, 200, 200, 401, 404]);
});

it.each<Era>(['modern', 'legacy'])('counts what a %s client does in the thread that it names', async (era) => {
  const one = await served();
  const { registry } = one;
  const read = async (path: string, meta: object = {}): Promise<void> => {
    const client = await httpClient(at(one, path), era);
    await client.callTool({ name: 'read_skill', arguments: { skill_id: 'tea' }, _meta: { ...meta } });
    await client.readResource({ uri: 'skill://tea/SKILL.md', _meta: { ...meta } });
    await client.getPrompt({ name: 'tea', _meta: { ...meta } });
  };
  await read('/agents/brewer/threads/of%20path/mcp');
  await read('/agents/brewer/threads/of%20path/mcp', { 'skill-registry/thread': 'of meta' });
  await read('/agents/brewer/mcp');
  const events = await registry.usage.events({ limit: 100 });
  expect(events.every(({ agent }) => agent === 'brewer')).toBe(true);
  const threads = events.map(({ thread }) => thread);
  expect(threads.slice(0, 6)).toEqual([...Array(3).fill('of path'), ...Array(3).fill('of meta')]);
  // Of a client of the 2025 protocol its session is the thread; of a newer one there is none.
  expect(new Set(threads.slice(6)).size).toBe(1);
  expect(threads[6]).toEqual(era === 'legacy' ? expect.stringMatching(/^[0-9a-f-]{36}$/) : undefined);
});

it('refuses a thread without a name, and a session that it does not know', async () => {
  const one = await served();
  const client = await httpClient(at(one, '/agents/brewer/mcp'));
  const wrong = { name: 'read_skill', arguments: { skill_id: 'tea' }, _meta: { 'skill-registry/thread': '' } };
  await expect(client.callTool(wrong)).rejects.toThrow('A thread is named by');
  expect((await ask(at(one, '/agents/brewer/threads/%00/mcp'))).status).toBe(400);
  expect((await ask(at(one, '/agents/brewer/mcp'), undefined, 'POST', { 'mcp-session-id': 'x' })).status).toBe(404);
  expect(await callTool(client, 'read_skill', { skill_id: 'bread' })).toMatchObject({ isError: true });
});

it('keeps the workflow of a thread from the same name at another agent', async () => {
  const workflow = { pack: WORKFLOW.id };
  const pack = {
    'support/pack.json': JSON.stringify(WORKFLOW),
    ...Object.fromEntries(
      ['billing', 'technical', 'general'].flatMap((name) =>
        Object.entries(skill(name)).map(([path, text]) => [`support/${path}`, text]),
      ),
    ),
  };
  const agents = { one: { skills: ['*'], workflow }, other: { skills: ['*'], workflow } };
  const config = { sources: [{ pack: 'support/pack.json' }], agents };
  const mcp = { tools: ['list_skills', 'workflow_event'] };
  const here = await serveRegistry(pack, { config, mcp, agents: true });
  const seen = async (agent: string): Promise<unknown> => {
    const client = await httpClient(at(here, `/agents/${agent}/threads/t/mcp`));
    const { result } = await callTool(client, 'list_skills', {});
    return (result.skills as { skill_id: string }[]).map(({ skill_id }) => skill_id);
  };
  expect([await seen('one'), await seen('other')]).toEqual([['general'], ['general']]);
  const client = await httpClient(at(here, '/agents/one/threads/t/mcp'));
  expect(await callTool(client, 'workflow_event', { event: 'billing' })).toMatchObject({ isError: false });
  expect([await seen('one'), await seen('other')]).toEqual([['billing'], ['general']]);
});
