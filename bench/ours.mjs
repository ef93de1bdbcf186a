/**
 * One measurement of this package, in a process of its own: `node ours.mjs <what> <folder> <root>`. Prints JSON. Each time is
 * compared with its baseline, which is measured in the same process just before.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { readFloor, statFloor } from './floors.mjs';
import { FULL_USAGE } from './full-usage.mjs';
import { compared, median, percentile, timed } from './statistics.mjs';

const [, , what, folder, root] = process.argv;
const open = (cache, inspect = true) =>
  createSkillRegistry({ root, cache, inspect, config: { sources: [{ path: folder }] } });
/** As it is from the second start on: every content was inspected. */
const inspected = async () => {
  const registry = await open('disk');
  await registry.admin.inspectSkills();
  return registry;
};

const measurements = {
  /** The first load of a process, and later ones; without a cache. What a catalog shows is inspected, the rest later. */
  async first() {
    return pairs(
      3,
      () => readFloor(folder),
      () => open('memory'),
    );
  },
  async cached() {
    await (await inspected()).close();
    return pairs(
      5,
      () => statFloor(folder),
      () => open('disk'),
    );
  },
  /** One load of a process that has just started: as `first`, and with the cache that an earlier process has left. */
  async load() {
    return pairs(
      1,
      () => readFloor(folder),
      () => open('memory', false),
    );
  },
  async start() {
    return pairs(
      1,
      () => readFloor(folder),
      () => open('disk'),
    );
  },
  async refresh() {
    const registry = await inspected();
    return pairs(
      7,
      () => statFloor(folder),
      () => registry.refresh(),
      false,
    );
  },
  async context() {
    const registry = await inspected();
    const prompts = ['review the invoice report', 'deploy docker to the cloud', 'translate the meeting notes'];
    const work = (index) => registry.context(`${prompts[index % 3]} ${index}`);
    return { ms: await settled(registry, work) };
  },
  async search() {
    const registry = await inspected();
    const queries = ['audit budget', 'kubernetes deploy', 'python test schema', 'invoice'];
    return { ms: await settled(registry, (index) => registry.list({ query: queries[index % 4] })) };
  },
  /** A change of one skill that a person lets in. `folder` is the root, with skills in skills/. */
  async approve() {
    const registry = await createSkillRegistry({ root: folder, trust: true, config: { writes: 'propose' } });
    await registry.admin.inspectSkills();
    const all = [];
    for (const { id, file } of registry.snapshot().skills.slice(0, 7)) {
      const input = { skillId: id, content: `${readFileSync(file, 'utf8')}\nOne more line.\n`, author: 'agent:bench' };
      const { proposalId } = await registry.proposals.propose({ ...input, justification: 'Needed.' });
      all.push((await timed(() => registry.proposals.approve(proposalId, { by: 'person:bench' }))).cpu);
    }
    return { skills: registry.snapshot().skills.length, first: all[0], again: median(all.slice(1)) };
  },
  /** Resident and heap bytes that the catalog takes; the tokenizer is not loaded. */
  async memory() {
    const settle = async () => {
      for (let round = 0; round < 3; round++) {
        globalThis.gc?.();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return process.memoryUsage();
    };
    await (await inspected()).close();
    const before = await settle();
    const registry = await open('disk');
    const after = await settle();
    const skills = registry.snapshot().skills.length;
    return { skills, rss: after.rss - before.rss, heap: after.heapUsed - before.heapUsed };
  },
  /**
   * Reads of an agent with usage on, written to disk, against the same with usage off: processor time, and the median of many pairs.
   * One of a pair comes first in turn, so that what the other has warmed up helps both equally often. `commit` is the floor of `named`:
   * the same reads without usage, each followed by one committed statement.
   */
  async usage() {
    const registries = await Promise.all(
      [true, false].map((usage) => createSkillRegistry({ root, config: { sources: [{ path: folder }], usage } })),
    );
    for (const registry of registries) await registry.admin.inspectSkills();
    const ids = registries[0].snapshot().skills.map(({ id }) => id);
    const turn = { agentId: 'agent', threadId: 'thread' };
    const own = { agentId: 'agent', threadId: 'own', ownThread: true };
    const { commit, close } = await commits(join(root, 'floor.db'));
    const reads = {
      body: (registry, id) => registry.read(id, {}, turn),
      resource: (registry, id) => registry.readResource(id, 'references/guide.md', turn),
      named: (registry, id) => registry.read(id, {}, own),
      commit: async (registry, id) => {
        await registries[1].read(id, {}, own);
        if (registry === registries[0]) commit(id);
      },
    };
    const result = {};
    for (const [name, read] of Object.entries(reads)) {
      const all = async (registry) => {
        for (let index = 0; index < 400; index++) await read(registry, ids[index % ids.length]);
        // Writes what was noted.
        await registry.usage.events({ limit: 1 });
      };
      const ratios = [];
      for (let round = -4; round < 40; round++) {
        const times = new Map();
        for (const registry of round % 2 === 0 ? registries : registries.toReversed())
          times.set(registry, (await timed(() => all(registry))).cpu);
        if (round >= 0) ratios.push(times.get(registries[0]) / times.get(registries[1]));
      }
      result[name] = median(ratios);
    }
    close();
    return result;
  },
  /** A report over 180,000 events of 1,000 skills and 20 agents in 180 days, and the events of one conversation. */
  async report() {
    const registry = await open('disk');
    await registry.read(registry.snapshot().skills[0].id, {}, { agentId: 'agent' });
    await registry.usage.events({ limit: 1 });
    await fillUsage(join(root, 'data/skill_registry/usage.db'));
    const report = async () => (await timed(() => registry.usage.report({ since: '180d' }))).ms;
    const thread = async () => (await timed(() => registry.usage.events({ thread: 'thread-7' }))).ms;
    return { ms: { report: median([await report(), await report()]), thread: await thread() } };
  },
};

/** What a read in a named conversation needs at least: it is written before the answer. */
async function commits(file) {
  const { openSqlite } = await tsImport('../lib/sqlite/index.ts', import.meta.url);
  const database = openSqlite(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  database.exec(
    'CREATE TABLE IF NOT EXISTS handed (id TEXT PRIMARY KEY, tokens INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  );
  const hand = database.prepare('INSERT INTO handed VALUES (?, 5) ON CONFLICT DO UPDATE SET tokens = tokens + 5');
  return { commit: (id) => hand.run(id), close: () => database.close() };
}

async function fillUsage(file) {
  const { openSqlite } = await tsImport('../lib/sqlite/index.ts', import.meta.url);
  const database = openSqlite(file);
  database.exec(FULL_USAGE);
  database.close();
}

async function pairs(count, floor, work, closes = true) {
  const [floors, ours] = [[], []];
  let skills = 0;
  for (let round = 0; round < count; round++) {
    floors.push(await timed(floor));
    const { value, ...cost } = await timed(work);
    ours.push(cost);
    skills = (value.snapshot?.() ?? value).skills.length;
    if (closes) await value.close();
  }
  return { skills, ...compared(floors, ours) };
}

/** Times in a process that has run for a while: the index is complete, and the function was called before. */
async function settled(registry, work) {
  await registry.admin.prepareSearch();
  await times(20, work);
  return times(200, work);
}

async function times(count, work) {
  const all = [];
  for (let index = 0; index < count; index++) all.push((await timed(() => work(index))).cpu);
  return { p50: median(all), p95: percentile(all, 0.95) };
}

console.log(JSON.stringify(await measurements[what]()));
process.exit(0);
