import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../extensions/skill_registry/core/store/open-database.ts';
import { LIMITS, openUsageDatabase } from '../../../extensions/skill_registry/features/usage/usage-database.ts';
import { agent, bootRoot, skill } from '../../helpers/boot-root.ts';
import { callTool, stdioClient } from '../../helpers/mcp.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { reviewPage, textOf } from '../../helpers/review-page.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DAY = 86_400_000;
const KEEP = { usage: { queries: 'keep' } } as const;
const TREE = {
  'data/.keep': '',
  ...skill('tea-brewing', { description: 'How to brew green tea.', tags: '[kettle]' }),
  ...skill('tax-forms', { description: 'Fills in yearly forms for the tax office.' }, 'Ask for the zebra number.'),
  ...skill('bread', { description: 'Kneads and bakes a loaf.' }),
};
const ASKED = 'Brew tea with the kettle, Hunterius';
const TURN = { agentId: 'clerk', threadId: 'one' };

afterEach(() => void vi.useRealTimers());

/** Everything that is kept of usage, also what only the log still has. */
function keptIn(root: string): string {
  const folder = join(root, 'data/skill_registry');
  const files = readdirSync(folder).filter((name) => name.startsWith('usage.db'));
  expect(files).toContain('usage.db');
  return files.map((name) => readFileSync(join(folder, name), 'latin1')).join('');
}

const missedOf = async ({ usage }: Awaited<ReturnType<typeof openRoot>>) =>
  (await usage.report()).missed.map(({ skillId, times, threads, words }) => [skillId, times, threads, words.join(' ')]);

it('counts a skill that fitted a prompt, was in the catalog and was not loaded, with its own words', async () => {
  const { registry, root } = await openRegistry(TREE);
  await registry.context(ASKED, TURN);
  await registry.context(ASKED, TURN);
  await registry.context(ASKED, { agentId: 'clerk', threadId: 'two' });
  expect(await missedOf(registry)).toEqual([['tea-brewing', 3, 2, 'tea brewing brew kettle']]);
  const { stdout } = await runCommand(['stats', '--missed', '--root', root]);
  const lines = stdout.replace(/ +/g, ' ').replace(/\d{4}-\d\d-\d\d/g, 'DAY');
  expect(lines).toBe(`DAY to DAY (UTC)
1 skill offered as a good fit, and not loaded

TIMES CONVERSATIONS LAST SKILL ITS WORDS THAT FITTED
 3 2 DAY tea-brewing tea brewing brew kettle

Over MCP only list_skills with a query is counted: no client tells a server what its user has asked.
`);
});

it('counts no weak fit, none of the body alone, none that was not offered, and none without a conversation', async () => {
  const { registry } = await openRegistry(TREE);
  await registry.context('Sing about a kettle that sails the sea with pirates and parrots for gold and glory.', TURN);
  await registry.context('zebra number', TURN);
  await registry.context('yes', TURN);
  await registry.context(ASKED, { ...TURN, preview: true });
  await registry.context(ASKED, { agentId: 'clerk' });
  registry.list({ query: ASKED, tag: 'other' }, TURN);
  registry.list({ query: ASKED, audience: 'person' }, TURN);
  await registry.context(ASKED, { ...TURN, boundSkills: ['bread'] });
  expect(await missedOf(registry)).toEqual([]);
  registry.list({ query: ASKED }, TURN);
  expect(await missedOf(registry)).toMatchObject([['tea-brewing', 1, 1, expect.anything()]]);
});

it('takes a skill off the list that its conversation loads, before or after, and no other conversation does', async () => {
  const { registry } = await openRegistry(TREE);
  await registry.context(ASKED, TURN);
  expect(await missedOf(registry)).toHaveLength(1);
  await registry.read('tea-brewing', {}, { agentId: 'other', threadId: 'one' });
  await registry.read('tea-brewing', {}, { agentId: 'clerk', threadId: 'two' });
  await registry.read('tea-brewing', { audience: 'person' });
  await registry.read('bread', {}, TURN);
  expect(await missedOf(registry)).toHaveLength(1);
  await registry.read('tea-brewing', {}, TURN);
  expect(await missedOf(registry)).toEqual([]);
  await registry.context(ASKED, TURN);
  await registry.context(ASKED, { agentId: 'clerk', threadId: 'two' });
  expect(await missedOf(registry)).toEqual([]);
});

it('keeps no word of what was asked but words of the skill, at the door of agents', async () => {
  const { kernel, root } = await bootRoot(
    { ...TREE, ...agent('clerk', 'model: m') },
    { sources: [{ path: 'skills' }] },
  );
  // The first write of a process is followed by a clean-up, the second one by none.
  for (const threadId of ['thread-1', 'thread-2']) {
    await kernel.invokeAgent('clerk', ASKED, { turn: { threadId } });
    await vi.waitFor(() => expect(keptIn(root)).toContain(threadId), { timeout: 30_000 });
  }
  const { registry } = kernel.getExtension<{ registry: Awaited<ReturnType<typeof openRoot>> }>('skill_registry');
  expect(await missedOf(registry)).toEqual([['tea-brewing', 2, 2, 'tea brewing brew kettle']]);
  expect(keptIn(root)).not.toMatch(/hunteri/i);
  await kernel.shutdown();
  expect(keptIn(root)).not.toMatch(/hunteri/i);
});

it('keeps no word of what a client of MCP searches for but words of the skill', async () => {
  const root = tempFolder({ ...TREE, 'data/skill_registry/config.yaml': 'sources: [{ path: skills }]\n' });
  const { client } = await stdioClient(['--trust', '--root', root, '--thread', 'T1']);
  await callTool(client, 'list_skills', { query: ASKED });
  await vi.waitFor(() => expect(keptIn(root)).toContain('tea brewing brew kettle'), { timeout: 30_000 });
  expect(keptIn(root)).not.toMatch(/hunteri/i);
});

it('keeps what was asked for 30 days where the owner says so, and gives it to no report and no event', async () => {
  const config = { 'data/skill_registry/config.yaml': 'usage: { queries: keep }\n' };
  const { registry, root } = await openRegistry({ ...TREE, ...config }, KEEP);
  await registry.context(ASKED, TURN);
  expect(await registry.admin.keptQueries()?.list()).toEqual([{ skillId: 'tea-brewing', query: ASKED }]);
  const doors = [registry.usage.report(), registry.usage.events(), runCommand(['stats', '--json', '--root', root])];
  expect(JSON.stringify(await Promise.all(doors))).not.toContain('Hunterius');
  await registry.close();
  expect(keptIn(root)).toContain(ASKED);

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 29 * DAY });
  const before = await openRoot(root, { config: { sources: [{ path: 'skills' }], ...KEEP } });
  expect(await before.admin.keptQueries()?.list()).toHaveLength(1);
  vi.setSystemTime(Date.now() + 2 * DAY);
  const late = await openRoot(root, { config: { sources: [{ path: 'skills' }], ...KEEP } });
  expect(await late.admin.keptQueries()?.list()).toEqual([]);
  expect(await before.admin.keptQueries()?.list()).toEqual([]);
  // As any record: a process that goes on cleans each day.
  await before.read('bread', {}, TURN);
  expect((await before.usage.report({ since: '90d' })).missed).toHaveLength(1);
  await vi.waitFor(() => expect(keptIn(root)).not.toContain('Hunterius'));
});

it('removes what was asked as soon as the owner does not want it kept, and at a load', async () => {
  const { registry, root } = await openRegistry(TREE, KEEP);
  await registry.context(ASKED, TURN);
  await registry.context(ASKED.replace('the', 'a'), { ...TURN, threadId: 'two' });
  expect(await registry.admin.keptQueries()?.list()).toHaveLength(2);
  await registry.read('tea-brewing', {}, TURN);
  expect(await registry.admin.keptQueries()?.list()).toHaveLength(1);
  await registry.close();
  const again = await openRoot(root);
  expect(again.admin.keptQueries()).toBeUndefined();
  await again.read('bread', {}, TURN);
  await again.close();
  expect(keptIn(root)).not.toContain('Hunterius');
});

it('takes usage: { queries: keep } and no other value, and keeps nothing more for one that is wrong', async () => {
  const { registry } = await openRegistry(TREE, { usage: { queries: 'always' } });
  expect(registry.problems()).toMatchObject([
    { code: 'CONFIG_KEY_INVALID', message: expect.stringContaining('"keep"') },
  ]);
  expect(registry.admin.keptQueries()).toBeUndefined();
  await registry.context(ASKED, TURN);
  expect(await missedOf(registry)).toHaveLength(1);
});

it('obeys no usage: { queries: keep } of a root that nobody has approved', async () => {
  const config = `sources: [{ path: skills }]\nusage: { queries: keep }\n`;
  const root = tempFolder({ ...TREE, 'data/skill_registry/config.yaml': config });
  const asked = { answer: () => 'y', trust: false };
  const { stderr } = await runCommand(['eval', 'add', '--from-missed', '--root', root], asked);
  expect(stderr).toContain('Nothing is kept of what was asked.');
});

it('adds the table to a file of the release before, which keeps all it had', async () => {
  const path = join(tempFolder(), 'data', 'usage.db');
  const event = { time: Date.now(), skill: 'tea', digest: null, agent: null, thread: null, source: null } as const;
  const row = {
    ...event,
    kind: 'load',
    outcome: 'success',
    durationMs: 1,
    tokens: 1,
    path: null,
    client: null,
  } as const;
  const before = openUsageDatabase(path, LIMITS);
  before.writeSome({ rows: [row], offers: new Map() });
  before.close();
  const raw = openDatabase(path);
  raw.exec('DROP TABLE fit; PRAGMA user_version = 4');
  raw.close();
  const database = openUsageDatabase(path, LIMITS);
  const fit = { time: Date.now(), skill: 'tea', agent: null, thread: 'one', words: 'tea', query: null };
  database.writeSome({ rows: [], offers: new Map(), fits: [fit] });
  expect(database.fits.missed('', [], 0)).toMatchObject([{ skillId: 'tea', times: 1 }]);
  const all = { from: 0, skill: undefined, agent: undefined, thread: undefined, kind: undefined, limit: 10 };
  expect(database.events(all)).toHaveLength(1);
  database.close();
});

it('removes what was missed more than 180 days ago, and what is over the limit', async () => {
  const database = openUsageDatabase(join(tempFolder(), 'usage.db'), { ...LIMITS, refusals: 3 });
  const fitted = (days: number, thread: string) => {
    const named = { skill: 'tea', agent: null, thread, words: 'tea', query: null };
    return { ...named, time: Date.now() - days * DAY };
  };
  const fits = [fitted(181, 'old'), ...['a', 'b', 'c', 'd'].map((thread) => fitted(1, thread))];
  database.writeSome({ rows: [], offers: new Map(), fits });
  await database.removeOld();
  expect(database.fits.everything().map(({ thread }) => thread)).toEqual(['b', 'c', 'd']);
  database.close();
});

it('shows the missed skills on the page of usage, and nothing of what was asked', async () => {
  const page = await reviewPage(TREE, KEEP);
  await page.registry.context(ASKED, TURN);
  const { text } = await page.get('/usage');
  expect(textOf(text)).toContain('Missed');
  expect(text).not.toContain('Hunterius');
});
