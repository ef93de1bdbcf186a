import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { ADA, LONGER, TEA } from '../helpers/tea.ts';
import { type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';
import { twoAtATime } from '../helpers/two-at-a-time.ts';

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

/** What is there before the change that a process is killed in. Bringing a skill is killed below, where there are two. */
const ACTIONS: readonly (readonly [Action, readonly string[], (house: House) => Promise<void>])[] = [
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
  ['import', STEPS, async (house) => become(house, 'brewing.md', PROMPT)],
];

/** As in change-child.mjs. */
const CHANGES = {
  add: async ({ origin }: SkillRegistry, from: string) => (await origin.add(from, { all: true })).apply(ADA),
  import: async ({ origin }: SkillRegistry, from: string) => (await origin.import(from)).apply(ADA),
  bringBack: async ({ origin }: SkillRegistry) => (await origin.restore()).apply(ADA),
  update: async ({ origin }: SkillRegistry) => (await origin.update()).apply(ADA),
  uninstall: ({ origin }: SkillRegistry) => origin.remove('tea', ADA),
};
type Action = keyof typeof CHANGES;

/** Of the folder of the house, only this is meant. */
async function become(house: House, what: string, tree: Tree): Promise<void> {
  writeTree(house.from, tree);
  house.what = `/${what}`;
}

async function install(house: House): Promise<void> {
  await withRegistry(house, async ({ origin }) => (await origin.add(house.from)).apply(ADA));
}

async function withRegistry<T>(
  { root }: House,
  use: (registry: SkillRegistry) => Promise<T>,
  onWriteStep?: (step: string) => void,
): Promise<T> {
  const options = { root, config: { sources: [{ path: 'skills' }] }, ...(onWriteStep && { onWriteStep }) };
  const registry = await createSkillRegistry(options);
  try {
    return await use(registry);
  } finally {
    await registry.close();
  }
}

const stateOf = (house: House) => withRegistry(house, (registry) => stateIn(registry, house));

/** Everything that the change is about. */
async function stateIn(registry: SkillRegistry, house: House) {
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
}

/** In a process that is killed. @returns The signal; null when it ends by itself. */
function change(house: House, action: Action, dieAt?: string | number): Promise<string | null> {
  const step = typeof dieAt === 'number' ? { dieAtStep: dieAt } : { dieAt };
  const request = { root: house.root, action, args: { from: whereOf(house) }, ...step };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (_status, signal) => resolve(signal));
  });
}

const whereOf = ({ from, what = '' }: House): string => `${from}${what}`;

/** Here: a process of its own costs a second, and the next one only has to be another than the one that was killed. */
function changeHere(registry: SkillRegistry, house: House, action: Action): Promise<unknown> {
  return CHANGES[action](registry, whereOf(house));
}

async function houseFor(prepare: (house: House) => Promise<void>): Promise<House> {
  const house = { root: tempFolder({ 'skills/x.md': '' }), from: tempFolder(TREE) };
  await prepare(house);
  return house;
}

/** As it was prepared. No change touches what it takes, so only the root is another. */
function copyOf(house: House): House {
  const root = tempFolder();
  cpSync(house.root, root, { recursive: true, preserveTimestamps: true });
  return { ...house, root };
}

/** What comes of a change that nobody kills, and the steps that it has. */
async function wholeChange(house: House, action: Action) {
  const steps: string[] = [];
  await withRegistry(
    house,
    async (registry) => {
      steps.length = 0;
      await changeHere(registry, house, action);
    },
    (step) => steps.push(step),
  );
  return { all: await stateOf(house), steps };
}

/** Root and sources lie in other folders each time. */
const comparable = (state: object, { from, root }: House): string =>
  JSON.stringify(state)
    .replaceAll(from.split('/').at(-1) ?? '', '<from>')
    .replaceAll(root, '<root>');

describe.each(ACTIONS)('a process that is killed in %s', (action, steps, prepare) => {
  it('leaves the files, the lock and the proposals as they were, or all of them new', async () => {
    const prepared = await houseFor(prepare);
    const whole = copyOf(prepared);
    const before = comparable(await stateOf(whole), whole);
    const after = comparable((await wholeChange(whole, action)).all, whole);
    expect(after).not.toBe(before);
    const ends = new Set<string>();
    await twoAtATime(steps, async (step) => {
      const house = copyOf(prepared);
      expect(await change(house, action, step), step).toBe('SIGKILL');
      await withRegistry(house, async (registry) => {
        const end = comparable(await stateIn(registry, house), house);
        expect([before, after], step).toContain(end);
        ends.add(end);
        // Nothing is left that a second try would stumble over.
        if (end === before) await changeHere(registry, house, action);
      });
      expect(comparable(await stateOf(house), house), step).toBe(after);
    });
    expect(ends.size).toBe(2);
  });
});

/** Changes that bring two skills. */
const SEVERAL: readonly (readonly [Action, (house: House) => Promise<void>])[] = [
  ['add', async (house) => writeTree(house.from, MILK)],
  ['import', async (house) => become(house, 'roles', ROLES)],
];

describe.each(SEVERAL)('a process that is killed in %s of several skills', (action, prepare) => {
  it('leaves each of them whole or not there, wherever it is killed, and the same command brings the others', async () => {
    const prepared = await houseFor(prepare);
    const whole = copyOf(prepared);
    const { all, steps } = await wholeChange(whole, action);
    expect(steps).toEqual(expect.arrayContaining(STEPS));
    const [first, second] = foldersOf(all);
    const ends = new Set<string>();
    const stateAfter = async (house: House, where: string): Promise<void> =>
      withRegistry(house, async (registry) => {
        const there = await stateIn(registry, house);
        const folders = foldersOf(there);
        // In their order, and the lock has neither more nor fewer than the disk.
        expect([[], [first], [first, second]], where).toContainEqual(folders);
        for (const [path, file] of Object.entries(there.files)) expect(all.files[path], `${where}: ${path}`).toBe(file);
        for (const id of folders) {
          const inside = (files: Files): readonly string[] =>
            Object.keys(files).filter((path) => path.startsWith(`${id}/`));
          expect(inside(there.files), where).toEqual(inside(all.files));
        }
        const locked = there.verified.map(({ id, state }) => `${id} ${state}`);
        expect(locked, where).toEqual(all.lock === '' ? [] : folders.map((id) => `${id} same`));
        if (folders.length === 0) expect(there.lock, where).toBe('');
        expect([there.catalog.toSorted(), there.proposals], where).toEqual([folders.toSorted(), all.proposals]);
        ends.add(String(folders.length));
        await changeHere(registry, house, action);
      });
    // One more than there are: nobody kills the last.
    await twoAtATime(
      [...steps, null].map((name, at) => ({ name, at })),
      async ({ at, name }) => {
        const house = copyOf(prepared);
        const where = `step ${at + 1}, ${name}`;
        expect(await change(house, action, at + 1), where).toBe(name === null ? null : 'SIGKILL');
        await stateAfter(house, where);
        expect(comparable(await stateOf(house), house), where).toBe(comparable(all, whole));
      },
    );
    expect([...ends].sort()).toEqual(['0', '1', '2']);
  });
});

type State = Awaited<ReturnType<typeof stateIn>>;
type Files = State['files'];

/** The folders of the skills, in the order in which they are made. */
function foldersOf({ files }: State): readonly string[] {
  return [...new Set(Object.keys(files).flatMap((path) => /^([^/]+)\//.exec(path)?.[1] ?? []))];
}
