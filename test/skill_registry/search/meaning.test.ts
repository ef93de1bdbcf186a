import type { Skill } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { nearestRows } from '../../../extensions/skill_registry/search/meaning/likeness.ts';
import { Meaning } from '../../../extensions/skill_registry/search/meaning/meaning.ts';
import { VECTORS } from '../../../extensions/skill_registry/search/meaning/vector-schema.ts';
import { signsOf } from '../../../extensions/skill_registry/search/meaning/vector-store.ts';
import { openCacheDatabase } from '../../../extensions/skill_registry/store/cache.ts';
import type { SqliteDatabase } from '../../../lib/sqlite/engines.ts';
import { type EmbeddingsServer, embeddingsServer as fullServer } from '../../helpers/embeddings-server.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';
import { seededRandom } from '../../helpers/seeded-random.ts';

/** Most of these embed a whole catalog: with short vectors in less than a tenth of the time. */
async function embeddingsServer(): Promise<EmbeddingsServer> {
  const server = await fullServer();
  server.resize(64);
  return server;
}

const SKILLS: readonly Skill[] = Array.from({ length: 1810 }, (_, n) => fakeSkill(`skill-${n}`));

interface Clock {
  now: number;
  /** Every wait so far, in milliseconds. */
  readonly waits: number[];
}

interface OpenMeaning {
  readonly meaning: Meaning;
  readonly clock: Clock;
  readonly progress: readonly string[];
  readonly database: SqliteDatabase;
}

/** On a clock of its own: a wait takes no time, and moves it. */
function openMeaning(server: EmbeddingsServer, database: SqliteDatabase = memory()): OpenMeaning {
  const clock: Clock = { now: 1_000_000, waits: [] };
  const progress: string[] = [];
  const meaning = new Meaning({
    config: { base_url: server.baseUrl, model: 'words-1', timeout_ms: 1500, batch: 64 },
    database: () => database,
    configFile: '/root/data/skill_registry/config.yaml',
    readSkill: ({ description }) => Buffer.from(`---\ndescription: ${description}\n---\n`),
    getSecret: () => undefined,
    onProgress: (line) => progress.push(line),
    onProblems: () => undefined,
    now: () => clock.now,
    wait: async (ms) => {
      clock.waits.push(ms);
      clock.now += ms;
    },
  });
  onTestFinished(() => meaning.close());
  return { meaning, clock, progress, database };
}

function memory(): SqliteDatabase {
  const database = openCacheDatabase(':memory:', [VECTORS]);
  onTestFinished(() => void database.close());
  return database;
}

const forever = new AbortController().signal;

it('says how far it is when embedding takes more than a second, and nothing when it does not', async () => {
  const server = await embeddingsServer();
  const quick = openMeaning(server);
  await quick.meaning.keepEmbedded(SKILLS, forever);
  expect(quick.progress).toEqual([]);
  const slow = openMeaning(server);
  server.behave(() => {
    slow.clock.now += 700;
    return undefined;
  });
  await slow.meaning.keepEmbedded(SKILLS, forever);
  expect(slow.progress[0]).toBe('Embedding skills: 64 of 1,810');
  expect(slow.progress.at(-1)).toBe('Embedding skills: 1,810 of 1,810, done');
  expect(slow.progress.length).toBeLessThan(15);
});

it('waits ever longer between attempts, never in step, and at most what it was asked for', async () => {
  const server = await embeddingsServer();
  server.behave(({ input }) => {
    if (server.requests.length === 4) return { status: 429, headers: { 'retry-after': '37' } };
    return server.requests.length < 12 && input.length > 0 ? { status: 500 } : undefined;
  });
  const { meaning, clock } = openMeaning(server);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  expect(meaning.embedded(SKILLS)).toBe(10);
  expect(clock.waits).toHaveLength(11);
  expect(clock.waits[3]).toBe(37_000);
  for (const [at, ms] of clock.waits.entries()) {
    const longest = Math.min(1000 * 2 ** at, 60_000);
    if (at !== 3) expect(ms).toBeGreaterThanOrEqual(longest / 2);
    if (at !== 3) expect(ms).toBeLessThanOrEqual(longest);
  }
});

it('leaves an endpoint in peace after a failed query, longer each time, and asks again after that', async () => {
  const server = await embeddingsServer();
  const { meaning, clock } = openMeaning(server);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  const asked = async (): Promise<number> => {
    const before = server.requests.length;
    await meaning.ready(`query ${before} ${clock.now}`);
    return server.requests.length - before;
  };
  server.behave(() => ({ status: 500 }));
  expect([await asked(), await asked()]).toEqual([1, 0]);
  clock.now += 10_000;
  expect([await asked(), await asked()]).toEqual([1, 0]);
  clock.now += 10_000;
  expect(await asked()).toBe(0);
  clock.now += 10_000;
  server.behave(undefined);
  expect(await asked()).toBe(1);
  expect(meaning.problems()).toEqual([]);
  expect(await asked()).toBe(1);
});

it('goes by words alone, with one problem, where vectors cannot be kept', async () => {
  const server = await embeddingsServer();
  const closed = memory();
  closed.close();
  const { meaning } = openMeaning(server, closed);
  await meaning.keepEmbedded(SKILLS, forever);
  await meaning.ready('skill');
  expect(meaning.likeness(SKILLS, 'skill')).toBeUndefined();
  expect(codes(meaning.problems())).toEqual(['EMBEDDINGS_UNAVAILABLE']);
  expect(server.requests).toEqual([]);
});

it('gives up, with one problem, when the cache fails later', async () => {
  const server = await embeddingsServer();
  const { meaning, database } = openMeaning(server);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  database.exec('DROP TABLE vector_exact');
  await meaning.ready('skill one');
  expect(meaning.likeness(SKILLS, 'skill one')).toBeUndefined();
  expect(codes(meaning.problems())).toEqual(['EMBEDDINGS_UNAVAILABLE']);
  await meaning.keepEmbedded(SKILLS, forever);
});

it('forgets vectors of contents that are gone when they are most of what there is', async () => {
  const server = await embeddingsServer();
  const { meaning, database } = openMeaning(server);
  const others = Array.from({ length: 500 }, (_, n) => fakeSkill(`other-${n}`));
  await meaning.keepEmbedded([...SKILLS, ...others], forever);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  expect(meaning.embedded(SKILLS)).toBe(10);
  expect(database.prepare('SELECT count(*) AS n FROM vector_exact').get()).toEqual({ n: 22 });
});

it('finds among ten thousand vectors those that are nearest by their signs', () => {
  const random = seededRandom(5);
  const vectors = Array.from({ length: 2000 }, () => Float32Array.from({ length: 128 }, () => random() - 0.5));
  const table = new Uint32Array(vectors.length * 4);
  for (const [row, vector] of vectors.entries()) table.set(signsOf(vector), row * 4);
  const near = (vectors[77] as Float32Array).map((one) => one + (random() - 0.5) / 4);
  const rows = nearestRows(table, signsOf(near), 50);
  expect(rows).toContain(77);
  expect(rows.length).toBeLessThanOrEqual(100);
  expect(nearestRows(table.subarray(0, 40), signsOf(near), 50)).toHaveLength(10);
});

// --- internal ---

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ code }) => code);
}
