import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect } from 'vitest';
import { digestOf } from '../../lib/digest/index.ts';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { type Disk, folderElsewhere, smallDisk } from './file-systems.ts';
import { seededRandom } from './seeded-random.ts';
import { TEA } from './tea.ts';
import { tempFolder, writeTree } from './temp-folder.ts';
import { treeOf } from './tree-of.ts';
import { twoAtATime } from './two-at-a-time.ts';

/** Where skills and history are: `apart`, on two file systems; `full`, on a disk that runs full in the middle of each change. */
export type Layout = 'together' | 'apart' | 'full';

export interface KillOptions {
  readonly layout: Layout;
  /** At least this many; default: each step of each change once. */
  readonly kills?: number;
  /** The same seed kills in the same order. */
  readonly seed: number;
}

const CHILD = join(import.meta.dirname, 'change-child.mjs');
const FILE_STEPS = ['file-temporary', 'file-written', 'file-noted'];
const CHANGE_STEPS = ['locked', 'intent', 'temporary', 'changed', 'committed'];
const ACTOR = { by: 'person:ada', reason: 'Because.' };

/** A skill with others in it, which are files of it and never skills of their own. */
const SKILLS = {
  'tea/SKILL.md': TEA,
  'tea/references/a.md': 'a\n',
  'tea/examples/green/SKILL.md': 'An example.\n',
  'tea/examples/black/SKILL.md': 'Another one.\n',
  'tea/scripts/run.sh': { content: 'echo\n', mode: 0o755 },
};

/**
 * Changes skills in processes of their own that are killed at every step of every change, and holds what the next process
 * finds against what must never happen.
 *
 * @returns how often each step of each change was killed at, by `<change> <step>`.
 */
export async function surviveKills({ layout, kills = 0, seed }: KillOptions): Promise<ReadonlyMap<string, number>> {
  const plan = Object.entries(stepsOf(layout)).flatMap(([action, steps]) => steps.map((step) => ({ action, step })));
  const hits = new Map<string, number>();
  // Two houses have every second step each, so that nobody waits for one process at a time.
  await twoAtATime([0, 1], async (half) => {
    const ofHalf = plan.filter((_, at) => at % 2 === half);
    const random = seededRandom(seed + half);
    const count = Math.max(Math.ceil(kills / 2), ofHalf.length);
    // Every step in turn, in another order each round.
    const turns: Turn[] = [];
    while (turns.length < count) turns.push(...ofHalf.toSorted(() => random() - 0.5));
    await killInTurn({
      layout,
      random,
      turns: turns.slice(0, count),
      name: `${layout}, seed ${seed}, half ${half}`,
      hits,
    });
  });
  return hits;
}

// --- internal ---

interface Turn {
  readonly action: string;
  readonly step: string;
}

async function killInTurn({
  layout,
  random,
  turns,
  name,
  hits,
}: {
  readonly layout: Layout;
  readonly random: () => number;
  readonly turns: readonly Turn[];
  readonly name: string;
  readonly hits: Map<string, number>;
}): Promise<void> {
  const house = build(layout);
  const prepared = (registry: SkillRegistry, kill: number) =>
    turns[kill] && prepare(registry, turns[kill].action, kill, random);
  let args = await withRegistry(house.root, async (registry) => {
    // What it is before anything happens is in the history, too.
    await registry.history.revisions('tea');
    return prepared(registry, 0);
  });
  for (const [kill, { action, step }] of turns.entries()) {
    const where = `kill ${kill} (${name}): ${action} at ${step}`;
    const before = treeOf(join(house.root, 'skills/'));
    // On a full disk the change may fail before the step, so it is undone; now and then the process dies in the middle of that.
    const dieAfterMs = house.disk && random() < 0.3 ? Math.floor(random() * 40) : undefined;
    const fillAt = house.disk && (random() < 0.5 ? 'intent' : 'changed');
    const { filler, root } = house;
    const { signal, output } = await change({ root, action, args, dieAt: step, filler, fillAt, dieAfterMs });
    if (!house.disk) expect(signal, `${where}: ${output}`).toBe('SIGKILL');
    if (signal === 'SIGKILL') hits.set(`${action} ${step}`, (hits.get(`${action} ${step}`) ?? 0) + 1);
    if (action === 'remove' || action === 'restore') await nothingIsHalf(root, where);
    house.disk?.free();
    args = await withRegistry(root, async (registry) => {
      await verify(registry, root, where);
      if (output.includes('"failed"')) expect(treeOf(join(root, 'skills/')), `${where}: ${output}`).toEqual(before);
      return prepared(registry, kill + 1);
    });
  }
}

interface House {
  readonly root: string;
  readonly disk?: Disk;
  /** The file that takes all room of the disk. */
  readonly filler?: string;
}

function build(layout: Layout): House {
  if (layout === 'full') {
    const disk = smallDisk('24m');
    writeTree(join(disk.dir, 'skills'), SKILLS);
    return { root: disk.dir, disk, filler: disk.filler };
  }
  const root = tempFolder();
  writeTree(join(root, 'skills'), SKILLS);
  if (layout === 'apart') symlinkSync(folderElsewhere(), join(root, 'data'));
  return { root };
}

/** Every step of everything that changes a skill or a proposal. */
function stepsOf(layout: Layout): Readonly<Record<string, readonly string[]>> {
  const move = [
    'locked',
    'intent',
    ...(layout === 'apart' ? ['copying', 'copied', 'aside'] : []),
    'changed',
    'committed',
  ];
  return {
    propose: ['locked', 'row', ...FILE_STEPS],
    approve: [...CHANGE_STEPS, ...FILE_STEPS],
    reject: ['locked', ...FILE_STEPS],
    rollback: CHANGE_STEPS,
    create: CHANGE_STEPS,
    write: CHANGE_STEPS,
    remove: move,
    restore: move,
  };
}

/** Brings about what the action needs. @returns its arguments. */
async function prepare(registry: SkillRegistry, action: string, kill: number, random: () => number): Promise<object> {
  const isThere = registry.snapshot().byId.has('tea');
  if (action === 'restore') {
    if (isThere) await registry.admin.management.remove('tea', ACTOR);
    return {};
  }
  if (!isThere) await registry.history.restore('tea', ACTOR);
  const content = TEA.replace('two minutes', `${kill} minutes`);
  if (action === 'approve' || action === 'reject') {
    const input = { skillId: 'tea', content, justification: 'Needed.', author: 'person:ada' };
    const { proposalId } = await registry.proposals.propose(input);
    return { id: proposalId };
  }
  if (action === 'rollback') {
    await registry.admin.management.write('tea', 'SKILL.md', content, ACTOR);
    const revisions = await registry.history.revisions('tea');
    const present = revisions.at(-1)?.digest;
    const others = revisions.filter(({ digest }) => digest !== present);
    return { revision: others[Math.floor(random() * others.length)]?.number };
  }
  if (action === 'create')
    return { id: `new-${kill}`, content: `---\nname: new-${kill}\ndescription: New.\n---\n\nNew.\n` };
  // An agent may have five that wait.
  for (const { id, author } of action === 'propose' ? await registry.proposals.list() : [])
    if (author !== 'person:ada') await registry.proposals.reject(id, ACTOR);
  const path = random() < 0.5 ? 'SKILL.md' : `references/${kill}.md`;
  return { path, content };
}

/** As long as nobody has ended what was begun, a skill that moves is whole or is none, and so is what is in it. */
async function nothingIsHalf(root: string, where: string): Promise<void> {
  const options = { root, config: { sources: [{ path: 'skills' }] }, trust: false, cache: 'memory' } as const;
  const registry = await createSkillRegistry(options);
  const ids = registry.snapshot().skills.map(({ id }) => id);
  expect(
    ids.filter((id) => !/^(tea|new-\d+)$/.test(id)),
    where,
  ).toEqual([]);
  if (ids.includes('tea')) {
    const paths = Object.keys(treeOf(join(root, 'skills/tea')));
    expect(paths, where).toEqual(expect.arrayContaining(Object.keys(SKILLS).map((path) => path.slice('tea/'.length))));
  }
  await registry.close();
}

/** Holds what a registry that was opened after the kill finds against what must never happen. */
async function verify(registry: SkillRegistry, root: string, where: string): Promise<void> {
  const data = join(root, 'data/skill_registry');
  const database = openSqlite(join(data, 'history.db'));
  const all = <T>(sql: string): readonly T[] => database.prepare(sql).all() as T[];
  expect(all('PRAGMA integrity_check'), where).toEqual([{ integrity_check: 'ok' }]);
  expect(all('SELECT id FROM operation'), where).toEqual([]);

  for (const folder of readdirSync(join(root, 'skills'))) {
    const trees = all<{ tree: string }>(`SELECT tree FROM revision WHERE place = 'skills/${folder}'`);
    const known = trees.map(({ tree }) =>
      (JSON.parse(tree) as Kept[]).map(({ path, digest }) => `${path} ${digest}`).join('\n'),
    );
    expect(known, where).toContain(filesOf(join(root, 'skills', folder)).join('\n'));
  }
  const archived = existsSync(join(data, '.archive')) ? readdirSync(join(data, '.archive')) : [];
  const teas = archived.length + Number(existsSync(join(root, 'skills/tea')));
  expect(teas, where).toBe(1);
  for (const name of archived) expect(filesOf(join(data, '.archive', name)).length, where).toBeGreaterThanOrEqual(5);

  const rows = all<{ id: string; state: string; applied: number }>(
    'SELECT id, state, (SELECT count(*) FROM revision WHERE revision.proposal = proposal.id) AS applied FROM proposal',
  );
  for (const { id, state, applied } of rows)
    expect(`${state} ${applied}`, `${where} ${id}`).toMatch(/^(open 0|rejected 0|approved 1)$/);
  const files = existsSync(join(data, 'proposals')) ? readdirSync(join(data, 'proposals')) : [];
  expect(files.sort(), where).toEqual(rows.map(({ id }) => `${id}.md`).sort());
  for (const { id, state } of rows.slice(-3)) {
    expect(readFileSync(join(data, 'proposals', `${id}.md`), 'utf8'), where).toContain(`state: ${state}`);
  }
  const left = ['skills/', 'data/'].flatMap((folder) => Object.keys(treeOf(join(root, folder))));
  expect(
    left.filter((path) => path.includes('.skill-registry-')),
    where,
  ).toEqual([]);
  database.close();
  expect(registry.problems(), where).toEqual([]);
}

interface Kept {
  readonly path: string;
  readonly digest: string;
}

/** As the history has them. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file.slice(folder.length + 1), digestOf(readFileSync(file))] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join(' '));
}

async function withRegistry<T>(root: string, use: (registry: SkillRegistry) => Promise<T>): Promise<T> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  try {
    return await use(registry);
  } finally {
    await registry.close();
  }
}

function change(request: object): Promise<{ readonly signal: NodeJS.Signals | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
    child.on('error', reject);
    child.on('exit', (_status, signal) => resolve({ signal, output }));
  });
}
