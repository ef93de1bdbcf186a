import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { skill } from '../../helpers/boot-root.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

it('finds words of bodies after the index was emptied, because most of it was not needed any more', async () => {
  const root = tempFolder({ 'data/.keep': '', ...skill('tea', {}, 'Warm the samovar.'), ...skill('bread') });
  const before = await openRoot(root);
  await before.admin.prepareSearch();
  await before.close();
  const file = join(root, 'data/skill_registry/cache.db');
  const rows = (): number => {
    const database = openSqlite(file);
    const { count } = database.prepare('SELECT count(*) AS count FROM search_document').get() as { count: number };
    database.close();
    return count;
  };
  const database = openSqlite(file);
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO search_document (number, key, lengths) SELECT i + 100, 'gone ' || i, x'0100' FROM n;
    UPDATE search_state SET next = 4000;`);
  database.close();
  const registry = await openRoot(root);
  await registry.admin.prepareSearch();
  expect(registry.list({ query: 'samovar' }).skills.map(({ skillId }) => skillId)).toEqual(['tea']);
  await registry.close();
  expect(rows()).toBe(2);
});
