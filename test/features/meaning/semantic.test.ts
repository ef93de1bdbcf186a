import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from 'skill-registry/kernel';
import { expect, it, vi } from 'vitest';
import { embeddingsServer } from '../../helpers/embeddings-server.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { find, idsOf, semanticRegistry, skill, TOWN } from '../../helpers/semantic-registry.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

it('finds the skill that shares no word with the query, and says that it was found by meaning', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer());
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 5, total: 5 });
  expect(registry.list({ query: 'mend my car' }).skills).toEqual([]);
  const [first, ...rest] = await find(registry, 'mend my car');
  expect(first).toMatchObject({
    skillId: 'garage',
    why: { field: 'semantic', snippet: 'Overhaul an automobile of any make.' },
  });
  expect(rest).toEqual([]);
  expect(first?.score).toBeGreaterThan(0);
  expect(first?.score).toBeLessThan(0.85);
  expect(idsOf(await find(registry, 'a bill for my surgeon'))).toEqual(expect.arrayContaining(['accounts', 'surgery']));
  expect(registry.problems()).toEqual([]);
});

it('finds nothing for a query that is near no skill, and names the nearest ids', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer());
  await registry.admin.embedSkills();
  for (const query of ['quantum chromodynamics lecture', 'zzyx', 'blorf zindle quav']) {
    expect(await find(registry, query)).toEqual([]);
  }
});

it('keeps what the query names, begins or says in full before everything that is only near', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer(), {
    tree: {
      ...skill('car', 'Keeps a list of toys.'),
      ...skill('car-wash', 'Foam, brushes and wax.'),
      ...skill('garage', 'Motorcar vehicle automobile overhaul. Motorcar vehicle automobile.'),
      ...skill('toys', 'Sort the toys of a child into boxes.'),
    },
  });
  await registry.admin.embedSkills();
  const hits = await find(registry, 'car');
  expect(idsOf(hits)).toEqual(['car', 'car-wash', 'garage']);
  expect(hits[2]?.why?.field).toBe('semantic');
  const scores = hits.map(({ score }) => score);
  expect(scores).toEqual([...scores].sort((a = 0, b = 0) => b - a));
  // Both words stand in one description; the other is nearer by meaning.
  expect(idsOf(await find(registry, 'sort toys'))[0]).toBe('toys');
});

it('never puts a skill without a word of the query before the best that has one', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer(), {
    tree: {
      ...TOWN,
      ...skill('rally', 'Car pools for people who commute. Timetables, maps, neighbours and a calendar.'),
      ...skill('garage', 'Overhaul an automobile.'),
    },
  });
  await registry.admin.embedSkills();
  const hits = await find(registry, 'fix car timetables calendar');
  expect(idsOf(hits)).toEqual(['rally', 'garage']);
  expect(hits.map(({ why }) => why?.field)).toEqual(['description', 'semantic']);
});

it('takes a phrase in quotes as it stands', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer());
  await registry.admin.embedSkills();
  expect(await find(registry, '"mend my car"')).toEqual([]);
});

it('stays within tag, source and what the agent may see', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer());
  await registry.admin.embedSkills();
  const bound = { boundSkills: ['accounts', 'weather'] };
  await registry.admin.prepareSearch('mend my car');
  expect(registry.list({ query: 'mend my car' }, bound).skills).toEqual([]);
  expect(registry.list({ query: 'mend my car', source: 'elsewhere' }).skills).toEqual([]);
  expect(idsOf(registry.list({ query: 'mend my car', source: 'skills' }).skills)).toEqual(['garage']);
});

it('asks for the vectors of a query in the tool that a model calls, once for the same query', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server);
  await registry.admin.embedSkills();
  const tool = registry.tools().find(({ name }) => name === 'list_skills');
  if (!tool) throw new Error('there is no list_skills');
  const call = { turn: {}, signal: new AbortController().signal };
  for (const query of ['mend my car', 'mend my car', ' mend my car ']) {
    expect(await runTool(tool, { query }, call)).toMatchObject({ success: true, skills: [{ skill_id: 'garage' }] });
  }
  expect(server.queries()).toEqual(['mend my car']);
});

it('shows the skill that is near the prompt when not all fit, and the same text for the same prompt', async () => {
  const server = await embeddingsServer();
  const town = Object.assign({}, ...Array.from({ length: 40 }, (_, n) => skill(`a-trade-${n}`, `Trade number ${n}.`)));
  const { registry } = await semanticRegistry(server, {
    tree: { ...town, ...TOWN },
    config: { catalog: { budget_tokens: 120 } },
  });
  await registry.admin.embedSkills();
  const prompt = 'Please mend my car today';
  const text = await registry.context(prompt);
  expect(text).toContain('`garage`');
  expect(await registry.context(prompt)).toBe(text);
  expect(await registry.context('Warn me of rain')).not.toBe(text);
  expect(server.queries().filter((query) => query === prompt)).toHaveLength(1);
});

it('sends one request a batch, then only what has changed, and nothing at the next start', async () => {
  const server = await embeddingsServer();
  const many = Object.assign({}, ...Array.from({ length: 7 }, (_, n) => skill(`trade-${n}`, `Trade number ${n}.`)));
  const root = tempFolder(many);
  const { registry } = await semanticRegistry(server, { root, embeddings: { batch: 3 } });
  await registry.admin.embedSkills();
  // Control texts, then 3 + 3 + 1.
  expect(server.requests.slice(1).map(({ input }) => input.length)).toEqual([3, 3, 1]);
  expect(server.requests[0]).toMatchObject({ model: 'words-1', headers: { 'content-type': 'application/json' } });
  writeTree(root, skill('trade-3', 'Another trade.', '# How to begin'));
  await registry.refresh();
  await registry.admin.embedSkills();
  expect(server.requests.slice(4).map(({ input }) => input)).toEqual([['trade-3. Another trade. How to begin']]);
  await registry.close();
  const again = await semanticRegistry(server, { root, embeddings: { batch: 3 } });
  expect(await again.registry.admin.embedSkills()).toEqual({ embedded: 7, total: 7 });
  expect(server.requests).toHaveLength(5);
  expect(idsOf(await find(again.registry, 'trade'))).toHaveLength(7);
});

it('embeds while it watches, what comes later too, and a search before that goes by words', async () => {
  const server = await embeddingsServer();
  const { root, registry } = await semanticRegistry(server, {
    config: { watch: { mode: 'poll', interval_seconds: 0.05 } },
  });
  expect(await find(registry, 'mend my car')).toEqual([]);
  // Nothing to compare with, so nothing is asked.
  expect(server.requests).toEqual([]);
  const stop = new AbortController();
  const watching = registry.watch(stop.signal);
  await waitFor('the garage', async () => (await find(registry, 'mend my car')).length === 1);
  writeTree(root, skill('tow-truck', 'Mend a broken vehicle.'));
  await waitFor('the tow truck', async () => idsOf(await find(registry, 'mend my car')).includes('tow-truck'));
  stop.abort();
  await watching;
});

it('says at a terminal how many skills search --embed has embedded', async () => {
  const server = await embeddingsServer();
  const embeddings = `{ base_url: "${server.baseUrl}", model: words-1, batch: 2 }`;
  const cwd = tempFolder({ ...TOWN, 'data/skill_registry/config.yaml': `embeddings: ${embeddings}\n` });
  let heard = '';
  const isTold = waitFor('the counter', () => /Embedding skills: [24] of 5/.test(heard));
  // Of the last skills the vectors come when the person has read how far it is.
  server.behave(({ input }) => (input.some((text) => text.includes('barometer')) ? { after: isTold } : undefined));
  const later = Date.now;
  let calls = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => later() + 1_000 * calls++);
  await runCommand(['search', 'mend my car', '--embed'], { cwd, heard: (text) => (heard += text) });
  vi.restoreAllMocks();
  await isTold;
});

it('begins anew for another model, and for a cache that was deleted', async () => {
  const server = await embeddingsServer();
  const root = tempFolder(TOWN);
  const first = await semanticRegistry(server, { root });
  await first.registry.admin.embedSkills();
  await first.registry.close();
  server.resize(900);
  const second = await semanticRegistry(server, { root, embeddings: { model: 'words-2' } });
  expect(await find(second.registry, 'mend my car')).toEqual([]);
  await second.registry.admin.embedSkills();
  expect(server.requests.at(-1)?.model).toBe('words-2');
  expect(idsOf(await find(second.registry, 'mend my car'))).toEqual(['garage']);
  await second.registry.close();
  rmSync(join(root, 'data'), { recursive: true });
  server.resize(1100);
  const third = await semanticRegistry(server, { root });
  await third.registry.admin.embedSkills();
  expect(idsOf(await find(third.registry, 'mend my car'))).toEqual(['garage']);
  expect(third.registry.problems()).toEqual([]);
});

it('makes no request and no problem without an endpoint', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server, { embeddings: { base_url: '', model: '' } });
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 0, total: 5 });
  expect(await find(registry, 'mend my car')).toEqual([]);
  expect(server.requests).toEqual([]);
  expect(registry.problems()).toEqual([]);
});

it('says what is wrong with a half or a strange configuration', async () => {
  const wrong = [
    { base_url: 'http://127.0.0.1:9/v1', model: '' },
    { base_url: 'http://me:secret@127.0.0.1:9/v1', model: 'm' },
    { base_url: 'ftp://127.0.0.1', model: 'm' },
    { base_url: 'http://127.0.0.1:9/v1', model: 'm', timeout_ms: 5000 },
  ];
  for (const embeddings of wrong) {
    const { registry } = await semanticRegistry({ baseUrl: '' }, { embeddings });
    expect(registry.problems()[0]).toMatchObject({ code: 'CONFIG_KEY_INVALID', severity: 'error' });
  }
});
