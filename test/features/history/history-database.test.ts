import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import {
  assertSound,
  backupOf,
  historyError,
  isAllFinished,
  openHistoryDatabase,
} from '../../../extensions/skill_registry/features/history/journal/history-database.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

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
  const backup = openSqlite(backupOf(file, 1));
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
  expect(reopened.prepare('PRAGMA table_info(thing)').all()).toHaveLength(1);
  reopened.close();
  expect(existsSync(backupOf(file, 1))).toBe(true);
});

it.each([
  ['SQLITE_BUSY', 'HISTORY_BUSY', /is locked by another process/],
  ['SQLITE_FULL', 'WRITE_FAILED', /disk is full.*Free some space/],
  ['SQLITE_READONLY_DBMOVED', 'WRITE_FAILED', /this user may not/],
  ['SQLITE_CANTOPEN', 'WRITE_FAILED', /cannot be opened for writing or created/],
  ['SQLITE_IOERR_READ', 'STORE_UNAVAILABLE', /could not be read or written/],
  ['SQLITE_CORRUPT', 'STORE_UNAVAILABLE', /no check finds it damaged/],
])('says what %s is, and damage only when an integrity check says so', (code, ours, message) => {
  const file = join(tempFolder(), 'history.db');
  openHistoryDatabase(file).close();
  const error = Object.assign(new Error(`what ${code} is`), { code });
  expect(historyError(file, error)).toMatchObject({ code: ours, message: expect.stringMatching(message) });
  writeFileSync(file, 'no database at all\n'.repeat(50));
  const damage = code === 'SQLITE_CORRUPT' ? 'HISTORY_DAMAGED' : ours;
  expect(historyError(file, error)).toMatchObject({ code: damage });
});

it('takes no mistake of ours for a failure of the disk', () => {
  const broken = Object.assign(new Error('UNIQUE constraint failed'), { code: 'SQLITE_CONSTRAINT_UNIQUE' });
  expect(historyError('history.db', broken)).toBe(broken);
});

it('calls a limit on the size of files by its name, changes nothing, and goes on when it is lifted', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const child = join(import.meta.dirname, '..', '..', 'helpers', 'change-child.mjs');
  const noise = randomBytes(50_000).toString('hex');
  const request = JSON.stringify({ root, action: 'write', args: { path: 'references/noise.txt', content: noise } });
  const limited = ['-c', 'ulimit -f 200; exec "$@"', 'sh', process.execPath, child, request];
  const { stdout } = await promisify(execFile)('sh', limited);
  expect(JSON.parse(stdout)).toEqual({ failed: 'STORE_UNAVAILABLE' });
  expect(readdirSync(join(root, 'skills/tea'))).toEqual(['SKILL.md']);
  const { stdout: again } = await promisify(execFile)(process.execPath, [child, request]);
  expect(JSON.parse(again)).toMatchObject({ done: { kind: 'tool' } });
});

it('does not take for damage what the system refuses or somebody else holds', () => {
  const root = tempFolder({ 'data/taken': 'a file' });
  expect(() => openHistoryDatabase(join(root, 'data/taken/history.db'))).toThrowError(
    expect.objectContaining({ code: 'WRITE_FAILED' }),
  );
});

it('finds damage in the middle of the file before anything is written', () => {
  const file = join(tempFolder(), 'history.db');
  const database = openHistoryDatabase(file);
  const insert = database.prepare('INSERT INTO blob (digest, size, deflated, bytes) VALUES (?, 1, 0, ?)');
  for (let i = 0; i < 200; i++) insert.run(`sha256:${i}`, Buffer.alloc(2000, i));
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
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
  expect(isAllFinished(file)).toBe(true);
  database.exec("INSERT INTO operation (id, content) VALUES ('a', '{}')");
  expect(isAllFinished(file)).toBe(false);
  database.close();
  writeFileSync(file, 'no database at all\n'.repeat(50));
  expect(isAllFinished(file)).toBe(false);
});
