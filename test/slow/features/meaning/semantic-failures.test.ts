import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { SkillRegistry } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { fetchEmbeddings } from '../../../../extensions/skill_registry/features/meaning/embeddings-client.ts';
import { type Embedding, embeddingsServer, type OddAnswer } from '../../../helpers/embeddings-server.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { cacheFile, find, idsOf, semanticRegistry, skill, TOWN } from '../../../helpers/semantic-registry.ts';
import { writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const KEY = 'sk-very-secret-0123456789';

/** The only problem there is. */
function problemOf(registry: SkillRegistry): { readonly code: string; readonly message: string } {
  const problems = registry.problems();
  expect(problems).toHaveLength(1);
  const [{ code, severity, message } = { code: '', severity: '', message: '' }] = problems;
  expect(severity).toBe('warning');
  expect(message).not.toContain(KEY);
  return { code, message };
}

it('answers by words, with one problem, when the endpoint is down, and by meaning when it is back', async () => {
  const server = await embeddingsServer();
  const { registry, told } = await semanticRegistry(server, { secrets: { EMBEDDINGS_API_KEY: KEY } });
  await registry.admin.embedSkills();
  server.behave(() => 'hang up');
  for (const query of ['invoice', 'barometer and storms', 'mend my car']) await find(registry, query);
  expect(idsOf(await find(registry, 'invoice'))).toEqual(['accounts']);
  expect(problemOf(registry)).toMatchObject({ code: 'EMBEDDINGS_FAILED' });
  expect(told).toHaveLength(1);
  // The first failure is enough: the endpoint is left in peace.
  expect(server.queries()).toHaveLength(1);
});

it('answers by words when the endpoint is slow, and no second query waits for it', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server, { embeddings: { timeout_ms: 20 } });
  await registry.admin.embedSkills();
  server.behave(() => 'hang');
  expect(idsOf(await find(registry, 'invoice'))).toEqual(['accounts']);
  expect(idsOf(await find(registry, 'prune roses'))).toEqual(['gardening']);
  expect(await registry.context('prune roses')).toContain('gardening');
  await waitFor('the query, which is still under way', () => server.queries().length > 0);
  expect(server.queries()).toHaveLength(1);
  expect(problemOf(registry).message).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/v1\/embeddings gave no answer within 20 ms\./,
  );
});

it('waits as long as Retry-After says and tries again, without a problem', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server);
  let refused = 0;
  server.behave(() => (refused++ < 1 ? { status: 429, headers: { 'retry-after': '0' } } : undefined));
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 5, total: 5 });
  expect(server.requests[1]?.input).toEqual(server.requests[0]?.input);
  expect(registry.problems()).toEqual([]);
});

it('gives up after three attempts, and goes on where it stopped', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server, { embeddings: { batch: 2 } });
  server.behave(() =>
    server.requests.length > 2 ? { status: 503, headers: { 'retry-after': '0' }, body: 'busy' } : undefined,
  );
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 2, total: 5 });
  expect(server.requests).toHaveLength(5);
  expect(problemOf(registry)).toMatchObject({ code: 'EMBEDDINGS_FAILED' });
  expect(problemOf(registry).message).toContain('answered with status 503: busy.');
  server.behave(undefined);
  const before = server.requests.length;
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 5, total: 5 });
  expect(server.requests.slice(before).map(({ input }) => input.length)).toEqual([2, 1]);
  expect(registry.problems()).toEqual([]);
});

it('asks once when the key is refused, and shows it nowhere', async () => {
  const server = await embeddingsServer();
  const secrets = { EMBEDDINGS_API_KEY: KEY };
  const { registry, root } = await semanticRegistry(server, { secrets });
  server.behave(() => ({ status: 401, body: JSON.stringify({ error: { message: `Incorrect API key: ${KEY}` } }) }));
  await registry.admin.embedSkills();
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(problemOf(registry).message).toContain('status 401: it does not accept the key; set EMBEDDINGS_API_KEY.');
  server.behave(() => ({ status: 400, body: JSON.stringify({ error: { message: `No model for ${KEY}.` } }) }));
  await registry.admin.embedSkills();
  expect(problemOf(registry).message).toContain('status 400: No model for ***.');
  // A part of the key is left where the text is cut.
  server.behave(() => ({ status: 400, body: `${'x'.repeat(190)}${KEY}` }));
  await registry.admin.embedSkills();
  expect(problemOf(registry).message).toContain('status 400: xxx');
  expect(problemOf(registry).message).not.toContain(KEY.slice(0, 4));
  await registry.close();
  expect(readFileSync(cacheFile(root)).includes(KEY)).toBe(false);
});

it('sends the key of the model to the endpoint of the model alone', async () => {
  const server = await embeddingsServer();
  const own = { MODEL_API_KEY: KEY, MODEL_BASE_URL: `${server.baseUrl}/` };
  await (await semanticRegistry(server, { secrets: own })).registry.admin.embedSkills();
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  const other = { MODEL_API_KEY: KEY, MODEL_BASE_URL: 'https://models.example/v1' };
  await (await semanticRegistry(server, { secrets: other })).registry.admin.embedSkills();
  expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
});

const WRONG: readonly (readonly [what: string, message: RegExp, answer: OddAnswer | undefined])[] = [
  ['refuses the connection', /embeddings cannot be reached: /, undefined],
  [
    'wants a key',
    /answered with status 401: it wants a key, and none was sent; set EMBEDDINGS_API_KEY\./,
    { status: 401 },
  ],
  ['has a failure', /answered with status 500: oops\./, { status: 500, body: 'oops', headers: { 'retry-after': '0' } }],
  ['is something else', /answered with something other than JSON of the form/, { raw: '<html>' }],
  ['has fewer vectors', /answered with 0 vectors for 1 text\./, { data: () => [] }],
];

it.each(WRONG)(
  'says once, and truly, that an endpoint %s, which fails for a query and then for the catalog',
  async (_, message, answer) => {
    const server = await embeddingsServer();
    const { registry, told, root } = await semanticRegistry(server, { config: { watch: { mode: 'off' } } });
    await registry.admin.embedSkills();
    if (answer) server.behave(() => answer);
    else await server.close();
    expect(idsOf(await find(registry, 'invoice'))).toEqual(['accounts']);
    writeTree(root, skill('new-one', 'Something that is new.'));
    await registry.refresh();
    expect(await registry.admin.embedSkills()).toEqual({ embedded: 5, total: 6 });
    expect(problemOf(registry).message).toMatch(message);
    expect(problemOf(registry).message).toMatch(/\. What has no vector is searched by words only\.$/);
    expect(told).toHaveLength(1);
    await registry.close();
    const config = `sources: [{ path: skills }]\nembeddings: { base_url: "${server.baseUrl}", model: words-1 }\n`;
    writeTree(root, { 'data/skill_registry/config.yaml': config });
    const { stdout } = await runCommand(['search', 'invoice', '--embed', '--json', '--root', root]);
    const { problems, total } = JSON.parse(stdout) as { problems: readonly Problem[]; total: number };
    expect([total, problems.map((problem) => problem.message)]).toEqual([1, [expect.stringMatching(message)]]);
  },
);

it('names the cache file where it is, in the cache directory of the user', async () => {
  const server = await embeddingsServer();
  const { 'data/.keep': _, ...tree } = TOWN;
  const { registry } = await semanticRegistry(server, { tree });
  await registry.admin.embedSkills();
  server.resize(100);
  await find(registry, 'invoice');
  const [, file = ''] = /delete (\S+) and start again\./.exec(problemOf(registry).message) ?? [];
  expect(file).toContain(String(process.env.XDG_CACHE_HOME));
  expect(existsSync(file)).toBe(true);
});

it('follows no redirect: the texts go to the endpoint alone', async () => {
  const [server, elsewhere] = [await embeddingsServer(), await embeddingsServer()];
  const { registry } = await semanticRegistry(server);
  server.behave(() => ({ status: 307, headers: { location: `${elsewhere.baseUrl}/embeddings` } }));
  await registry.admin.embedSkills();
  expect(elsewhere.requests).toEqual([]);
  expect(server.requests).toHaveLength(1);
  expect(problemOf(registry)).toMatchObject({
    code: 'EMBEDDINGS_FAILED',
    message: expect.stringContaining('answered with status 307.'),
  });
});

const changed = (change: (one: Embedding) => unknown): OddAnswer => ({ data: (good) => good.map(change) });
const NO_VECTOR = 'not a list of 1 to 16384 finite numbers, or is zero';
const ODD_ANSWERS: readonly (readonly [what: string, answer: OddAnswer, message: string])[] = [
  ['too few vectors', { data: (good) => good.slice(1) }, '11 vectors'],
  ['an index twice', changed((one) => ({ ...one, index: 0 })), 'indexes that are not 0 to 11, each once'],
  ['a text as a number', changed((one) => ({ ...one, embedding: ['2', 1] })), NO_VECTOR],
  [
    'too large a number',
    { raw: JSON.stringify({ data: [] }).replace('[]', `[${'{"embedding":[1e999]},'.repeat(11)}{"embedding":[1]}]`) },
    NO_VECTOR,
  ],
  ['null', changed((one) => ({ ...one, embedding: [null, 1] })), NO_VECTOR],
  ['a vector of nothing', changed((one) => ({ ...one, embedding: [0, 0] })), NO_VECTOR],
  ['an empty vector', changed((one) => ({ ...one, embedding: [] })), NO_VECTOR],
  [
    'different sizes',
    changed((one) => ({ ...one, embedding: one.index === 3 ? [1] : [1, 2] })),
    'different sizes (2, 1)',
  ],
  ['no list', changed((one) => ({ ...one, embedding: 'AACAPw==' })), NO_VECTOR],
  ['no JSON', { raw: '<html>Welcome</html>' }, 'something other than JSON of the form'],
  ['no end', { stream: 'x'.repeat(65_536), times: 1_000_000 }, 'more than'],
];

it.each(ODD_ANSWERS)('stores nothing of an answer with %s, and says what came', async (_, answer, message) => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server, { secrets: { EMBEDDINGS_API_KEY: KEY } });
  server.behave(() => answer);
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 0, total: 5 });
  expect(server.requests).toHaveLength(1);
  expect(problemOf(registry)).toMatchObject({ code: 'EMBEDDINGS_INVALID', message: expect.stringContaining(message) });
  expect(idsOf(await find(registry, 'invoice'))).toEqual(['accounts']);
});

it('puts vectors in the order of their index', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server);
  server.behave(() => ({ data: (good) => [...good].reverse() }));
  await registry.admin.embedSkills();
  expect(idsOf(await find(registry, 'mend my car'))).toEqual(['garage']);
});

it('keeps vectors of one size: another size is a problem, for queries and for the catalog', async () => {
  const server = await embeddingsServer();
  const { registry, root } = await semanticRegistry(server);
  await registry.admin.embedSkills();
  server.resize(100);
  expect(idsOf(await find(registry, 'invoice'))).toEqual(['accounts']);
  const { code, message } = problemOf(registry);
  expect(code).toBe('EMBEDDINGS_INVALID');
  expect(message).toContain('vectors of 100 numbers, expected 1024 as before');
  expect(existsSync(cacheFile(root))).toBe(true);
  // The advice helps.
  expect(message).toContain(`delete ${cacheFile(root)} and start again.`);
  await registry.close();
  rmSync(cacheFile(root));
  const again = (await semanticRegistry(server, { root })).registry;
  expect(await again.admin.embedSkills()).toEqual({ embedded: 5, total: 5 });
  expect(again.problems()).toEqual([]);
});

it('tells a failure in the background once, and takes it back when the endpoint is there again', async () => {
  const server = await embeddingsServer();
  server.behave(() => ({ status: 500, headers: { 'retry-after': '0.01' } }));
  const { registry, told } = await semanticRegistry(server, { config: { watch: { mode: 'off' } } });
  const stop = new AbortController();
  const watching = registry.watch(stop.signal);
  await waitFor('the third request', () => server.requests.length > 2);
  expect(problemOf(registry).code).toBe('EMBEDDINGS_FAILED');
  server.behave(undefined);
  await waitFor('the garage', async () => (await find(registry, 'mend my car')).length === 1);
  expect(registry.problems()).toEqual([]);
  expect(told).toHaveLength(1);
  stop.abort();
  await watching;
});

it('answers who waits after three attempts, though the same is tried again and again in the background', async () => {
  const server = await embeddingsServer();
  server.behave(() => ({ status: 503, headers: { 'retry-after': server.requests.length > 1 ? '0.01' : '600' } }));
  const { registry } = await semanticRegistry(server, { config: { watch: { mode: 'off' } } });
  const stop = new AbortController();
  await registry.watch(stop.signal);
  await waitFor('a request of the background', () => server.requests.length === 1);
  expect(await registry.admin.embedSkills()).toEqual({ embedded: 0, total: 5 });
  expect(problemOf(registry).code).toBe('EMBEDDINGS_FAILED');
  // The background goes on where it was.
  server.behave(undefined);
  await waitFor('the vectors', async () => (await find(registry, 'mend my car')).length === 1);
  stop.abort();
});

it('gives up a request that is never answered, whatever the garbage collector does meanwhile', async () => {
  const server = await embeddingsServer();
  server.behave(() => 'hang');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const collecting = setInterval(collect, 20);
  onTestFinished(() => clearInterval(collecting));
  const endpoint = { baseUrl: server.baseUrl, model: 'm', key: undefined };
  const answer = fetchEmbeddings(endpoint, ['text'], new AbortController().signal, 300);
  await expect(answer).rejects.toMatchObject({ code: 'EMBEDDINGS_FAILED', details: { temporary: true } });
  await expect(answer).rejects.toThrow('gave no answer within 0.3 s.');
});

it('closes at once while the endpoint hangs', async () => {
  const server = await embeddingsServer();
  const { registry } = await semanticRegistry(server);
  server.behave(() => 'hang');
  const embedding = registry.admin.embedSkills();
  await waitFor('the request', () => server.requests.length === 1);
  await registry.close();
  await embedding;
});
