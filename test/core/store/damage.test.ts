import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CachePart, createCache, openCacheDatabase } from '../../../extensions/skill_registry/core/store/cache.ts';
import { openDatabase } from '../../../extensions/skill_registry/core/store/open-database.ts';
import { openSqlite, type SqliteDatabase } from '../../../lib/sqlite/index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const WORDS: CachePart = { name: 'words', version: 1, sql: 'CREATE TABLE words (word TEXT PRIMARY KEY);' };
const LETTERS: CachePart = { name: 'letters', version: 1, sql: 'CREATE TABLE letters (letter TEXT);' };

function place(): string {
  return join(tempFolder(), 'data', 'cache.db');
}

function open(file: string, parts: readonly CachePart[] = [WORDS]) {
  const reasons: string[] = [];
  const database = openCacheDatabase(file, parts, (reason) => reasons.push(reason));
  onTestFinished(() => void database.close());
  return { database, reasons };
}

/** A database of many pages, closed. */
function filled(file: string): void {
  const { database } = open(file);
  const put = database.prepare('INSERT INTO words VALUES (?)');
  database.transaction(() => {
    for (let index = 0; index < 5_000; index++) put.run(`word ${index}`);
  });
  database.close();
}

const count = (database: SqliteDatabase): unknown =>
  database.prepare<{ n: number }>('SELECT count(*) AS n FROM words').get()?.n;

describe('opening', () => {
  it.each([
    ['garbage', 'this is no database, however long it may be. '.repeat(100)],
    ['a short file', 'x'],
    ['a header and nothing more', 'SQLite format 3\0'.padEnd(4096, 'x')],
  ])('makes it anew in the place of %s', (_, content) => {
    const file = place();
    mkdirSync(join(file, '..'));
    writeFileSync(file, content);
    const { database, reasons } = open(file);
    expect([count(database), database.memory, reasons]).toEqual([0, false, []]);
  });

  it('keeps the parts that are as they were, and empties those of another version', () => {
    const file = place();
    filled(file);
    expect(count(open(file, [WORDS, LETTERS]).database)).toBe(5_000);
    const { database } = open(file, [WORDS, { ...LETTERS, version: 2, sql: 'CREATE TABLE letters (other TEXT);' }]);
    expect(count(database)).toBe(5_000);
    database.exec("INSERT INTO letters (other) VALUES ('a')");
    expect(count(open(file, [{ ...WORDS, version: 2 }]).database)).toBe(0);
  });

  it('empties one that was made for other tables, under the hands of whoever uses it', () => {
    const file = place();
    filled(file);
    const { database: old } = open(file);
    const { database } = open(file, [LETTERS]);
    expect(database.prepare('SELECT count(*) AS n FROM letters').get()).toEqual({ n: 0 });
    expect(() => count(old)).toThrow(/no such table/);
    expect(statSync(file).ino).toBe(statSync(file).ino);
  });

  it('keeps a good one that somebody else is writing to', () => {
    const file = place();
    filled(file);
    const writer = openSqlite(file);
    writer.exec('BEGIN IMMEDIATE');
    const before = statSync(file).ino;
    const { database } = open(file);
    expect(count(database)).toBe(5_000);
    // Other tables are wanted, and nobody else may write: it waits, gives up and leaves the file alone.
    const { database: other, reasons } = open(file, [LETTERS]);
    expect([other.memory, reasons]).toEqual([true, ['database is locked']]);
    writer.exec('ROLLBACK');
    writer.close();
    expect(statSync(file).ino).toBe(before);
    expect(count(database)).toBe(5_000);
  });

  it('waits for another process that makes its tables at the same time', () => {
    const file = place();
    mkdirSync(join(file, '..'));
    const other = openSqlite(file);
    other.exec('BEGIN IMMEDIATE; CREATE TABLE other (x)');
    const waiting = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      if (waiting.mock.calls.length === 2) other.exec('COMMIT');
      return 'timed-out';
    });
    onTestFinished(() => waiting.mockRestore());
    const database = openDatabase(file);
    onTestFinished(() => database.close());
    other.close();
    expect(waiting).toHaveBeenCalledTimes(2);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(database.prepare('SELECT count(*) AS n FROM other').get()).toEqual({ n: 0 });
  });

  it('is in memory where there is a folder in its place, and leaves that alone', () => {
    const file = place();
    mkdirSync(join(file, 'kept'), { recursive: true });
    const { database, reasons } = open(file);
    expect([count(database), database.memory, reasons.length]).toEqual([0, true, 1]);
    expect(existsSync(join(file, 'kept'))).toBe(true);
  });

  it('touches no other file of the folder', () => {
    const file = place();
    mkdirSync(join(file, '..'));
    writeFileSync(file, 'garbage '.repeat(1000));
    writeFileSync(join(file, '../history.db'), 'not ours to judge');
    open(file);
    expect(readFileSync(join(file, '../history.db'), 'utf8')).toBe('not ours to judge');
  });
});

describe('a cache that is damaged while it is open', () => {
  it('gives nothing instead of failing, and is new the next time', () => {
    const file = place();
    filled(file);
    const cache = createCache(file, [WORDS]);
    onTestFinished(() => cache.close());
    // Its pages are garbage, and only a statement that looks at them finds out.
    const bytes = readFileSync(file);
    bytes.fill(0x55, 2 * 4096);
    writeFileSync(file, bytes);
    const words = () => cache.use((database) => database.prepare('SELECT word FROM words ORDER BY word').all());
    expect(words()).toBeUndefined();
    expect(words()).toEqual([]);
    cache.use((database) => database.prepare("INSERT INTO words VALUES ('new')").run());
    cache.close();
    expect(count(open(file).database)).toBe(1);
  });

  it('takes away only the file it has opened, not one that has come in its place', () => {
    const file = place();
    filled(file);
    const cache = createCache(file, [WORDS]);
    onTestFinished(() => cache.close());
    cache.use(count);
    const good = `${file}.good`;
    copyFileSync(file, good);
    const damaged = Object.assign(new Error('made up'), { code: 'SQLITE_CORRUPT' });
    // Another process has been faster.
    truncateSync(file, 0);
    const inode = statSync(file).ino;
    copyFileSync(good, `${file}.new`);
    cache.close();
    const second = createCache(file, [WORDS]);
    onTestFinished(() => second.close());
    second.use(() => undefined);
    expect(statSync(file).ino).toBe(inode);
    expect(
      second.use(() => {
        throw damaged;
      }),
    ).toBeUndefined();
    expect(second.use(count)).toBe(0);
  });

  it('gives nothing after it was closed', () => {
    const cache = createCache(place(), [WORDS]);
    cache.close();
    expect(cache.use(() => 1)).toBeUndefined();
    expect(cache.useIfThere(() => 1)).toBeUndefined();
  });
});

it('says in words why the cache cannot be used', async () => {
  const root = tempFolder({ 'skills/a/SKILL.md': '---\nname: a\ndescription: A.\n---\n' });
  mkdirSync(join(root, 'data/skill_registry/cache.db/kept'), { recursive: true });
  const linked = tempFolder({
    'skills/a/SKILL.md': '---\nname: a\ndescription: A.\n---\n',
    'data/skill_registry/x': '',
  });
  symlinkSync(join(tempFolder(), 'other.db'), join(linked, 'data/skill_registry/cache.db'));
  for (const [one, reason] of [
    [root, /reads all skills again: unable to open database file\. Remove/],
    [linked, /reads all skills again: .* is reached through a link that leads out of .*\. Remove/],
  ] as const) {
    const registry = await createSkillRegistry({ root: one, config: { sources: [{ path: 'skills' }] } });
    await registry.close();
    const [problem] = registry.problems();
    expect([problem?.code, problem?.message]).toEqual(['CACHE_UNAVAILABLE', expect.stringMatching(reason)]);
  }
});
