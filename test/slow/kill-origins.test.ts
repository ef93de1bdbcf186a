import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { ADA, LONGER, TEA } from '../helpers/tea.ts';
import { type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';

const CHILD = join(import.meta.dirname, '..', 'helpers', 'change-child.mjs');
const TREE: Tree = {
  'tea/SKILL.md': TEA,
  'tea/references/a.md': 'a\n',
  'tea/references/b.md': 'b\n',
  'tea/run.sh': { content: 'echo\n', mode: 0o755 },
};
const NEWER: Tree = { 'tea/SKILL.md': LONGER, 'tea/references/a.md': 'newer\n', 'tea/references/c.md': 'c\n' };
const MINE: Tree = { 'skills/tea/SKILL.md': TEA.replace('two minutes', 'ten minutes') };
/** Another skill of the same origin, and role templates that become two skills. */
const MILK: Tree = { 'milk/SKILL.md': TEA.replace('name: tea', 'name: milk'), 'milk/a.md': 'a\n' };
const ROLES: Tree = {
  'roles/brewer/system_prompt.md': 'You brew tea.\n',
  'roles/brewer/task_prompt.md': 'Brew.\n',
  'roles/brewer/more.md': 'More.\n',
  'roles/taster/system_prompt.md': 'You taste tea.\n',
  'roles/taster/task_prompt.md': 'Taste.\n',
};
/** A prompt that is split into what stays, a skill and a reference of it. */
const PROMPT: Tree = {
  'brewing.md': `You brew.\n\n## Pots\nWarm them.\n\n## Examples\n${'const a = 1;\n'.repeat(25)}`,
};
const STEPS = ['locked', 'intent', 'temporary', 'changed', 'committed'];
const MOVE_STEPS = ['locked', 'intent', 'changed', 'committed'];

interface House {
  readonly root: string;
  readonly from: string;
  /** Below `from`: what the change takes. Default: all of it. */
  what?: string;
}

/** What is there before the change that a process is killed in. */
const ACTIONS: readonly (readonly [string, readonly string[], (house: House) => Promise<void>])[] = [
  ['add', STEPS, async () => undefined],
  [
    'bringBack',
    STEPS,
    async (house) => {
      await install(house);
      const lock = readFileSync(join(house.root, 'skills-lock.json'));
      await withRegistry(house, (registry) => registry.origin.remove('tea', ADA));
      writeTree(house.root, { 'skills-lock.json': lock });
    },
  ],
  [
    'update',
    STEPS,
    async (house) => {
      await install(house);
      writeTree(house.from, NEWER);
      writeTree(house.root, MINE);
    },
  ],
  [
    'update',
    STEPS,
    async (house) => {
      await install(house);
      chmodSync(join(house.from, 'tea/run.sh'), 0o644);
    },
  ],
  ['uninstall', MOVE_STEPS, install],
  ['import', STEPS, async (house) => become(house, 'roles/brewer', ROLES)],
  ['import', STEPS, async (house) => become(house, 'brewing.md', PROMPT)],
];

/** Of the folder of the house, only this is meant. */
async function become(house: House, what: string, tree: Tree): Promise<void> {
  writeTree(house.from, tree);
  house.what = `/${what}`;
}

async function install(house: House): Promise<void> {
  await withRegistry(house, async ({ origin }) => (await origin.add(house.from)).apply(ADA));
}

async function withRegistry<T>({ root }: House, use: (registry: SkillRegistry) => Promise<T>): Promise<T> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  try {
    return await use(registry);
  } finally {
    await registry.close();
  }
}

/** Everything that the change is about. */
async function stateOf(house: House) {
  return withRegistry(house, async (registry) => {
    const lock = join(house.root, 'skills-lock.json');
    const skills = join(house.root, 'skills');
    const waiting = await registry.proposals.list();
    expect(registry.problems()).toEqual([]);
    return {
      files: existsSync(skills) ? treeOf(skills) : {},
      lock: existsSync(lock) ? readFileSync(lock, 'utf8') : '',
      verified: await registry.origin.verify(),
      proposals: waiting.map(({ path, diff }) => [path, diff]),
      catalog: registry.snapshot().skills.map(({ id }) => id),
    };
  });
}

function change(house: House, action: string, dieAt?: string | number): Promise<string | null> {
  const step = typeof dieAt === 'number' ? { dieAtStep: dieAt } : { dieAt };
  const request = { root: house.root, action, args: { from: `${house.from}${house.what ?? ''}` }, ...step };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (_status, signal) => resolve(signal));
  });
}

async function houseFor(prepare: (house: House) => Promise<void>): Promise<House> {
  const house = { root: tempFolder({ 'skills/x.md': '' }), from: tempFolder(TREE) };
  await prepare(house);
  return house;
}

/** Root and sources lie in other folders each time. */
const comparable = (state: object, { from, root }: House): string =>
  JSON.stringify(state)
    .replaceAll(from.split('/').at(-1) ?? '', '<from>')
    .replaceAll(root, '<root>');

describe.each(ACTIONS)('a process that is killed in %s', (action, steps, prepare) => {
  it('leaves the files, the lock and the proposals as they were, or all of them new', async () => {
    const whole = await houseFor(prepare);
    const before = comparable(await stateOf(whole), whole);
    expect(await change(whole, action)).toBeNull();
    const after = comparable(await stateOf(whole), whole);
    expect(after).not.toBe(before);
    const ends = new Set<string>();
    for (const step of steps) {
      const house = await houseFor(prepare);
      expect(await change(house, action, step), step).toBe('SIGKILL');
      const end = comparable(await stateOf(house), house);
      expect([before, after], step).toContain(end);
      ends.add(end);
      // Nothing is left that a second try would stumble over.
      if (end === before) expect(await change(house, action), step).toBeNull();
      expect(comparable(await stateOf(house), house), step).toBe(after);
    }
    expect(ends.size).toBe(2);
  });
});

/** Changes that bring two skills. */
const SEVERAL: readonly (readonly [string, (house: House) => Promise<void>])[] = [
  ['add', async (house) => writeTree(house.from, MILK)],
  ['import', async (house) => become(house, 'roles', ROLES)],
];

describe.each(SEVERAL)('a process that is killed in %s of several skills', (action, prepare) => {
  it('leaves each of them whole or not there, wherever it is killed, and the same command brings the others', async () => {
    const whole = await houseFor(prepare);
    expect(await change(whole, action)).toBeNull();
    const all = await stateOf(whole);
    const [first, second] = foldersOf(all);
    const ends = new Set<string>();
    for (let step = 1; ; step++) {
      const house = await houseFor(prepare);
      const signal = await change(house, action, step);
      const there = await stateOf(house);
      const [one, other] = foldersOf(there);
      const where = `step ${step}`;
      // In their order, and the lock has neither more nor fewer than the disk.
      expect([[], [first], [first, second]], where).toContainEqual([one, other].filter((id) => id !== undefined));
      for (const [path, file] of Object.entries(there.files)) expect(all.files[path], `${where}: ${path}`).toBe(file);
      for (const id of foldersOf(there)) {
        const inside = (files: Files): readonly string[] =>
          Object.keys(files).filter((path) => path.startsWith(`${id}/`));
        expect(inside(there.files), where).toEqual(inside(all.files));
      }
      const locked = there.verified.map(({ id, state }) => `${id} ${state}`);
      expect(locked, where).toEqual(all.lock === '' ? [] : foldersOf(there).map((id) => `${id} same`));
      ends.add(String(foldersOf(there).length));
      expect(await change(house, action), where).toBeNull();
      expect(comparable(await stateOf(house), house), where).toBe(comparable(all, whole));
      if (signal === null) break;
      expect(signal).toBe('SIGKILL');
    }
    expect([...ends].sort()).toEqual(['0', '1', '2']);
  });
});

type State = Awaited<ReturnType<typeof stateOf>>;
type Files = State['files'];

/** The folders of the skills, in the order in which they are made. */
function foldersOf({ files }: State): readonly string[] {
  return [...new Set(Object.keys(files).flatMap((path) => /^([^/]+)\//.exec(path)?.[1] ?? []))];
}
