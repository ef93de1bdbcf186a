import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getLoadablePath } from 'sqlite-vec';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { failureOf, names, open, people } from './people.ts';

// Whichever engine this Node has: the suite is run on Node 20 and on Node 24, and must find no difference.

describe('statements', () => {
  it('give one row, all rows, and what they have changed', () => {
    const database = people();
    expect(database.prepare('SELECT * FROM person WHERE name = ?').get('a')).toEqual({ name: 'a', age: 1 });
    expect(database.prepare('SELECT * FROM person WHERE name = ?').get('z')).toBeUndefined();
    expect(database.prepare('SELECT age FROM person ORDER BY name').all()).toEqual([
      { age: 1 },
      { age: 2 },
      { age: null },
    ]);
    const inserted = database.prepare("INSERT INTO person VALUES ('d', 4)").run();
    expect(inserted).toMatchObject({ changes: 1, lastInsertRowid: 4 });
    expect(database.prepare("INSERT OR IGNORE INTO person VALUES ('d', 5)").run().changes).toBe(0);
    expect(database.prepare('UPDATE person SET age = 0').run().changes).toBe(4);
  });

  it.each([
    ['a text', 'tea \u{1f375}', 'text'],
    ['an empty text', '', 'text'],
    ['a number', 1.5, 'real'],
    ['a whole number, as a floating point number', 7, 'real'],
    ['a negative zero', -0, 'real'],
    ['a bigint', 7n, 'integer'],
    ['null', null, 'null'],
    ['bytes', new Uint8Array([0, 255, 7]), 'blob'],
    ['no bytes', new Uint8Array(0), 'blob'],
    ['no bytes that lie nowhere', new Uint8Array(new ArrayBuffer(0)), 'blob'],
  ] as const)('bind %s and give it back', (_, value, kind) => {
    const row = open()
      .prepare<{ kind: string; value: unknown }>('SELECT typeof(?) AS kind, ? AS value')
      .get(value, value);
    const back = row?.value instanceof Uint8Array ? Uint8Array.from(row.value) : row?.value;
    expect([row?.kind, back]).toEqual([kind, typeof value === 'bigint' ? Number(value) : value]);
  });

  it('keep a text whole that holds a NUL character, though not every Node gives back what follows it', () => {
    const row = open().prepare<{ bytes: Uint8Array }>('SELECT CAST(? AS BLOB) AS bytes').get('a\0b');
    expect(Buffer.from(row?.bytes ?? []).toString()).toBe('a\0b');
  });

  it('bind part of a larger buffer, and the numbers of an array of them', () => {
    const database = open();
    const part = new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 3);
    expect(database.prepare('SELECT hex(?) AS hex').get(part)).toEqual({ hex: '0203' });
    const floats = new Float32Array([1, 0.5]);
    const bytes = Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength);
    const row = database.prepare<{ value: Uint8Array }>('SELECT ? AS value').get(bytes);
    expect(new Float32Array(Uint8Array.from(row?.value ?? []).buffer)).toEqual(floats);
  });

  it('keep a whole number in an INTEGER column one', () => {
    const database = people();
    database.prepare('UPDATE person SET age = ?').run(2 ** 40);
    expect(database.prepare('SELECT DISTINCT age, typeof(age) AS kind FROM person').get()).toEqual({
      age: 2 ** 40,
      kind: 'integer',
    });
  });

  it('may be left in the middle of their rows, also by what throws', () => {
    const database = people();
    for (const { name } of database.prepare<{ name: string }>('SELECT name FROM person').iterate()) {
      if (name === 'a') break;
    }
    expect(() => {
      for (const _ of database.prepare('SELECT name FROM person').iterate()) throw new Error('enough');
    }).toThrow('enough');
    database.exec("INSERT INTO person VALUES ('d', 4)");
    expect(names(database)).toEqual(['a', 'b', 'c', 'd']);
    database.close();
  });

  it('are of no more use when the database is closed, and closing it again does nothing', () => {
    const database = people();
    const statement = database.prepare('SELECT 1');
    database.close();
    database.close();
    expect(() => database.loadExtension(getLoadablePath())).toThrow();
    expect(() => statement.get()).toThrow();
    expect(() => database.exec('SELECT 1')).toThrow();
  });
});

describe('a transaction', () => {
  it('gives what the work gives, and keeps what it has done', () => {
    const database = people();
    expect(database.transaction(() => database.prepare('DELETE FROM person').run().changes)).toBe(3);
    expect(names(database)).toEqual([]);
  });

  it('undoes everything when the work throws, and another one can begin', () => {
    const database = people();
    const work = (): void => {
      database.exec('DELETE FROM person');
      throw new Error('no');
    };
    expect(() => database.transaction(work)).toThrow('no');
    expect(() => database.transaction(work, 'deferred')).toThrow('no');
    expect(names(database)).toEqual(['a', 'b', 'c']);
    database.transaction(() => database.exec("INSERT INTO person VALUES ('d', 4)"));
    expect(names(database)).toHaveLength(4);
  });

  it('refuses another one inside, which undoes it', () => {
    const database = people();
    const inner = (): void => database.transaction(() => undefined);
    const work = (): void => {
      database.exec('DELETE FROM person');
      inner();
    };
    expect(() => database.transaction(work)).toThrow(/within a transaction/);
    expect(names(database)).toHaveLength(3);
  });

  it('tells the first error where SQLite itself has rolled back', () => {
    const database = people();
    const work = (): void => database.exec("INSERT OR ROLLBACK INTO person VALUES ('a', 9)");
    expect(failureOf(() => database.transaction(work))).toBe('constraint');
    expect(names(database)).toHaveLength(3);
    database.transaction(() => database.exec('DELETE FROM person'));
  });

  it('is the only writer from its beginning, unless it is deferred', () => {
    const file = join(tempFolder(), 'people.db');
    const one = people(file);
    const other = open(file, 0);
    one.transaction(() => {
      expect(failureOf(() => other.transaction(() => undefined))).toBe('busy');
      other.transaction(() => undefined, 'deferred');
    });
    one.transaction(() => other.transaction(() => undefined), 'deferred');
  });

  it('reads one state of the file when it is deferred', () => {
    const file = join(tempFolder(), 'people.db');
    const one = people(file);
    one.exec('PRAGMA journal_mode = WAL');
    const other = open(file);
    other.transaction(() => {
      expect(names(other)).toHaveLength(3);
      one.exec('DELETE FROM person');
      expect(names(other)).toHaveLength(3);
    }, 'deferred');
    expect(names(other)).toEqual([]);
  });
});

describe('a file', () => {
  it('is waited for as long as was asked for', () => {
    const file = join(tempFolder(), 'people.db');
    const writer = people(file);
    writer.exec('BEGIN EXCLUSIVE');
    for (const [busyMs, least] of [
      [0, 0],
      [300, 250],
    ] as const) {
      const waiting = open(file, busyMs);
      const before = performance.now();
      expect(failureOf(() => waiting.exec('BEGIN IMMEDIATE'))).toBe('busy');
      expect(performance.now() - before).toBeGreaterThanOrEqual(least);
    }
  });

  it('is whole and alone when the last connection is closed, whatever was left open in it', () => {
    const folder = tempFolder();
    const database = people(join(folder, 'people.db'));
    database.exec('PRAGMA journal_mode = WAL');
    database.exec("INSERT INTO person VALUES ('d', 4)");
    const statements = Array.from({ length: 50 }, () => database.prepare('SELECT * FROM person'));
    for (const statement of statements) statement.get();
    expect(existsSync(join(folder, 'people.db-wal'))).toBe(true);
    database.close();
    expect(existsSync(join(folder, 'people.db-wal'))).toBe(false);
    expect(names(open(join(folder, 'people.db')))).toHaveLength(4);
  });

  it('keeps its version, and is copied whole', () => {
    const folder = tempFolder();
    const database = people(join(folder, 'people.db'));
    database.exec('PRAGMA user_version = 1073741824');
    database.prepare('VACUUM INTO ?').run(join(folder, 'copy.db'));
    const copy = open(join(folder, 'copy.db'));
    expect(copy.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1_073_741_824 });
    expect(names(copy)).toHaveLength(3);
    expect([copy.memory, open().memory]).toEqual([false, true]);
  });

  it('keeps foreign keys and refuses double quotes for texts, as the engines do of their own', () => {
    const database = people();
    database.exec('CREATE TABLE child (of TEXT REFERENCES person (name))');
    expect(failureOf(() => database.exec("INSERT INTO child VALUES ('nobody')"))).toBe('constraint');
    expect(failureOf(() => database.exec('SELECT "no text"'))).toBe('other');
  });
});

describe('an extension', () => {
  it('is loaded from its file, and SQL cannot load one', () => {
    const database = open();
    database.loadExtension(getLoadablePath());
    const [a, b] = [
      [1, 0],
      [1, 1],
    ].map((vector) => Buffer.from(new Float32Array(vector).buffer));
    const row = database.prepare<{ near: number }>('SELECT vec_distance_cosine(?, ?) AS near');
    expect(row.get(a as Buffer, b as Buffer)?.near).toBeCloseTo(1 - Math.SQRT1_2, 5);
    const load = `SELECT load_extension('${getLoadablePath()}')`;
    expect(() => database.prepare(load).get()).toThrow(/not authorized/);
    expect(() => database.loadExtension('/nowhere/none.so')).toThrow();
    expect(() => database.prepare(load).get()).toThrow(/not authorized/);
  });
});
