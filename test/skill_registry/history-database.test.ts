import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import {
  assertSound,
  backupOf,
  historyError,
  isAtRest,
  openHistoryDatabase,
} from '../../extensions/skill_registry/history-database.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const ONE = 'CREATE TABLE thing (name TEXT)';
const TWO = 'ALTER TABLE thing ADD COLUMN size INTEGER';

it('migrates an older history after a backup, and keeps what is in it', () => {
  const file = join(tempFolder(), 'history.db');
  const first = openHistoryDatabase(file, [ONE]);
  first.exec("INSERT INTO thing VALUES ('tea')");
  first.close();
  const second = openHistoryDatabase(file, [ONE, TWO]);
  expect(second.prepare('SELECT * FROM thing').all()).toEqual([{ name: 'tea', size: null }]);
  second.close();
  const backup = new Database(backupOf(file, 1));
  expect(backup.prepare('SELECT * FROM thing').all()).toEqual([{ name: 'tea' }]);
  backup.close();
});

it('leaves a history of a later release alone', () => {
  const file = join(tempFolder(), 'history.db');
  openHistoryDatabase(file, [ONE, TWO]).close();
  expect(() => openHistoryDatabase(file, [ONE])).toThrow(/version 2/);
  openHistoryDatabase(file, [ONE, TWO]).close();
});

it('undoes a migration that fails, and the backup is there', () => {
  const file = join(tempFolder(), 'history.db');
  openHistoryDatabase(file, [ONE]).close();
  expect(() => openHistoryDatabase(file, [ONE, `${TWO}; nonsense`])).toThrow(/cannot be used/);
  const reopened = openHistoryDatabase(file, [ONE]);
  expect(reopened.pragma('table_info(thing)')).toHaveLength(1);
  reopened.close();
  expect(existsSync(backupOf(file, 1))).toBe(true);
});

it('does not take for damage what the system refuses or somebody else holds', () => {
  const root = tempFolder({ 'data/taken': 'a file' });
  expect(() => openHistoryDatabase(join(root, 'data/taken/history.db'))).toThrowError(
    expect.objectContaining({ code: 'WRITE_FAILED' }),
  );
  const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  expect(historyError('history.db', busy)).toMatchObject({ code: 'HISTORY_BUSY' });
});

it('finds damage in the middle of the file before anything is written', () => {
  const file = join(tempFolder(), 'history.db');
  const database = openHistoryDatabase(file);
  const insert = database.prepare('INSERT INTO blob (digest, size, deflated, bytes) VALUES (?, 1, 0, ?)');
  for (let i = 0; i < 200; i++) insert.run(`sha256:${i}`, Buffer.alloc(2000, i));
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(file);
  bytes.fill(0xaa, bytes.length / 2, bytes.length / 2 + 8192);
  writeFileSync(file, bytes);
  const damaged = openHistoryDatabase(file);
  expect(() => assertSound(damaged, file)).toThrow(/is damaged/);
  damaged.close();
});

it('is at rest when nothing is under way, and not when somebody has died in the middle or it cannot be used', () => {
  const file = join(tempFolder(), 'history.db');
  const database = openHistoryDatabase(file);
  expect(isAtRest(file)).toBe(true);
  database.exec("INSERT INTO operation (id, content) VALUES ('a', '{}')");
  expect(isAtRest(file)).toBe(false);
  database.close();
  writeFileSync(file, 'no database at all\n'.repeat(50));
  expect(isAtRest(file)).toBe(false);
});
