import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteFailure } from '../../../lib/sqlite/index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { failureOf, names, open, people } from './people.ts';

describe('a failure', () => {
  it('is damage when what is read is no database', () => {
    const folder = tempFolder({ 'text.db': 'no database at all\n'.repeat(100) });
    expect(failureOf(() => open(join(folder, 'text.db')).prepare('SELECT * FROM sqlite_schema').all())).toBe('damaged');
    const file = join(folder, 'people.db');
    const database = people(file);
    database.transaction(() => {
      const put = database.prepare('INSERT INTO person VALUES (?, ?)');
      for (let at = 0; at < 5_000; at++) put.run(`somebody ${at}`, at);
    });
    database.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x55, 8192));
    expect(failureOf(() => names(open(file)))).toBe('damaged');
  });

  it('is told apart from damage when the system refuses', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'folder.db'));
    expect(failureOf(() => open(join(folder, 'folder.db')).exec('CREATE TABLE a (a)'))).toBe('cantopen');
    const database = people(join(folder, 'people.db'));
    database.exec('PRAGMA query_only = ON');
    expect(failureOf(() => database.exec('DELETE FROM person'))).toBe('readonly');
    database.exec('PRAGMA query_only = OFF; PRAGMA max_page_count = 1');
    const fill = `INSERT INTO person VALUES ('${'x'.repeat(20_000)}', 1)`;
    expect(failureOf(() => database.transaction(() => database.exec(fill)))).toBe('full');
    expect(names(database)).toHaveLength(3);
  });

  it('is a broken constraint, or a wrong statement, or a number that is too large', () => {
    const database = people();
    expect(failureOf(() => database.exec("INSERT INTO person VALUES ('a', 1)"))).toBe('constraint');
    expect(failureOf(() => database.prepare('SELECT nonsense'))).toBe('other');
    const large = 'SELECT 9007199254740993 AS number';
    expect(['other', 'nothing was thrown']).toContain(failureOf(() => database.prepare(large).get()));
  });

  it.each([
    ['SQLITE_BUSY', 5, 'busy'],
    ['SQLITE_BUSY_SNAPSHOT', 517, 'busy'],
    ['SQLITE_LOCKED', 6, 'busy'],
    ['SQLITE_READONLY_DBMOVED', 1032, 'readonly'],
    ['SQLITE_PERM', 3, 'readonly'],
    ['SQLITE_IOERR_FSYNC', 1034, 'io'],
    ['SQLITE_CORRUPT_VTAB', 267, 'damaged'],
    ['SQLITE_NOTADB', 26, 'damaged'],
    ['SQLITE_FULL', 13, 'full'],
    ['SQLITE_CANTOPEN_ISDIR', 526, 'cantopen'],
    ['SQLITE_CONSTRAINT_UNIQUE', 2067, 'constraint'],
    ['SQLITE_ERROR', 1, 'other'],
  ])('is the same one from either engine: %s', (code, errcode, failure) => {
    expect(sqliteFailure(Object.assign(new Error('made up'), { code }))).toBe(failure);
    expect(sqliteFailure(Object.assign(new Error('made up'), { code: 'ERR_SQLITE_ERROR', errcode }))).toBe(failure);
  });

  it.each([
    ['an error of the system', Object.assign(new Error('no'), { code: 'EACCES' })],
    ['a number that is wrong elsewhere', Object.assign(new RangeError('offset'), { code: 'ERR_OUT_OF_RANGE' })],
    ['an error without a code', new Error('SQLITE_BUSY')],
    ['what is no error', { code: 'SQLITE_BUSY' }],
    ['nothing', undefined],
  ])('is not seen in %s', (_, error) => {
    expect(sqliteFailure(error)).toBeUndefined();
  });
});
