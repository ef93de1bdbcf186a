import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { skill } from '../../../helpers/boot-root.ts';
import { openRoot } from '../../../helpers/open-registry.ts';
import { type Tree, tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const TREE: Tree = { 'data/.keep': '', ...skill('tea'), 'skills/tea/times.md': 'Two minutes.' };
const AGENT = { agentId: 'clerk', threadId: 'thread-1' };

const usageFile = (root: string): string => join(root, 'data/skill_registry/usage.db');
const loads = async ({ usage }: SkillRegistry): Promise<number> => (await usage.report()).totals.loads;
const brief = (problems: ReturnType<SkillRegistry['problems']>): readonly string[] =>
  problems.filter(({ code }) => code.startsWith('USAGE')).map(({ message }) => message);

it('writes within 200 milliseconds without being asked, and at close', async () => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  await waitFor('the file', () => existsSync(usageFile(root)));
  await registry.read('tea', {}, AGENT);
  await registry.close();
  expect(await loads(await openRoot(root))).toBe(2);
});

it('takes no person who reads outside a conversation for an agent', async () => {
  const registry = await openRoot(tempFolder(TREE));
  await registry.read('tea');
  await registry.readResource('tea', 'times.md');
  await registry.admin.readBytes('tea');
  registry.list({ audience: 'person' });
  await registry.admin.contextCost();
  expect(await registry.usage.events()).toEqual([]);
  expect((await registry.usage.report()).totals.offers).toBe(0);
});

it('finds events by skill, agent, kind, time and number, the newest of too many, oldest first', async () => {
  const registry = await openRoot(tempFolder({ ...TREE, ...skill('bread') }));
  for (const id of ['tea', 'bread', 'tea']) await registry.read(id, {}, AGENT);
  await registry.readResource('tea', 'times.md', { agentId: 'other' });
  const { usage } = registry;
  const ids = async (query: Parameters<typeof usage.events>[0]): Promise<readonly string[]> =>
    (await usage.events(query)).map(({ kind, skillId }) => `${kind} ${skillId}`);
  expect(await ids({ skillId: 'bread' })).toEqual(['load bread']);
  expect(await ids({ agent: 'other' })).toEqual(['resource tea']);
  expect(await ids({ kind: 'load', limit: 2 })).toEqual(['load bread', 'load tea']);
  expect(await ids({ thread: 'thread-1' })).toHaveLength(3);
  expect(await ids({ since: '1h' })).toHaveLength(4);
});

it('cuts long names of agents and threads, and still tells two apart', async () => {
  const registry = await openRoot(tempFolder(TREE));
  const [one, two] = ['x'.repeat(5000), `${'x'.repeat(4999)}y`];
  await registry.read('tea', {}, { agentId: one, threadId: two });
  await registry.read('tea', {}, { agentId: two, threadId: one });
  const events = await registry.usage.events({ thread: one });
  expect(events).toHaveLength(1);
  expect(events[0]?.agent).toHaveLength(200);
  expect(await registry.usage.events({ agent: one })).toHaveLength(1);
});

it.each([
  ['of a root without data', { ...skill('tea') }, {}],
  ['of a root that nobody has approved', TREE, { trust: false }],
  ['where nothing may be kept on disk', TREE, { cache: 'memory' }],
] as const)('keeps the figures %s in memory, and says so', async (_, tree, options) => {
  const root = tempFolder(tree);
  const registry = await openRoot(root, options);
  await registry.read('tea', {}, AGENT);
  expect(await registry.usage.events({ thread: 'thread-1' })).toHaveLength(1);
  expect((await registry.usage.report()).notKept).toContain('of this process only');
  await registry.close();
  expect(existsSync(usageFile(root))).toBe(false);
  expect(existsSync(join(root, 'data'))).toBe('data/.keep' in tree);
});

it('opens no usage.db that lies in a root that nobody has approved', async () => {
  const root = tempFolder(TREE);
  const before = await openRoot(root);
  await before.read('tea', {}, AGENT);
  await before.close();
  const opened = statSync(usageFile(root)).mtimeMs;
  const registry = await openRoot(root, { trust: false });
  expect(await loads(registry)).toBe(0);
  expect(statSync(usageFile(root)).mtimeMs).toBe(opened);
  expect(readdirSync(join(root, 'data/skill_registry')).filter((name) => name.startsWith('usage.db'))).toEqual([
    'usage.db',
  ]);
});

it('moves into the file what was recorded before there was a folder data', async () => {
  const root = tempFolder(skill('tea'));
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  expect(await loads(registry)).toBe(1);
  await registry.proposals.propose(
    { skillId: 'tea', content: '---\nname: tea\ndescription: New.\n---\n\nNew.\n', justification: 'x' },
    AGENT,
  );
  await registry.read('tea', {}, AGENT);
  expect((await registry.usage.report()).notKept).toBeNull();
  await registry.close();
  const events = await (await openRoot(root)).usage.events({ thread: 'thread-1' });
  expect(events.map(({ outcome }) => outcome)).toEqual(['success', 'proposed', 'success']);
});

it.each([
  ['is no database', (file: string) => writeFileSync(file, 'x'.repeat(10_000))],
  [
    'is damaged in the middle',
    (file: string) => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(7, 1000, 12_000));
    },
  ],
])('replaces a file that %s, says so, and goes on', async (_, damage) => {
  const root = tempFolder(TREE);
  const before = await openRoot(root);
  await before.read('tea', {}, AGENT);
  await before.close();
  damage(usageFile(root));
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  expect(await loads(registry)).toBe(1);
  expect(brief(registry.problems())[0]).toContain('was damaged and has been replaced');
  await registry.close();
  expect(await loads(await openRoot(root))).toBe(1);
});

it.each([[['']], [['', '-wal', '-shm']]])('goes on in a new file when somebody deletes usage.db%j', async (ends) => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  expect(await loads(registry)).toBe(1);
  for (const end of ends) rmSync(usageFile(root) + end);
  await registry.read('tea', {}, AGENT);
  expect(await loads(registry)).toBeGreaterThanOrEqual(1);
  await registry.close();
  expect(await loads(await openRoot(root))).toBeGreaterThanOrEqual(1);
});

it('waits for a file that another process has locked, fails no reader, and writes it all later', async () => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  expect(await loads(registry)).toBe(1);
  const other = openSqlite(usageFile(root));
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  for (let time = 0; time < 3; time++) await registry.read('tea', {}, AGENT);
  await waitFor('the problem', () => brief(registry.problems()).length > 0);
  expect(brief(registry.problems())[0]).toContain('cannot be recorded');
  other.exec('ROLLBACK');
  expect(await loads(registry)).toBe(4);
  expect(brief(registry.problems())).toEqual([]);
});

it.skipIf(process.getuid?.() === 0)('fails no reader where the folder may not be written, and says why', async () => {
  const root = tempFolder(TREE);
  chmodSync(join(root, 'data'), 0o555);
  onTestFinished(() => chmodSync(join(root, 'data'), 0o755));
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  await waitFor('the problem', () => brief(registry.problems()).length > 0);
});

it('fails no reader where the file cannot be opened, keeps what was recorded, and writes it later', async () => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root);
  await registry.read('tea', {}, AGENT);
  expect(await loads(registry)).toBe(1);
  // A folder in its place cannot be opened.
  await registry.usage.report();
  for (const end of ['', '-wal', '-shm']) rmSync(usageFile(root) + end, { force: true });
  execFileSync('mkdir', [usageFile(root)]);
  for (let time = 0; time < 3; time++) await registry.read('tea', {}, AGENT);
  await waitFor('the problem', () => brief(registry.problems()).length > 0);
  rmSync(usageFile(root), { recursive: true });
  expect(await loads(registry)).toBe(3);
});

it('adds up what several processes write at the same time', { timeout: 60_000 }, async () => {
  const root = tempFolder(TREE);
  const main = await openRoot(root);
  const program = `
    import { createSkillRegistry } from 'skill-registry';
    const registry = await createSkillRegistry({ root: ${JSON.stringify(root)}, config: { sources: [{ path: 'skills' }] } });
    for (let time = 0; time < 300; time++) {
      await registry.read('tea', {}, { agentId: 'other' });
      registry.list({}, { agentId: 'other' });
      if (time % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 120));
    }
    await registry.close();`;
  const children = [1, 2].map(
    () =>
      new Promise<number | null>((resolve) => {
        const args = ['--import', 'tsx', '--conditions=source', '--input-type=module', '-e', program];
        spawn(process.execPath, args, { stdio: 'inherit' }).on('close', resolve);
      }),
  );
  for (let time = 0; time < 300; time++) {
    await main.read('tea', {}, AGENT);
    if (time % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
  }
  expect(await Promise.all(children)).toEqual([0, 0]);
  const { agents, totals } = await main.usage.report();
  expect(totals).toMatchObject({ loads: 900, offers: 600 });
  expect(agents.map(({ agent, loads: count }) => [agent, count])).toEqual([
    ['other', 600],
    ['clerk', 300],
  ]);
  expect(brief(main.problems())).toEqual([]);
});
