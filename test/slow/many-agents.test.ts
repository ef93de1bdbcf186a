import { request } from 'node:http';
import type { Client } from '@modelcontextprotocol/client';
import type { SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { openAgentTokens } from '../../lib/agent-tokens/index.ts';
import { callTool, httpClient, serveRegistry } from '../helpers/mcp.ts';
import { skillMd, type Tree } from '../helpers/temp-folder.ts';

const SCOPES = ['a', 'b', 'c'] as const;
type Scope = (typeof SCOPES)[number];
const IDS = Array.from({ length: 10 }, (_, index) => index);
const AGENTS = Array.from({ length: 20 }, (_, index) => `agent-${index}`);
const scopeOf = (agent: string): Scope => SCOPES[Number(agent.slice(6)) % 3] as Scope;
const idsOf = (scope: Scope): string[] => IDS.map((n) => `${scope}-skill-${n}`);
const idsNotOf = (scope: Scope): string[] => [...SCOPES.filter((one) => one !== scope).flatMap(idsOf), 'nobodys'];

const TAGGED: Readonly<Record<string, unknown>> = { tags: ['shared'] };
/** Scope a is named by ids, b by its source, c by a tag in a source, which a skill elsewhere has, too. */
const FOLDERS: Readonly<Record<Scope, string>> = { a: 'skills', b: 'platform', c: 'team' };
const TREE: Tree = Object.fromEntries(
  [
    ...SCOPES.flatMap((scope) => idsOf(scope).map((id) => [`${FOLDERS[scope]}/${id}`, id] as const)),
    ['skills/nobodys', 'nobodys'] as const,
  ].flatMap(([folder, name]) => [
    [`${folder}/SKILL.md`, skillMd({ name, description: `About ${name}.`, ...TAGGED }, `Marker of ${name}.`)],
    [`${folder}/notes.md`, `Notes of ${name}.`],
  ]),
);
const SEES: Readonly<Record<Scope, object>> = {
  a: { skills: idsOf('a') },
  b: { sources: ['platform'] },
  c: { tags: { team: ['shared'] } },
};
const CONFIG = {
  sources: [{ path: 'skills' }, { path: 'platform' }, { path: 'team' }],
  agents: Object.fromEntries(AGENTS.map((agent) => [agent, SEES[scopeOf(agent)]])),
};
/** The same name with every agent. */
const THREAD = { 'skill-registry/thread': 'shared' };

async function serveAgents() {
  const served = await serveRegistry(TREE, { config: CONFIG, agents: true });
  const tokens = openAgentTokens(served.root);
  const tokenOf = new Map(AGENTS.map((agent) => [agent, tokens.add(agent, 'person:ada').token]));
  const connect = (agent: string): Promise<Client> => {
    const era = Number(agent.slice(6)) % 2 === 0 ? 'modern' : 'legacy';
    const url = new URL(`/agents/${agent}/mcp`, served.serving.url).href;
    return httpClient(url, era, {}, onTestFinished, tokenOf.get(agent));
  };
  return { ...served, connect, tokenOf };
}

const load = (client: Client, skill_id: string) =>
  client.callTool({ name: 'read_skill', arguments: { skill_id }, _meta: THREAD });

const propose = (client: Client, skill_id: string, agent: string) =>
  callTool(client, 'propose_skill_update', {
    skill_id,
    old_string: `Marker of ${skill_id}.`,
    new_string: `Marker of ${skill_id}, as ${agent} knows it.`,
    justification: `${agent} found it.`,
  });

/** How often each agent loaded, was refused and proposed, and in which threads. */
async function figuresOf(registry: SkillRegistry) {
  const events = await registry.usage.events({ limit: 10_000 });
  return AGENTS.map((agent) => {
    const own = events.filter((event) => event.agent === agent);
    const loads = own.filter(({ kind }) => kind === 'load');
    return {
      loads: loads.map(({ skillId }) => skillId).sort(),
      threads: [...new Set(loads.map(({ thread }) => thread))],
      proposals: own.filter(({ kind }) => kind === 'proposal').length,
      refusals: own.filter(({ kind }) => kind === 'refusal').length,
    };
  });
}

it('serves twenty agents at once over one server, each figure and each scope exact', async () => {
  const { registry, connect } = await serveAgents();
  const clients = new Map(await Promise.all(AGENTS.map(async (agent) => [agent, await connect(agent)] as const)));
  const work = [...clients].flatMap(([agent, client]) => {
    const own = idsOf(scopeOf(agent));
    const number = Number(agent.slice(6));
    return [
      ...own.map((id) => load(client, id)),
      ...[number % 10, (number + 5) % 10].map((n) => propose(client, own[n] as string, agent)),
    ].map(async (call) => [agent, JSON.stringify(await call)] as const);
  });
  expect(work).toHaveLength(240);
  const answers = await Promise.all(work);
  expect(answers.filter(([, answer]) => answer.includes('"isError":true'))).toEqual([]);
  const lists = [...clients].flatMap(([agent, client]) =>
    [
      callTool(client, 'list_skills', { limit: 200 }),
      callTool(client, 'list_skills', { query: 'marker of nobodys', limit: 200 }),
      callTool(client, 'list_proposals', {}),
      client.listResources(),
      client.listPrompts(),
      Promise.resolve(client.getInstructions()),
    ].map(async (call) => [agent, JSON.stringify(await call)] as const),
  );
  for (const [agent, answer] of [...answers, ...(await Promise.all(lists))])
    expect([
      agent,
      idsNotOf(scopeOf(agent)).filter((id) => answer.includes(`${id}"`) || answer.includes(`${id}.`)),
    ]).toEqual([agent, []]);
  expect(await figuresOf(registry)).toEqual(
    AGENTS.map((agent) => ({ loads: idsOf(scopeOf(agent)), threads: ['shared'], proposals: 2, refusals: 0 })),
  );
  const proposals = await registry.proposals.list('all');
  expect(proposals).toHaveLength(40);
  for (const agent of AGENTS) {
    const own = proposals.filter(({ author }) => author === `agent:${agent}`);
    expect(own.map(({ skillId }) => idsOf(scopeOf(agent)).includes(skillId))).toEqual([true, true]);
    expect((await registry.usage.report({ agent })).totals).toMatchObject({ loads: 10 });
  }
});

it('gives two hundred hostile calls with the token of one agent nothing of another, and tells nothing', async () => {
  const { registry, serving, connect, tokenOf } = await serveAgents();
  const [attacker, victim] = ['agent-0', 'agent-1'] as const;
  const other = await connect(victim);
  await load(other, 'b-skill-1');
  await propose(other, 'b-skill-1', victim);
  const before = await figuresOf(registry);
  let calls = 0;

  const outside = AGENTS.slice(1).flatMap((agent) => [
    `/agents/${agent}/mcp`,
    `/agents/${agent}/threads/shared/mcp`,
    `/agents/${attacker}/../${agent}/mcp`,
    `/agents/${attacker}%2f..%2f${agent}/mcp`,
    `/agents/${attacker}/%2e%2e/${agent}/threads/shared/mcp`,
  ]);
  const odd = [
    '/mcp',
    '/',
    '/agents',
    '/agents/',
    '/agents/nobody/mcp',
    `/agents/${attacker}`,
    `/agents/${attacker}/mcp/`,
  ];
  const refused = await Promise.all(
    [...outside, ...odd].map((path) => {
      calls++;
      return raw(serving.url, path, tokenOf.get(attacker) as string);
    }),
  );
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
  expect(new Set(refused.map(({ body }) => body)).size).toBe(1);

  const client = await connect(attacker);
  const wanted = idsNotOf('a').slice(0, 12);
  const given: [string, string][] = [];
  const attempt = async (id: string, call: Promise<unknown>): Promise<void> => {
    calls++;
    given.push([id, JSON.stringify(await call.catch((error: Error) => error.message))]);
  };
  for (const id of wanted) {
    await attempt(id, load(client, id));
    await attempt(id, load(client, `platform:${id}`));
    await attempt(id, callTool(client, 'read_skill_resource', { skill_id: id, path: 'notes.md' }));
    await attempt(id, callTool(client, 'read_skill_resource', { skill_id: 'a-skill-1', path: `../${id}/SKILL.md` }));
    await attempt(id, client.readResource({ uri: `skill://${id}/SKILL.md`, _meta: THREAD }));
    await attempt(id, client.readResource({ uri: `skill://a-skill-1/..%2f${id}/notes.md` }));
    await attempt(id, client.getPrompt({ name: id, _meta: THREAD }));
    await attempt(id, propose(client, id, attacker));
  }
  await attempt('', callTool(client, 'list_skills', { source: 'platform' }));
  await attempt('', callTool(client, 'list_skills', { tag: 'shared', limit: 200 }));
  await attempt('', callTool(client, 'list_proposals', { skill_id: 'b-skill-1' }));
  await attempt('', callTool(client, 'list_proposals', {}));
  expect(calls).toBeGreaterThanOrEqual(200);
  for (const [id, answer] of given) {
    const said = id === '' ? answer : answer.replaceAll(id, '');
    expect([id, /[bc]-skill-\d|nobodys|(Marker|Notes) of(?! a-)|agent-1\b/.exec(said)?.[0]]).toEqual([id, undefined]);
  }

  // Nothing is counted for the others, and nobody but the attacker is said to have asked.
  const after = await figuresOf(registry);
  expect(after.slice(1)).toEqual(before.slice(1));
  expect(after[0]).toMatchObject({ loads: [], proposals: 0 });
  expect(after[0]?.refusals).toBeGreaterThan(0);
  expect(await registry.proposals.list('all')).toHaveLength(1);
});

// --- internal ---

/** With the path as it is written, which `fetch` would put in order. */
function raw(url: string, path: string, token: string): Promise<{ readonly status: number; readonly body: string }> {
  const { hostname, port } = new URL(url);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method: 'POST', headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    const params = { name: 'read_skill', arguments: { skill_id: 'b-skill-1' } };
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  });
}
