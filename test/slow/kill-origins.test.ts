import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
const STEPS = ['locked', 'intent', 'temporary', 'changed', 'committed'];
const MOVE_STEPS = ['locked', 'intent', 'changed', 'committed'];

interface House {
  readonly root: string;
  readonly from: string;
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
  ['uninstall', MOVE_STEPS, install],
];

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
async function stateOf(house: House): Promise<object> {
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

function change(house: House, action: string, dieAt?: string): Promise<string | null> {
  const request = { root: house.root, action, args: { from: house.from }, dieAt };
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

/** Sources lie in another folder each time. */
const comparable = (state: object, { from }: House): string =>
  JSON.stringify(state).replaceAll(from.split('/').at(-1) ?? '', '<from>');

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
