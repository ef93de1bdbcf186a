import { copyFileSync, renameSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dataFile } from '../../../extensions/skill_registry/features/hub/commands/open-store.ts';
import { SCHEMA } from '../../../extensions/skill_registry/features/hub/store/schema.ts';
import { backUp, SqliteStore } from '../../../extensions/skill_registry/features/hub/store/sqlite.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { DEPLOY, openHub } from '../../helpers/hub.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { keepsTheContract } from './store-contract.ts';
import { agreeOnOneStore } from './two-of-one-store.ts';

describe('SQLite', () => {
  keepsTheContract(async () => new SqliteStore(dataFile(tempFolder())));
  describe('with two hubs', () => {
    agreeOnOneStore(100, async () => {
      const folder = tempFolder();
      return [await openHub({ folder }), await openHub({ folder })];
    });
  });
});

it('refuses to change or delete a row of the audit, and shows a row that was changed all the same', async () => {
  const file = dataFile(tempFolder());
  const store = new SqliteStore(file);
  onTestFinished(() => store.close());
  for (const subject of ['one', 'two', 'three'])
    await store.noteAudit({ by: 'person:ada', space: 'team', what: 'looked', subject, details: '{}' });
  const database = openSqlite(file);
  onTestFinished(() => database.close());
  expect(() => database.exec("UPDATE audit SET by = 'person:bob' WHERE seq = 2")).toThrow(/only added to/);
  expect(() => database.exec('DELETE FROM audit')).toThrow(/only added to/);
  expect((await store.audit()).broken).toBeUndefined();
  database.exec("DROP TRIGGER audit_is_as_written; UPDATE audit SET by = 'person:bob' WHERE seq = 2");
  expect((await store.audit()).broken).toBe(2);
});

it('has another epoch on a copy that was put there, and answers nothing from a file that is gone', async () => {
  const hub = await openHub();
  const admin = await hub.token('admin', 'ada');
  await hub.publish(admin, 'deploy', DEPLOY);
  const { epoch } = (await hub.ask(admin, 'GET', '/changes')).json;
  const file = dataFile(hub.folder);
  const copy = `${file}.copy`;
  backUp(file, copy);
  await hub.publish(admin, 'deploy', DEPLOY.replace('Push', 'Ship'));
  renameSync(file, `${file}.old`);
  copyFileSync(copy, file);
  const row = { by: 'person:root', space: '', what: 'token add', subject: 'x', details: '{}' };
  await expect(hub.store.noteAudit(row)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  // A token that is revoked in the new file would go on.
  for (const path of ['/changes', '//readyz']) expect((await hub.ask(admin, 'GET', path)).status).toBe(503);
  await hub.close();
  for (const end of ['-wal', '-shm']) renameIfThere(`${file}${end}`);
  const again = await openHub({ folder: hub.folder });
  const { json } = await again.ask(admin, 'GET', `/changes?after=2&epoch=${epoch}&wait=20`);
  expect(json.epoch).not.toBe(epoch);
  expect(json).toMatchObject({ head: 1, changes: [] });
  expect((await again.ask(admin, 'GET', '/changes')).json.changes).toHaveLength(1);
});

it('opens a file of the first release with its skills, and nothing of them is allowed', async () => {
  const file = dataFile(tempFolder());
  const database = openSqlite(file);
  database.exec(`${SCHEMA};
    INSERT INTO space VALUES ('team', 1);
    INSERT INTO skill VALUES ('team', 'deploy', 1, 1, 'sha256:${'0'.repeat(64)}', 'skill-md', 20, 'How to deploy.', '[]');
    PRAGMA user_version = 1`);
  database.close();
  const store = new SqliteStore(file);
  onTestFinished(() => store.close());
  const { entry } = (await store.skill('team', 'deploy')) ?? {};
  expect(entry).toMatchObject({ id: 'deploy', description: 'How to deploy.' });
  expect(entry).not.toHaveProperty('allowed');
});

function renameIfThere(file: string): void {
  try {
    renameSync(file, `${file}.gone`);
  } catch {
    // It was closed before.
  }
}
