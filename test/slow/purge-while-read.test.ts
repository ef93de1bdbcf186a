import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { ADA, TEA, teaRegistry } from '../helpers/tea.ts';

const SECRET = 'zebrafish4711';

// A purge waits five seconds for readers.
it('says so while a reader keeps the old bytes of a purged proposal, and ends it with a second call', async () => {
  const { root, registry, propose } = await teaRegistry();
  const id = await propose(`${TEA}${SECRET}\n`);
  await registry.proposals.reject(id, { ...ADA, reason: 'No.' });
  const folder = join(root, 'data/skill_registry');
  const holding = (): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\./.test(name) && readFileSync(join(folder, name)).includes(SECRET),
    );
  const reader = openSqlite(join(folder, 'history.db'));
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM blob').get();
  await expect(registry.proposals.purge([id], ADA)).rejects.toMatchObject({ code: 'HISTORY_BUSY' });
  expect(holding()).toContain('history.db-wal');
  reader.exec('COMMIT');
  reader.close();
  await registry.proposals.purge([id], ADA);
  expect(holding()).toEqual([]);
});
