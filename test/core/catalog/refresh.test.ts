import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Catalog } from '../../../extensions/skill_registry/core/catalog/catalog.ts';
import { createDirectorySource } from '../../../extensions/skill_registry/core/sources/kinds/directory-source.ts';
import type { SkillSource } from '../../../extensions/skill_registry/core/sources/source.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const LIMITS = { skill_tokens: 8000, resource_bytes: 1_000_000, file_bytes: 1_000_000, scan_depth: 8 };
const skill = (name: string, description = `Does ${name}.`): string => skillMd({ name, description });

/** A directory source that counts its scans, and waits for `gate` before each. */
function countedSource(root: string) {
  const inner = createDirectorySource({ id: 'own', root, allowOutside: false });
  const seen = { scans: 0, passed: 0, atOnce: 0, most: 0 };
  let gate: Promise<void> = Promise.resolve();
  const source: SkillSource = {
    ...inner,
    async scan(limits) {
      seen.scans++;
      seen.most = Math.max(seen.most, ++seen.atOnce);
      const scan = await inner.scan(limits);
      seen.passed++;
      await gate;
      seen.atOnce--;
      return scan;
    },
  };
  /** Scans do not end until the returned function is called. */
  const close = (): (() => void) => {
    let open = (): void => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  };
  return { catalog: new Catalog([source], { limits: LIMITS, callHook: (_, hook) => hook() }), seen, close };
}

describe('calls at the same time', () => {
  it('share scans: fifty make at most two', async () => {
    const { catalog, seen } = countedSource(tempFolder({ 'a/SKILL.md': skill('a') }));
    const snapshots = await Promise.all(Array.from({ length: 50 }, () => catalog.refresh()));
    expect(seen.scans).toBeLessThanOrEqual(2);
    expect(new Set(snapshots).size).toBe(1);
    expect(snapshots[0]?.skills.map(({ id }) => id)).toEqual(['a']);
  });

  it('see what changed while a scan was under way', async () => {
    const root = tempFolder({ 'a/SKILL.md': skill('a') });
    const { catalog, seen, close } = countedSource(root);
    const open = close();
    const first = catalog.refresh();
    await waitFor('the scan to have passed the folder', () => seen.passed === 1);
    writeTree(root, { 'b/SKILL.md': skill('b') });
    const second = catalog.refresh();
    const third = catalog.refresh();
    open();
    expect((await first).byId.has('b')).toBe(false);
    expect((await second).byId.has('b')).toBe(true);
    expect(await third).toBe(await second);
    expect(seen.scans).toBe(2);
  });

  it('keep held what is held again, when the scan for the first time ends', async () => {
    const { catalog, seen, close } = countedSource(tempFolder({ 'a/SKILL.md': skill('a') }));
    const heldBecause = () => catalog.snapshot().byId.get('a')?.heldBecause;
    await catalog.refresh();
    const endFirst = close();
    catalog.hold(new Map([['own:a', 'an attack']]));
    await waitFor('the first scan to have passed the folder', () => seen.passed === 2);
    catalog.hold(new Map([['own:a', 'an attack']]));
    const endSecond = close();
    endFirst();
    await waitFor('the second scan to have passed the folder', () => seen.passed === 3);
    expect(heldBecause()).toBe('an attack');
    endSecond();
    await waitFor('the scan of what is there now to be shown', () => heldBecause() === undefined);
  });

  it('never scan side by side, also when one is made the moment another has ended', async () => {
    const { catalog, seen } = countedSource(tempFolder({ 'a/SKILL.md': skill('a') }));
    const again = async (): Promise<void> => {
      await catalog.refresh();
      await catalog.refresh();
    };
    await Promise.all(Array.from({ length: 10 }, again));
    expect(seen.most).toBe(1);
    expect(seen.scans).toBeLessThanOrEqual(4);
  });
});

describe('a snapshot', () => {
  it('stays as it is for a reader that holds it', async () => {
    const { root, registry } = await openRegistry({ 'skills/a/SKILL.md': skill('a', 'Before.') });
    const held = registry.snapshot();
    writeTree(root, { 'skills/a/SKILL.md': skill('a', 'After.'), 'skills/b/SKILL.md': skill('b') });
    await registry.refresh();
    expect(held.skills.map(({ description }) => description)).toEqual(['Before.']);
    expect(held.byId.size).toBe(1);
    expect(registry.snapshot().skills.map(({ description }) => description)).toEqual(['After.', 'Does b.']);
  });

  it('is the same object, with the same version, as long as nothing has changed', async () => {
    const { root, registry } = await openRegistry({ 'skills/a/SKILL.md': skill('a') });
    const before = registry.snapshot();
    expect(before.version).toBe(1);
    expect(await registry.refresh()).toBe(before);
    writeFileSync(join(root, 'skills/a/SKILL.md'), skill('a'));
    expect(await registry.refresh(), 'rewritten as it was').toBe(before);
    writeTree(root, { 'skills/a/SKILL.md': skill('a', 'Else.') });
    expect((await registry.refresh()).version).toBe(2);
    rmSync(join(root, 'skills/a'), { recursive: true });
    expect((await registry.refresh()).version).toBe(3);
  });

  it('counts the skills of each source, losers included', async () => {
    const { registry } = await openRegistry(
      { 'one/a/SKILL.md': skill('a'), 'two/a/SKILL.md': skill('a', 'Other.'), 'two/b/SKILL.md': skill('b') },
      { sources: [{ path: 'one' }, { path: 'two' }, { path: 'three' }] },
    );
    const { sources, skills } = registry.snapshot();
    expect(sources.map(({ id, kind, skills: count }) => [id, kind, count])).toEqual([
      ['one', 'directory', 1],
      ['two', 'directory', 2],
      ['three', 'directory', 0],
    ]);
    expect(skills.map(({ qualifiedId }) => qualifiedId)).toEqual(['one:a', 'two:b']);
  });
});

describe('onChange', () => {
  it('is told the ids that came, went or changed, after the snapshot is in place', async () => {
    const { root, registry } = await openRegistry({
      'skills/stays/SKILL.md': skill('stays'),
      'skills/changes/SKILL.md': skill('changes'),
      'skills/goes/SKILL.md': skill('goes'),
      'skills/moves/SKILL.md': skill('moves'),
    });
    const told: unknown[] = [];
    const unsubscribe = registry.onChange((ids, snapshot) => {
      told.push([[...ids].sort(), snapshot === registry.snapshot()]);
    });
    writeTree(root, { 'skills/changes/SKILL.md': skill('changes', 'New.'), 'skills/comes/SKILL.md': skill('comes') });
    rmSync(join(root, 'skills/goes'), { recursive: true });
    writeTree(root, { 'skills/group/x': '' });
    renameSync(join(root, 'skills/moves'), join(root, 'skills/group/moves'));
    await registry.refresh();
    await registry.refresh();
    expect(told).toEqual([[['changes', 'comes', 'goes', 'moves'], true]]);
    unsubscribe();
    writeTree(root, { 'skills/late/SKILL.md': skill('late') });
    await registry.refresh();
    expect(told).toHaveLength(1);
  });

  it('is told when the winner of an id goes and the next one takes its place', async () => {
    const { root, registry } = await openRegistry(
      { 'one/a/SKILL.md': skill('a', 'First.'), 'two/a/SKILL.md': skill('a', 'Second.') },
      { sources: [{ path: 'one' }, { path: 'two' }] },
    );
    const told: unknown[] = [];
    registry.onChange((ids) => told.push(ids));
    rmSync(join(root, 'one/a'), { recursive: true });
    await registry.refresh();
    expect(told).toEqual([['a']]);
    expect(registry.snapshot().byId.get('a')?.description).toBe('Second.');
    expect(registry.problems()).toEqual([]);
  });
});

describe('collisions', () => {
  const twoSources = { sources: [{ path: 'one' }, { path: 'two' }] };

  it('leave the loser readable by its qualified id', async () => {
    const tree = {
      'one/a/SKILL.md': skill('a'),
      'two/x/a/SKILL.md': skillMd({ name: 'a', description: 'd' }, 'Second.'),
    };
    const { root, registry } = await openRegistry(tree, twoSources);
    expect(briefProblems(registry.problems(), root)).toEqual(['SKILL_ID_TAKEN two/x/a/SKILL.md']);
    expect(await registry.read('a')).toMatchObject({ content: 'Do it well.', source: 'one' });
    expect(await registry.read('two:x/a')).toMatchObject({ skillId: 'two:x/a', content: 'Second.', source: 'two' });
  });

  it('are none for one directory that two sources lead to', async () => {
    const root = tempFolder({ 'one/a/SKILL.md': skill('a'), two: { link: 'one' } });
    const { registry } = await openRegistry(
      {},
      { sources: [{ path: join(root, 'one') }, { path: join(root, 'two') }] },
    );
    expect(registry.problems()).toEqual([]);
    expect(registry.snapshot().skills).toHaveLength(1);
  });
});

describe('a source that fails', () => {
  it('keeps its last good skills and says so, and recovers', async () => {
    const { root, registry } = await openRegistry(
      { 'one/a/SKILL.md': skill('a'), 'two/b/SKILL.md': skill('b') },
      { sources: [{ path: 'two' }] },
    );
    let luck = true;
    const a = { id: 'a', description: 'Does a.', body: 'A.' };
    await registry.addSource({
      id: 'one',
      skills: () => (luck ? [a] : Promise.reject(new Error('no luck'))),
    });
    luck = false;
    writeTree(root, { 'two/c/SKILL.md': skill('c') });
    const failed = await registry.refresh();
    expect(failed.skills.map(({ id }) => id)).toEqual(['b', 'c', 'a']);
    expect(failed.problems).toMatchObject([{ code: 'SOURCE_FAILED', severity: 'error', file: 'this program' }]);
    expect(failed.problems[0]?.message).toContain('it keeps its last 1 skill');
    luck = true;
    expect((await registry.refresh()).problems).toEqual([]);
  });

  it('because a file took the place of its folder has no skills until the folder is back', async () => {
    const { root, registry } = await openRegistry(
      { 'one/a/SKILL.md': skill('a') },
      { sources: [{ path: 'one', optional: true }] },
    );
    renameSync(join(root, 'one'), join(root, 'away'));
    writeFileSync(join(root, 'one'), 'a file where a folder was');
    expect(await registry.refresh()).toMatchObject({ skills: [], problems: [{ code: 'SOURCE_MISSING' }] });
    rmSync(join(root, 'one'));
    renameSync(join(root, 'away'), join(root, 'one'));
    expect(await registry.refresh()).toMatchObject({ skills: [{ id: 'a' }], problems: [] });
  });

  it('from the start has no skills and does not stop the others', async () => {
    const { registry } = await openRegistry(
      { one: 'a file', 'two/b/SKILL.md': skill('b') },
      { sources: [{ path: 'one' }, { path: 'two' }] },
    );
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['b']);
    expect(registry.problems().map(({ code }) => code)).toEqual(['SOURCE_MISSING']);
  });
});

it('a registry that is closed refuses to refresh', async () => {
  const { registry } = await openRegistry();
  await registry.close();
  await expect(registry.refresh()).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
});
