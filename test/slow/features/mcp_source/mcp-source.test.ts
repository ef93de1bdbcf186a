import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { serveHttp } from 'skill-registry/mcp';
import { expect, it, onTestFinished } from 'vitest';
import { createMcpSource } from '../../../../extensions/skill_registry/features/mcp_source/mcp-source.ts';
import { scan } from '../../../core/sources/conformance.ts';
import { callTool, httpClient, serveRegistry } from '../../../helpers/mcp.ts';
import { openListed, scriptedServer, servedSkill } from '../../../helpers/mcp-server.ts';
import { skillMd, type Tree, writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const PNG = Uint8Array.from([0x89, 0x50, 0xff, 0x00]);

/** What another registry serves. */
const TEA: Tree = {
  'skills/tea/SKILL.md': skillMd(
    { name: 'tea', description: 'Brews tea.', metadata: '{ tags: "drink" }', requires: '[cup]' },
    'Boil water.',
  ),
  'skills/tea/references/green & black.md': 'Steep.\r\n',
  'skills/tea/assets/leaf.png': PNG,
  'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Chooses a cup.' }, 'Take a cup.'),
};

it('lists the skills of a server under its name, and reads them and their files when they are asked for', async () => {
  const served = await serveRegistry(TEA);
  const { registry, loaded } = await openListed(
    {},
    {
      sources: [
        { path: 'skills', optional: true },
        { mcp: { url: served.serving.url }, id: 'pantry' },
      ],
    },
  );
  expect(registry.problems()).toEqual([]);
  expect(registry.snapshot().sources).toEqual([
    expect.objectContaining({ kind: 'directory', skills: 0 }),
    { id: 'pantry', kind: 'mcp', location: served.serving.url, skills: 2 },
  ]);
  expect(registry.snapshot().skills.map(({ qualifiedId, description }) => [qualifiedId, description])).toEqual([
    ['pantry:cup', 'Chooses a cup.'],
    ['pantry:tea', 'Brews tea.'],
  ]);
  expect(served.loaded).toEqual([]);
  const read = await registry.read('tea', {}, { agentId: 'cook' });
  expect(read).toMatchObject({
    skillId: 'tea',
    content: 'Boil water.',
    source: 'pantry',
    requires: ['cup'],
    resources: [
      { path: 'assets/leaf.png', size: 4 },
      { path: 'references/green & black.md', size: 8 },
    ],
  });
  expect(read.directory).toBeUndefined();
  expect(await registry.readResource('pantry:tea', 'references/green & black.md')).toMatchObject({
    content: 'Steep.\r\n',
    encoding: 'utf-8',
  });
  expect(await registry.readResource('tea', 'assets/leaf.png')).toMatchObject({
    content: Buffer.from(PNG).toString('base64'),
    encoding: 'base64',
  });
  expect(served.loaded.map(({ skillId, path }) => path ?? skillId)).toEqual([
    'tea',
    'references/green & black.md',
    'assets/leaf.png',
  ]);
  expect(loaded.map(({ source, outcome }) => `${source} ${outcome}`)).toEqual(Array(3).fill('pantry success'));
  expect((await registry.list({ query: 'brew' })).skills.map(({ skillId }) => skillId)).toEqual(['tea']);
});

it('keeps the last skills while the server is away, says since when, and has all again when it is back', async () => {
  const served = await serveRegistry(TEA);
  const { url } = served.serving;
  const { registry } = await openListed({}, { sources: [{ mcp: { url }, id: 'pantry' }] });
  await served.serving.close();
  await waitFor('the problem', async () => (await registry.refresh()) && registry.problems().length > 0);
  const [problem] = registry.problems();
  expect(problem).toMatchObject({ code: 'MCP_SERVER_FAILED', severity: 'error', file: url });
  expect(problem?.message).toMatch(/not been usable since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: .*ECONNREFUSED.*2 skill/);
  expect(registry.snapshot().skills).toHaveLength(2);
  await expect(registry.read('tea')).rejects.toMatchObject({
    code: 'MCP_SERVER_FAILED',
    message: expect.stringContaining(String(problem?.message.match(/\d\d:\d\d:\d\d/)?.[0])),
  });
  const again = await serveHttp(served.door, { port: Number(new URL(url).port) });
  onTestFinished(() => again.close());
  expect((await registry.read('tea')).content).toBe('Boil water.');
  await waitFor('the end of the problem', async () => (await registry.refresh()) && registry.problems().length === 0);
});

it('sees at the next refresh what has changed on the server', async () => {
  const served = await serveRegistry(TEA);
  const { registry } = await openListed({}, { sources: [{ mcp: { url: served.serving.url }, id: 'pantry' }] });
  writeTree(served.root, {
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews green tea.' }, 'Cool it.'),
  });
  rmSync(join(served.root, 'skills/cup'), { recursive: true });
  await served.registry.refresh();
  await waitFor('the change', async () => (await registry.refresh()).skills.length === 1);
  expect(registry.snapshot().byId.get('tea')?.description).toBe('Brews green tea.');
  expect((await registry.read('tea')).content).toBe('Cool it.');
});

it('does not wait long for a server that does not answer, and takes its list when it comes', async () => {
  const server = await scriptedServer([servedSkill('tea')]);
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const all = server.list;
  server.list = async (cursor) => {
    await answered;
    return all(cursor);
  };
  const source = createMcpSource({
    ...{ id: 'far', server: { url: server.url }, root: '/', trusted: true, optional: false },
    ...{ getSecret: () => undefined, instance: 'this', times: { first: 20, later: 20 } },
  });
  onTestFinished(() => source.close?.());
  let told = 0;
  source.subscribe?.(() => {
    told += 1;
  });
  expect((await scan(source)).problems).toMatchObject([{ code: 'MCP_SERVER_FAILED', severity: 'warning' }]);
  answer();
  await waitFor('the news', () => told === 1);
  expect((await scan(source)).skills.map(({ id }) => id)).toEqual(['tea']);
});

it('gives up a list that takes too long', async () => {
  const server = await scriptedServer();
  server.list = () => new Promise(() => {});
  const source = createMcpSource({
    ...{ id: 'far', server: { url: server.url }, root: '/', trusted: true, optional: false },
    ...{ getSecret: () => undefined, instance: 'this', times: { first: 60_000, list: 100 } },
  });
  onTestFinished(() => source.close?.());
  const { problems } = await scan(source);
  expect(problems.map(({ code }) => code)).toEqual(['MCP_SERVER_FAILED']);
});

it('finds itself over HTTP, and takes nothing from itself', async () => {
  const served = await serveRegistry(TEA);
  await served.registry.addSource({ id: 'me', mcp: { url: served.serving.url } });
  await waitFor('the problem', () => served.registry.problems().some(({ code }) => code === 'MCP_CIRCLE'));
  expect(served.registry.problems().map(({ code }) => code)).toEqual(['MCP_CIRCLE']);
  expect(served.registry.snapshot().sources.map(({ id, skills }) => `${id} ${skills}`)).toEqual(['skills 2', 'me 0']);
});

it('gives the skills of a server no further as skills, so two registries can be sources of each other', async () => {
  const one = await serveRegistry({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews.' }) });
  const other = await serveRegistry({ 'skills/cup/SKILL.md': skillMd({ name: 'cup', description: 'Chooses.' }) });
  await one.registry.addSource({ id: 'other', mcp: { url: other.serving.url } });
  await other.registry.addSource({ id: 'one', mcp: { url: one.serving.url } });
  const ids = (of: typeof one): readonly string[] => [...of.registry.snapshot().byQualifiedId.keys()];
  expect([ids(one), ids(other)]).toEqual([
    ['skills:tea', 'other:cup'],
    ['skills:cup', 'one:tea'],
  ]);
  const skills = new SkillsClient(await httpClient(one.serving.url));
  expect((await skills.list()).skills.map(({ uri }) => uri)).toEqual(['skill://tea/SKILL.md']);
  expect((await one.door.problems()).map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(/^SKILL_NOT_PUBLISHED .*"cup".*MCP server "other".*Connect to that server/),
  ]);
  const client = await httpClient(one.serving.url);
  expect((await callTool(client, 'read_skill', { skill_id: 'cup' })).result).toMatchObject({ content: 'Do it well.' });
});

it('collapses with an equal skill on disk, and is a collision when a file beside SKILL.md differs', async () => {
  const cup = { 'skills/cup/SKILL.md': TEA['skills/cup/SKILL.md'] as string };
  const tea = Object.fromEntries(Object.entries(TEA).filter(([path]) => path.startsWith('skills/tea/')));
  const served = await serveRegistry(TEA);
  const sources = [{ path: 'skills' }, { mcp: { url: served.serving.url }, id: 'pantry' }];
  const same = await openListed({ ...cup, ...tea }, { sources });
  expect(same.registry.problems()).toEqual([]);
  expect(same.registry.snapshot().byId.get('tea')?.source).toBe('skills');
  const other = await openListed({ ...tea, 'skills/tea/assets/leaf.png': 'abcd' }, { sources });
  expect(other.registry.problems().map(({ code }) => code)).toEqual(['SKILL_ID_TAKEN']);
  // Nothing was fetched for that.
  expect(served.loaded).toEqual([]);
});

it('is listed in prompts, and never put into one whole unless it is bound', async () => {
  const served = await serveRegistry(TEA);
  const sources = [{ mcp: { url: served.serving.url }, id: 'pantry' }];
  const { registry } = await openListed({}, { sources, inject: 'bodies' });
  expect(await registry.context('tea')).toContain('• `tea` — Brews tea.');
  expect(await registry.context('tea')).not.toContain('Boil water.');
  await registry.admin.prepareSearch();
  expect((await registry.admin.tokenCounts()).get('tea')).toMatchObject({ l2: null });
  expect(await registry.admin.hiddenTextProblems()).toEqual([]);
  await registry.admin.overlap();
  expect(served.loaded).toEqual([]);
  expect((await registry.read('tea', { audience: 'binding' })).content).toBe('Boil water.');
  await expect(
    registry.proposals.propose({
      ...{ skillId: 'tea', justification: 'Better.' },
      content: skillMd({ name: 'tea', description: 'X.' }),
    }),
  ).rejects.toMatchObject({ code: 'SOURCE_NOT_WRITABLE' });
});
