import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDebounce } from '../../../../extensions/skill_registry/core/catalog/watch.ts';
import { openRegistry } from '../../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

/** The description is `v` and the given text, because a number would be none. */
const skill = (name: string, text: string): string => skillMd({ name, description: `v${text}` });
const at = (id: string, description: string): Tree => ({ [`skills/${id}/SKILL.md`]: skill(id, description) });

/** A registry over `skills` and `late/skills`, watched until the test has finished. */
async function watched(tree: Tree, watch: { mode: string; interval_seconds: number }, more: object = {}) {
  const opened = await openRegistry(tree, { sources: [{ path: 'skills' }, { path: 'late/skills' }], watch, ...more });
  const end = new AbortController();
  const ended = opened.registry.watch(end.signal);
  onTestFinished(async () => {
    end.abort();
    await ended;
  });
  return { ...opened, end, ended };
}

/** `id text` of every skill, as an agent would see it at this moment. */
async function seen(registry: SkillRegistry): Promise<string> {
  const { skills } = registry.list({ limit: 200 });
  const listed = skills.map(({ skillId, description }) => `${skillId} ${description.replace(/^v/, '')}`).join(', ');
  const text = ((await registry.context('')) ?? '').split('\n').filter((line) => line.startsWith('•'));
  const inContext = text.map((line) => line.replace(/^• `(.*)` — v?(.*)$/, '$1 $2')).join(', ');
  expect(inContext, 'list and context agree').toBe(listed);
  return listed;
}

/** A poll never comes within the test: what is seen is seen by events. */
const EVENTS = { mode: 'events', interval_seconds: 3600 };
const MODES = [EVENTS, { mode: 'poll', interval_seconds: 0.2 }];

/** What happens, and what is there afterwards; before it, `a One., b One.` is. */
const CHANGES: readonly (readonly [name: string, change: (root: string) => void, afterwards: string])[] = [
  ['an edit', (root) => writeTree(root, at('a', 'Edited.')), 'a Edited., b One.'],
  [
    'a rewrite of the same size in the same second',
    (root) => {
      const file = join(root, 'skills/a/SKILL.md');
      const { atime, mtime } = statSync(file);
      writeTree(root, at('a', 'Two.'));
      utimesSync(file, atime, mtime);
    },
    'a Two., b One.',
  ],
  ['a new skill', (root) => writeTree(root, at('c', 'New.')), 'a One., b One., c New.'],
  ['a skill in a new nested folder', (root) => writeTree(root, at('x/y/z', 'Deep.')), 'a One., b One., z Deep.'],
  ['a renamed folder', (root) => renameSync(join(root, 'skills/a'), join(root, 'skills/c')), 'b One., c One.'],
  ['a deleted folder', (root) => rmSync(join(root, 'skills/a'), { recursive: true }), 'b One.'],
  ['a deleted SKILL.md', (root) => rmSync(join(root, 'skills/a/SKILL.md')), 'b One.'],
  [
    'a file that replaces another, as editors save',
    (root) => {
      writeFileSync(join(root, 'skills/a/.new'), skill('a', 'Saved.'));
      renameSync(join(root, 'skills/a/.new'), join(root, 'skills/a/SKILL.md'));
    },
    'a Saved., b One.',
  ],
  [
    'a source folder that did not exist',
    (root) => writeTree(root, { 'late/skills/d/SKILL.md': skill('d', 'Late.') }),
    'a One., b One., d Late.',
  ],
  ['the whole source gone', (root) => rmSync(join(root, 'skills'), { recursive: true }), ''],
];

it('a burst of events is looked at once: after 100 ms of quiet, and 400 ms after its first event at the latest', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let looks = 0;
  const { wake } = createDebounce(() => void looks++);
  wake();
  vi.advanceTimersByTime(99);
  expect(looks).toBe(0);
  vi.advanceTimersByTime(1);
  expect(looks).toBe(1);
  for (let ms = 0; ms < 400; ms += 50) {
    expect(looks).toBe(1);
    wake();
    vi.advanceTimersByTime(50);
  }
  expect(looks).toBe(2);
});

describe.each(MODES)('in mode $mode', (watch) => {
  const until = (registry: SkillRegistry, expected: string) =>
    waitFor(`"${expected}"`, async () => (await seen(registry)) === expected);

  // Side by side, each with a registry of its own: it is all waiting.
  it('every kind of change is seen', async () => {
    const outcomes = CHANGES.map(async ([name, change, afterwards]) => {
      const { root, registry } = await watched({ ...at('a', 'One.'), ...at('b', 'Old.') }, watch);
      writeTree(root, at('b', 'One.'));
      // Once this is seen, the watches are in place.
      await until(registry, 'a One., b One.');
      change(root);
      await until(registry, afterwards).catch(() => undefined);
      return [name, await seen(registry)];
    });
    expect(await Promise.all(outcomes)).toEqual(CHANGES.map(([name, , afterwards]) => [name, afterwards]));
  });

  it('a change made the moment watching begins is seen', async () => {
    const { root, registry } = await watched(at('a', 'One.'), watch);
    writeTree(root, at('early', 'Bird.'));
    await until(registry, 'a One., early Bird.');
  });
});

describe('in mode events', () => {
  it('a hundred skills that come at once are seen', async () => {
    const { root, registry } = await watched(at('a', 'One.'), EVENTS);
    for (let number = 0; number < 100; number++) writeTree(root, at(`s${number}`, 'Many.'));
    await waitFor('all of them', () => registry.snapshot().skills.length === 101);
  });

  it('one change after another is seen, in folders that come, go and are replaced', async () => {
    const { root, registry } = await watched(at('a', '1'), EVENTS);
    const replace = (folder: string, tree: Tree): void => {
      rmSync(join(root, folder), { recursive: true });
      writeTree(root, tree);
    };
    const steps: readonly (readonly [() => void, string])[] = [
      [() => writeTree(root, at('a', '2')), 'a 2'],
      [() => rmSync(join(root, 'skills/a'), { recursive: true }), ''],
      [() => writeTree(root, at('a', '3')), 'a 3'],
      [() => writeTree(root, at('a', '4')), 'a 4'],
      [() => replace('skills/a', at('a', '5')), 'a 5'],
      [() => writeTree(root, at('a', '6')), 'a 6'],
      [() => replace('skills', at('g/a', '7')), 'a 7'],
      [() => writeTree(root, at('g/a', '8')), 'a 8'],
      [() => writeTree(root, { 'late/skills/z/SKILL.md': skill('z', '1') }), 'a 8, z 1'],
      [() => writeTree(root, { 'late/skills/z/SKILL.md': skill('z', '2') }), 'a 8, z 2'],
      [() => rmSync(join(root, 'late'), { recursive: true }), 'a 8'],
      [() => writeTree(root, { 'late/skills/z/SKILL.md': skill('z', '3') }), 'a 8, z 3'],
      [() => renameSync(join(root, 'late'), join(root, 'never')), 'a 8'],
      [() => renameSync(join(root, 'never'), join(root, 'late')), 'a 8, z 3'],
      [() => writeTree(root, { 'late/skills/z/SKILL.md': skill('z', '4') }), 'a 8, z 4'],
    ];
    for (const [change, expected] of steps) {
      change();
      await waitFor(`"${expected}"`, async () => (await seen(registry)) === expected);
    }
  });

  it('a skill outside the source is seen when a link leads to it', async () => {
    const far = tempFolder({ 'far/SKILL.md': skill('far', '1'), 'file/text.md': skill('file', '1') });
    const tree = {
      'skills/far': { link: join(far, 'far') },
      'skills/file/SKILL.md': { link: join(far, 'file/text.md') },
    };
    const sources = [{ path: 'skills', allow_outside: true }];
    const { registry } = await watched(tree, EVENTS, { sources });
    for (const number of ['2', '3']) {
      writeTree(far, { 'far/SKILL.md': skill('far', number) });
      await waitFor('the folder', async () => (await seen(registry)).startsWith(`far ${number}, `));
      writeTree(far, { 'file/text.md': skill('file', number) });
      await waitFor('the file', async () => (await seen(registry)) === `far ${number}, file ${number}`);
    }
  });
});

it('in mode off nothing is seen until a refresh', async () => {
  const { root, registry, ended } = await watched(at('a', 'One.'), { mode: 'off', interval_seconds: 0.05 });
  await ended;
  writeTree(root, at('a', 'Two.'));
  // Other timers and file events of this process come and go meanwhile.
  await waitFor('some time to pass', async () => (await seen(registry)) !== 'a One.', 300).catch(() => undefined);
  expect(await seen(registry)).toBe('a One.');
  await registry.refresh();
  expect(await seen(registry)).toBe('a Two.');
});

describe('the end', () => {
  const handles = (): readonly string[] => process.getActiveResourcesInfo();
  /** What is there when neither this test nor its runner waits for a timer. */
  const quietHandles = () => waitFor('no timer', () => (handles().includes('Timeout') ? undefined : handles()));
  /** Handles that were not there before. What other tests have left for a moment may go meanwhile. */
  const added = (before: readonly string[]): readonly string[] => {
    const known = [...before];
    return handles().filter((handle) => {
      const at = known.indexOf(handle);
      if (at >= 0) known.splice(at, 1);
      return at < 0;
    });
  };

  it.each(MODES)('leaves no handle of mode $mode behind, also in the middle of a refresh', async (watch) => {
    const { root, registry } = await openRegistry({ ...at('a', '1'), ...at('b/c', '1') }, { watch });
    const before = await quietHandles();
    for (const id of ['c', 'd', 'e']) {
      const end = new AbortController();
      const ended = registry.watch(end.signal);
      expect(registry.admin.watchMode()).toBe(watch.mode);
      writeTree(root, at(id, '1'));
      await waitFor('the new skill', () => registry.snapshot().byId.has(id));
      expect(added(before)).not.toEqual([]);
      writeTree(root, at(`${id}-2`, '1'));
      const refreshing = registry.refresh();
      end.abort();
      await Promise.all([ended, refreshing]);
      expect(registry.admin.watchMode()).toBe('off');
      await waitFor('the handles to be gone', () => added(before).length === 0);
    }
  });

  it('comes with close as well, and at once for a signal that was aborted before', async () => {
    const { registry } = await openRegistry(at('a', '1'));
    const before = await quietHandles();
    await registry.watch(AbortSignal.abort());
    const ended = registry.watch(new AbortController().signal);
    expect(registry.admin.watchMode()).toBe('events');
    await registry.close();
    await ended;
    await waitFor('the handles to be gone', () => added(before).length === 0);
  });
});
