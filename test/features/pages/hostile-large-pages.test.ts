import { readdirSync } from 'node:fs';
import type { SkillRegistry } from 'skill-registry';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tarGz, zip } from '../../helpers/archives.ts';
import { agent, bootRoot } from '../../helpers/boot-root.ts';
import { attack } from '../../helpers/held.ts';
import { largePage, pageSkill } from '../../helpers/large-page.ts';
import { httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { copyIn, problemsOf, readPage } from '../../helpers/published-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { treeOf } from '../../helpers/tree-of.ts';

const COOK = { agentId: 'cook' };

let cache = '';
beforeEach(() => {
  cache = tempFolder();
  return () => void vi.unstubAllEnvs();
});

/** A skill with an attack in its second file. Its body, files and the name of one have a word that nobody may be told. */
const bad = (host: number): Buffer =>
  tarGz([
    { path: 'SKILL.md', content: pageSkill('bad', 'A body, UNSEEN.') },
    { path: 'run.sh', content: `echo UNSEEN\n${attack(host)}\n`, mode: 0o755 },
    { path: 'UNSEEN.md', content: 'UNSEEN.' },
  ]);

type Door = (registry: SkillRegistry) => unknown;

const DOORS: readonly (readonly [string, Door])[] = [
  ['read', (registry) => registry.read('bad', {}, COOK)],
  ['read, for the code that binds an agent', (registry) => registry.read('bad', { audience: 'binding' }, COOK)],
  ['the tool read_skill', (registry) => runRegistryTool(registry, 'read_skill', { skill_id: 'bad' }, COOK)],
  [
    'the tool read_skill_resource',
    (registry) => runRegistryTool(registry, 'read_skill_resource', { skill_id: 'bad', path: 'run.sh' }, COOK),
  ],
  ['the raw text', (registry) => registry.read('bad', { view: 'raw' }, COOK)],
  ['its bytes', async (registry) => String(await registry.admin.readBytes('bad', {}, COOK))],
  ['a file', (registry) => registry.readResource('bad', 'run.sh', COOK)],
  ['a file that it does not have', (registry) => registry.readResource('bad', 'none.md', COOK)],
  ['the list of its files', (registry) => registry.admin.resources('bad', COOK)],
  ['a slash command', (registry) => registry.admin.prepareMessage('bad', '', COOK)],
  ['the text of a turn', (registry) => registry.context('use the skill bad', COOK)],
  ['a phrase of its body', (registry) => registry.list({ query: '"a body"', why: true }, COOK)],
];

async function said(door: Door, registry: SkillRegistry): Promise<string> {
  try {
    return JSON.stringify(await door(registry));
  } catch (error) {
    return `${error} ${JSON.stringify((error as { details?: object }).details)}`;
  }
}

describe('of a skill whose files have an attack', () => {
  it.each(DOORS)('nothing leaves through this door, whichever is asked first: %s', async (name, first) => {
    const page = await largePage({ bad: bad(110 + DOORS.findIndex(([one]) => one === name)), tea: pageSkill('tea') });
    const registry = await readPage(page.url, cache, {});
    const answers: string[] = [];
    for (const door of [first, ...DOORS.map(([, one]) => one)]) answers.push(await said(door, registry));
    for (const answer of answers) expect(answer).not.toMatch(/UNSEEN|203\.0\.113/);
    expect(page.asked()).toEqual(['bad']);
    expect(registry.snapshot().byId.get('bad')?.heldBecause).toMatch(/run\.sh:2\)$/);
    expect(registry.visible(COOK).map(({ id }) => id)).not.toContain('bad');
    expect((await registry.read('bad')).heldBecause).toMatch(/run\.sh:2/);
  });

  it('and nothing by inject: bodies, with which no body of the others is fetched either', async () => {
    const page = await largePage({ bad: bad(130), tea: pageSkill('tea') });
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const config = { sources: [{ wellKnown: page.url }], inject: 'bodies' as const };
    const registry = await openRoot(tempFolder(), { config });
    const text = (await registry.context('makes tea', COOK)) ?? '';
    expect([text.includes('tea'), text.includes('UNSEEN'), page.asked()]).toEqual([true, false, []]);
  });

  it('and nothing over MCP: tools, prompts and resources', async () => {
    const page = await largePage({ bad: bad(131), tea: pageSkill('tea') });
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const { serving, door } = await serveRegistry({}, { config: { sources: [{ wellKnown: page.url }] } });
    const client = await httpClient(serving.url);
    const asks = [
      () => client.readResource({ uri: 'skill://bad/SKILL.md' }),
      () => client.getPrompt({ name: 'bad' }),
      () => client.callTool({ name: 'read_skill', arguments: { skill_id: 'bad' } }),
      () => client.readResource({ uri: 'skill://bad/run.sh' }),
    ];
    for (const ask of asks) expect(JSON.stringify(await ask().catch(String))).not.toMatch(/UNSEEN|203\.0\.113/);
    expect(page.asked()).toEqual(['bad']);
    expect(await client.readResource({ uri: 'skill://tea/SKILL.md' })).toMatchObject({
      contents: [{ text: expect.stringContaining('MARKED tea.') }],
    });
    expect([page.asked(), (await door.problems()).length]).toEqual([['tea'], 0]);
  });

  it('and no agent runs that is bound to it, while one that is bound to another has its body', async () => {
    const page = await largePage({ bad: bad(132), tea: pageSkill('tea') });
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const agents = {
      ...agent('cook', 'uses_skills: [bad], model: m'),
      ...agent('waiter', 'uses_skills: [tea], model: m'),
    };
    const { kernel, model } = await bootRoot(agents, { sources: [{ wellKnown: page.url }] });
    await expect(kernel.invokeAgent('cook', 'hello')).rejects.toMatchObject({ code: 'AGENT_UNAVAILABLE' });
    expect(model.requests).toEqual([]);
    await kernel.invokeAgent('waiter', 'hello');
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('MARKED tea.');
    expect(page.asked()).toEqual(['bad', 'tea']);
  });
});

it('an entry with an attack in its description holds the skill, nobody is told, and nothing is fetched', async () => {
  const page = await largePage({ tea: pageSkill('tea') });
  page.put('bad', pageSkill('bad'), { description: `Makes MARKED. ${attack(133)}` });
  const registry = await readPage(page.url, cache);
  for (const [, door] of DOORS) expect(await said(door, registry)).not.toMatch(/MARKED\.|203\.0\.113/);
  expect([page.asked(), registry.visible(COOK).some(({ id }) => id === 'bad')]).toEqual([[], false]);
  expect(problemsOf(registry)).toEqual([expect.stringMatching(/^warning SKILL_HELD: .*"bad".*approvals allow/)]);
  const trust = await registry.admin.trustOf('bad');
  await registry.admin.decideTrust('allow', 'bad', { digest: trust.digest, by: 'person:ada' });
  expect(registry.visible(COOK).some(({ id }) => id === 'bad')).toBe(true);
  expect((await registry.read('bad', {}, COOK)).content).toBe('MARKED bad.');
});

it('judges another description of the same artifact again', async () => {
  const page = await largePage({ tea: pageSkill('tea') });
  const registry = await readPage(page.url, cache, { interval_seconds: 1 });
  expect(await said((one) => one.context('makes tea', COOK), registry)).toContain('tea');
  page.put('tea', pageSkill('tea'), { description: `Makes tea. ${attack(134)}` });
  const seen = new Set<string>();
  await vi.waitFor(async () => {
    await registry.refresh();
    seen.add(await said((one) => one.context('makes tea', COOK), registry));
    expect(registry.snapshot().byId.get('tea')?.description).toContain('203.0.113');
  }, 10_000);
  expect([...seen].join('\n')).not.toContain('203.0.113');
  expect(registry.snapshot().byId.get('tea')?.heldBecause).toBeDefined();
});

const files = (...paths: readonly string[]): Parameters<typeof tarGz>[0] => [
  { path: 'SKILL.md', content: pageSkill('bad') },
  ...paths.map((path) => ({ path, content: 'x' })),
];

describe('an artifact that cannot be used', () => {
  it.each<[string, string | Buffer, object, RegExp]>([
    ['has another digest', pageSkill('bad'), { digest: `sha256:${'0'.repeat(64)}` }, /the index says sha256:0000/],
    ['is no archive', Buffer.from('x'), {}, /neither a \.tar\.gz nor a \.zip/],
    ['leads elsewhere', tarGz(files('../../IGNORE-ALL')), {}, /no path below it/],
    ['is a zip that leads elsewhere', zip(files('../IGNORE-ALL')), {}, /no path below it|refused/],
    ['has a file that is a folder', tarGz(files('IGNORE-ALL', 'IGNORE-ALL/b')), {}, /is a file and a folder/],
    ['has no SKILL.md', tarGz([{ path: 'IGNORE-ALL', content: 'x' }]), {}, /no SKILL\.md at its top/],
    ['has too many files', tarGz(files(...Array.from({ length: 1_001 }, (_, at) => `${at}.md`))), {}, /more than 1000/],
    ['lies nowhere', pageSkill('bad'), { url: 'artifacts/bad.IGNORE-ALL' }, /status 404/],
    ['lies elsewhere over http', pageSkill('bad'), { url: 'http://192.0.2.1/IGNORE-ALL' }, /expected https:/],
  ])(
    'is refused where it %s: people are told why, no agent a word of it, and nothing stays',
    async (_, artifact, fields, why) => {
      const page = await largePage({ tea: pageSkill('tea') });
      page.put('bad', artifact, { ...fields });
      const registry = await readPage(page.url, cache);
      for (const [, door] of DOORS) expect(await said(door, registry)).not.toMatch(/IGNORE|192\.0\.2\.1|MARKED bad/);
      await expect(registry.read('bad', {}, COOK)).rejects.toMatchObject({
        code: expect.stringMatching(/^ORIGIN_(REFUSED|UNAVAILABLE)$/),
        message: expect.stringContaining('skill-registry show bad says why'),
      });
      await expect(registry.read('bad')).rejects.toThrow(why);
      expect(readdirSync(copyIn(cache))).not.toContain('fetched.jsonl');
      expect(Object.keys(treeOf(cache)).filter((path) => /IGNORE|\.skill-registry-/.test(path))).toEqual([]);
      expect((await registry.read('tea', {}, COOK)).content).toBe('MARKED tea.');
    },
  );

  it('makes the page be asked again: what it has changed since is what the next read gives', async () => {
    const page = await largePage({ tea: pageSkill('tea') });
    const registry = await readPage(page.url, cache);
    page.put('tea', pageSkill('tea', 'Steep it longer.'));
    page.answer = (path, response) => path.includes('artifacts/tea') && Boolean(response.writeHead(404).end());
    await expect(registry.read('tea', {}, COOK)).rejects.toMatchObject({ code: 'ORIGIN_UNAVAILABLE' });
    page.answer = undefined;
    await vi.waitFor(async () => {
      await registry.refresh();
      expect((await registry.read('tea', {}, COOK)).content).toBe('Steep it longer.');
    }, 10_000);
  });
});

it('a policy of the page holds a skill that nobody has read, and nothing of it is fetched', async () => {
  const page = await largePage({ rum: pageSkill('rum'), tea: pageSkill('tea') });
  const policy = JSON.stringify({ version: 1, denied: { ids: ['rum'] } });
  page.answer = (path, response) => path.endsWith('/policy.json') && Boolean(response.end(policy));
  const registry = await readPage(page.url, cache);
  expect(registry.snapshot().byId.get('rum')?.heldBecause).toContain('POLICY_DENIED');
  await expect(registry.read('rum', {}, COOK)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect((await registry.read('tea', {}, COOK)).content).toBe('MARKED tea.');
  expect(page.asked()).toEqual(['tea']);
});

describe('headers with a secret', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a config has
  const HEADERS = { Authorization: 'Bearer ${TEAM_TOKEN}' };
  const SECRET = 'Tok3n-of-Somebody';

  it('go to the page for a skill that is read, nowhere else, and not while the secret is missing', async () => {
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const page = await largePage({ tea: pageSkill('tea'), pot: pageSkill('pot') });
    const other = await largePage({ cup: pageSkill('cup') });
    const cup = `${other.url}/cup.md`;
    page.put('cup', pageSkill('cup'), { url: cup });
    const seen: string[] = [];
    for (const one of [page, other])
      one.answer = (path, response, request) => {
        if (!path.endsWith('policy.json')) seen.push(`${one === page} ${request.headers.authorization ?? '-'}`);
        return path === '/cup.md' && Boolean(response.end(pageSkill('cup')));
      };
    let secret: string | undefined = SECRET;
    const config = { sources: [{ wellKnown: page.url, headers: HEADERS } as object] };
    const registry = await openRoot(tempFolder(), { getSecret: () => secret, config });
    seen.length = 0;
    await registry.read('tea', {}, COOK);
    expect(seen).toEqual([`true Bearer ${SECRET}`]);
    await registry.read('cup', {}, COOK);
    expect(seen.slice(1)).toEqual(['false -']);
    secret = undefined;
    await expect(registry.read('pot', {}, COOK)).rejects.toMatchObject({ code: 'SECRET_MISSING' });
    expect([seen.length, JSON.stringify(treeOf(cache)).includes(SECRET)]).toEqual([2, false]);
  });
});

it('a source that a person has revoked gives nothing that nobody has read', async () => {
  const page = await largePage({ tea: pageSkill('tea') });
  vi.stubEnv('XDG_CACHE_HOME', cache);
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  const root = tempFolder({ 'data/skill_registry/config.yaml': `sources: [{ wellKnown: "${page.url}" }]\n` });
  await runCommand(['list', '--root', root]);
  await runCommand(['approvals', 'revoke', page.url, '--root', root]);
  expect((await runCommand(['show', 'tea', '--root', root])).status).toBe(1);
  expect(page.asked()).toEqual([]);
});
