import type { Skill } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openCacheDatabase } from '../../../../extensions/skill_registry/core/store/cache.ts';
import { Meaning } from '../../../../extensions/skill_registry/features/meaning/meaning.ts';
import { VECTORS } from '../../../../extensions/skill_registry/features/meaning/vector-schema.ts';
import { VectorStore } from '../../../../extensions/skill_registry/features/meaning/vector-store.ts';
import type { SqliteDatabase } from '../../../../lib/sqlite/engines.ts';
import { type EmbeddingsServer, embeddingsServer as fullServer } from '../../../helpers/embeddings-server.ts';
import { fakeSkill } from '../../../helpers/fake-skill.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

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
function openMeaning(server: EmbeddingsServer, database: SqliteDatabase = memory(), timeoutMs = 1500): OpenMeaning {
  const clock: Clock = { now: 1_000_000, waits: [] };
  const progress: string[] = [];
  const time = vi.spyOn(Date, 'now').mockImplementation(() => Math.round(clock.now));
  onTestFinished(() => time.mockRestore());
  const meaning = new Meaning({
    config: { base_url: server.baseUrl, model: 'words-1', timeout_ms: timeoutMs, batch: 64 },
    database: () => database,
    configFile: '/root/data/skill_registry/config.yaml',
    cacheFile: undefined,
    admit: (({ kind }: { readonly kind: string }) =>
      kind === 'line' ? { given: true } : Promise.resolve({ given: true })) as never,
    readSkill: ({ description }) => Buffer.from(`---\ndescription: ${description}\n---\n`),
    getSecret: () => undefined,
    onProgress: (line) => progress.push(line),
    onProblems: () => undefined,
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

it('keeps an answer that comes too late, for the same query asked again', async () => {
  const server = await embeddingsServer();
  const { meaning } = openMeaning(server, memory(), 5);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  let comes = (): void => undefined;
  const after = new Promise<void>((resolve) => {
    comes = resolve;
  });
  server.behave(() => ({ after }));
  await meaning.ready('skill one');
  expect(meaning.likeness(SKILLS, 'skill one')).toBeUndefined();
  expect(meaning.problems()[0]?.message).toContain('/embeddings gave no answer within 5 ms.');
  comes();
  await waitFor('the vector', () => meaning.likeness(SKILLS, 'skill one') !== undefined);
  expect(server.queries()).toHaveLength(1);
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
  database.exec('DROP TABLE vector_text');
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
  for (const table of ['vector_text', 'vector_numbers'])
    expect(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 22 });
});

it.each([
  'DELETE FROM vector_numbers',
  "UPDATE vector_numbers SET numbers = x'00'",
  "UPDATE vector_text SET signs = x'00'",
])('asks again for the vectors that somebody has changed by hand: %s', async (change) => {
  const server = await embeddingsServer();
  const { meaning, database } = openMeaning(server);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  database.exec(change);
  expect(meaning.embedded(SKILLS)).toBe(0);
  await meaning.keepEmbedded(SKILLS.slice(0, 10), forever);
  expect(meaning.embedded(SKILLS)).toBe(10);
  await meaning.ready('skill one');
  expect(meaning.likeness(SKILLS, 'skill one')?.near.size).toBeGreaterThan(0);
  expect(meaning.problems()).toEqual([]);
});

it('finds the nearest of thousands, in a number of dimensions that is no multiple of eight', () => {
  const random = seededRandom(7);
  const store = new VectorStore(memory(), { baseUrl: 'b', model: 'words-1' });
  const vector = (): Float32Array => Float32Array.from({ length: 101 }, () => random() - 0.5);
  const themes = Array.from({ length: 20 }, vector);
  const near = (theme: number): Float32Array =>
    (themes[theme] as Float32Array).map((one) => one + (random() - 0.5) * 1.2);
  const rows = Array.from({ length: 4000 }, (_, at) => ({ key: `key ${at}`, vector: near(at % 20) }));
  store.add(rows, 1);
  const keys = rows.map(({ key }) => key);
  for (let theme = 0; theme < 20; theme += 1) {
    const query = near(theme);
    const cosines = rows.map((row) => cosineOf(row.vector, query));
    const [nearest] = store.nearest(keys, query);
    expect(nearest?.cosine).toBeCloseTo(Math.max(...cosines), 4);
    expect(nearest?.position).toBe(cosines.indexOf(Math.max(...cosines)));
  }
});

it('compares with the vectors of one model and of the keys it is given, and gives the nearest 100 in their order', () => {
  const random = seededRandom(5);
  const database = memory();
  const [store, other] = ['words-1', 'words-2'].map((model) => new VectorStore(database, { baseUrl: 'b', model }));
  const vectors = Array.from({ length: 300 }, () => Float32Array.from({ length: 128 }, () => random() - 0.5));
  const keys = vectors.map((_, at) => `key ${at}`);
  const rows = vectors.map((vector, at) => ({ key: keys[at] as string, vector }));
  store?.add(rows, 1);
  const query = (vectors[77] as Float32Array).map((one) => one + (random() - 0.5) / 4);
  other?.add([{ key: 'key 5', vector: query }], 1);
  const expected = vectors.map((vector, position) => ({ position, cosine: cosineOf(vector, query) }));
  expected.sort((one, another) => another.cosine - one.cosine);
  const nearest = store?.nearest(keys, query) ?? [];
  expect(nearest.map(({ position }) => position)).toEqual(expected.slice(0, 100).map(({ position }) => position));
  for (const [at, { cosine }] of nearest.entries()) expect(cosine).toBeCloseTo(expected[at]?.cosine ?? 0, 4);
  const some = ['no key', 'key 7', 'key 77', 'key \' "9'];
  expect(store?.nearest(some, query).map(({ position }) => position)).toEqual([2, 1]);
  expect(other?.nearest(keys, query)).toEqual([{ position: 5, cosine: expect.closeTo(1) }]);
  expect(store?.nearest([], query)).toEqual([]);
});

// --- internal ---

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ code }) => code);
}

function cosineOf(one: Float32Array, other: Float32Array): number {
  const product = one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);
  return product / (Math.hypot(...one) * Math.hypot(...other));
}
