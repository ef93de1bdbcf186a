import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry, type SkillRegistryOptions } from 'skill-registry';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const TREE: Tree = {
  'data/.keep': '',
  'skills/a/SKILL.md': skillMd({ name: 'a', description: 'One.', tags: '[x, y]', version: '1.5' }),
  'skills/group/b/SKILL.md': skillMd({ name: 'other', description: 'Two: with a colon', metadata: '{"n": 1}' }),
  'skills/c/SKILL.md': 'No frontmatter at all.',
  'skills/d/SKILL.md': skillMd({ name: 'd', description: 'Four.', odd: '.inf' }),
};

const cacheFile = (root: string): string => join(root, 'data', 'skill_registry', 'cache.db');

async function open(root: string, options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] }, ...options });
  onTestFinished(() => registry.close());
  return registry;
}

/** Only what has been quiet for two seconds is kept; this process believes that it is an hour later. */
async function openWhenQuiet(root: string, options: SkillRegistryOptions = {}): Promise<void> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  try {
    const registry = await open(root, options);
    await registry.close();
  } finally {
    vi.useRealTimers();
  }
}

/** What is kept of a file says it was read as `description`: only a process that does not read it can say so. */
function forge(root: string, description: string): void {
  const database = openSqlite(cacheFile(root));
  // Not an UPDATE, which the cache notices.
  const changed = "SELECT place, read_as, path, replace(entry, 'One.', ?) FROM skill_files";
  database.prepare(`INSERT OR REPLACE INTO skill_files ${changed}`).run(description);
  database.close();
}

const describeA = (registry: SkillRegistry): string | undefined => registry.snapshot().byId.get('a')?.description;

describe('a warm start', () => {
  let root: string;
  beforeEach(async () => {
    root = tempFolder(TREE);
    await openWhenQuiet(root);
  });

  it('gives what a cold one gives, to the last field and problem', async () => {
    const warm = (await open(root)).snapshot();
    const cold = (await open(root, { cache: 'memory' })).snapshot();
    expect(warm.skills).toEqual(cold.skills);
    expect(warm.problems).toEqual(cold.problems);
    expect(warm.skills.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    expect(warm.byId.get('d')?.extra).toEqual({ odd: Number.POSITIVE_INFINITY });
  });

  it('reads no file whose stat is unchanged, and every file whose stat is not', async () => {
    forge(root, 'Kept.');
    expect(describeA(await open(root))).toBe('Kept.');
    // The same bytes, touched.
    utimesSync(join(root, 'skills/a/SKILL.md'), new Date(), new Date(Date.now() - 60_000));
    expect(describeA(await open(root))).toBe('One.');
  });

  it('sees a file that was replaced by one of the same size and times, by its inode', async () => {
    forge(root, 'Kept.');
    const file = join(root, 'skills/a/SKILL.md');
    const { atime, mtime } = lstatSync(file);
    writeFileSync(`${file}.new`, readFileSync(file, 'utf8').replace('One.', 'New.'));
    utimesSync(`${file}.new`, atime, mtime);
    renameSync(`${file}.new`, file);
    expect(describeA(await open(root))).toBe('New.');
  });

  it('sees what came and what went', async () => {
    rmSync(join(root, 'skills/c'), { recursive: true });
    writeTree(root, { 'skills/e/SKILL.md': skillMd({ name: 'e', description: 'Five.' }) });
    expect((await open(root)).snapshot().skills.map(({ id }) => id)).toEqual(['a', 'b', 'd', 'e']);
    expect((await open(root)).snapshot().skills.map(({ id }) => id)).toEqual(['a', 'b', 'd', 'e']);
  });

  it('reads again under another profile, and keeps both', async () => {
    forge(root, 'Kept.');
    const spec = await open(root, { config: { sources: [{ path: 'skills' }], validation: 'spec' } });
    expect(spec.snapshot().skills).toEqual([]);
    expect(spec.problems().map(({ code }) => code)).toContain('SPEC_VIOLATION');
    await spec.close();
    expect(describeA(await open(root))).toBe('Kept.');
  });

  it('reads again what was kept under another version', async () => {
    forge(root, 'Kept.');
    const database = openSqlite(cacheFile(root));
    database.exec("UPDATE part SET version = version - 1 WHERE name = 'skill_files'");
    database.close();
    expect(describeA(await open(root))).toBe('One.');
  });

  it('holds what is kept to limits.file_bytes of now', async () => {
    const config = { sources: [{ path: 'skills' }], limits: { file_bytes: 30 } };
    const registry = await open(root, { config });
    expect(registry.snapshot().skills.map(({ id }) => id)).toEqual(['c']);
  });

  it('never hands over a body from the cache', async () => {
    forge(root, 'Kept.');
    expect((await (await open(root)).read('a', { view: 'raw' })).content).toContain('One.');
  });

  it('knows the tokens that an earlier process has counted', async () => {
    const first = await open(root);
    expect((await first.admin.tokenCounts({ atMost: 0 })).get('a')).toEqual({ l1: null, l2: null });
    const counted = await first.admin.tokenCounts();
    await first.close();
    expect(await (await open(root)).admin.tokenCounts({ atMost: 0 })).toEqual(counted);
  });
});

describe('where the cache is', () => {
  it('nothing is left behind in a folder that is no root', async () => {
    const root = tempFolder({ 'x/a/SKILL.md': skillMd({ name: 'a', description: 'One.' }) });
    const registry = await open(root, { config: { sources: [{ path: 'x' }] } });
    await registry.admin.tokenCounts();
    await registry.close();
    expect(existsSync(join(root, 'data'))).toBe(false);
  });

  it('nothing is written with cache: memory', async () => {
    const root = tempFolder(TREE);
    await openWhenQuiet(root, { cache: 'memory' });
    expect(readdirSync(join(root, 'data'))).toEqual(['.keep']);
  });

  it('a root without data, or that nobody has approved, has its cache in the user’s cache directory', async () => {
    const { 'data/.keep': _, ...tree } = TREE;
    const [without, foreign] = [tempFolder(tree), tempFolder(TREE)];
    await openWhenQuiet(foreign);
    forge(foreign, 'Forged.');
    for (const root of [without, foreign]) {
      await openWhenQuiet(root, { trust: false });
      expect(describeA(await open(root, { trust: false }))).toBe('One.');
    }
    expect(describeA(await open(foreign))).toBe('Forged.');
    expect(existsSync(join(without, 'data'))).toBe(false);
    const roots = join(String(process.env.XDG_CACHE_HOME), 'skill-registry', 'roots');
    const folders = readdirSync(roots).map((name) => join(roots, name));
    expect(folders.length).toBeGreaterThan(0);
    expect(folders.filter((folder) => (statSync(folder).mode & 0o777) !== 0o700)).toEqual([]);
  });

  it('a folder made for it keeps the databases out of Git, and the config in', async () => {
    const root = tempFolder(TREE);
    await openWhenQuiet(root);
    expect(readFileSync(join(root, 'data/skill_registry/.gitignore'), 'utf8')).toContain('/*.db*');
  });

  it('it is in memory where it cannot be written, and everything works', async () => {
    const root = tempFolder({ ...TREE, 'data/skill_registry': 'a file where the folder should be' });
    await openWhenQuiet(root);
    const registry = await open(root);
    expect(describeA(registry)).toBe('One.');
    expect((await registry.admin.tokenCounts()).get('a')?.l1).toBeGreaterThan(0);
    expect(registry.problems().filter(({ code }) => code === 'CACHE_UNAVAILABLE')).toHaveLength(1);
  });
});
