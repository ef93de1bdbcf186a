import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../../lib/sqlite/index.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { skill } from '../../../helpers/semantic-registry.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const LONG = 'Boil water and pour it slowly. '.repeat(300);

/** With skills that are old enough to be kept in the cache; the body of one is over the limit of tokens. */
function rootWithCache(): string {
  const root = tempFolder({
    'data/.keep': '',
    ...skill('tea', 'Brew green tea with care.', LONG),
    ...skill('milk', 'Froth warm milk for coffee.'),
    ...skill('roses', 'Prune roses and hedges.'),
  });
  for (const id of ['tea', 'milk', 'roses']) utimesSync(join(root, 'skills', id, 'SKILL.md'), 1e9, 1e9);
  return root;
}

async function withRegistry<T>(root: string, work: (registry: SkillRegistry) => Promise<T>): Promise<T> {
  const config = { sources: [{ path: 'skills' }], limits: { skill_tokens: 1000 } };
  const registry = await createSkillRegistry({ root, config });
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}

/** What a search, a list, a prompt and the problems say. */
const lookAt = (root: string): Promise<unknown> =>
  withRegistry(root, async (registry) => {
    const context = await registry.context('how do I brew green tea');
    await registry.admin.prepareSearch('green tea');
    const found = registry.list({ query: 'green tea' }).skills.map(({ skillId, score }) => [skillId, score]);
    const corrected = registry.list({ query: 'hedgse' }).skills.map(({ skillId }) => skillId);
    const counts = [...(await registry.admin.tokenCounts())];
    return { context, found, corrected, counts, problems: registry.problems() };
  });

function byHand(root: string, sql: string): void {
  const file = join(root, 'data/skill_registry/cache.db');
  expect(existsSync(file)).toBe(true);
  const database = openSqlite(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

const CHANGES: readonly string[] = [
  'DELETE FROM search_posting',
  "DELETE FROM search_posting WHERE term LIKE 'gr%'",
  'DELETE FROM search_document',
  "DELETE FROM search_document WHERE key LIKE '%tea%'",
  'DELETE FROM search_word',
  'DELETE FROM search_state',
  'DELETE FROM part',
  'DELETE FROM token_counts',
  'DELETE FROM skill_files',
  'DROP TABLE search_posting',
  'DROP TABLE search_state',
  'DROP TABLE token_counts',
  'DROP TABLE skill_files',
  'DROP TABLE part',
  'DROP TABLE token_counts; CREATE TABLE token_counts (key, l1, l2)',
  'DROP TABLE search_posting; CREATE VIEW search_posting AS SELECT 1 AS term, 2 AS chunk, 3 AS data',
  "CREATE TRIGGER no BEFORE INSERT ON search_document BEGIN SELECT RAISE(ABORT, 'no'); END; DELETE FROM search_document",
  "UPDATE search_posting SET data = x'ffffffffffffffff'",
  'UPDATE search_posting SET chunk = chunk + 1000',
  'UPDATE search_document SET number = 1',
  'UPDATE search_state SET next = 0',
  "UPDATE skill_files SET entry = json_set(entry, '$.file.header', json('{}'))",
  "UPDATE skill_files SET entry = json_set(entry, '$.file.header.description', 7)",
  "UPDATE skill_files SET entry = 'null'",
];

it.each(CHANGES)('answers as before, and says nothing, after: %s', async (sql) => {
  const root = rootWithCache();
  const before = await lookAt(root);
  expect(before).toMatchObject({ found: [['tea', expect.anything()]], corrected: ['roses'] });
  byHand(root, sql);
  expect(await lookAt(root)).toEqual(before);
  expect(await lookAt(root)).toEqual(before);
});

/** As a disk leaves them that has lost something: no check of SQLite has seen them. */
const UNCHECKED: readonly string[] = [
  "UPDATE search_posting SET data = x'010203'",
  "UPDATE search_document SET lengths = x'01'",
  'UPDATE search_document SET number = -5 WHERE seq = 1',
  'UPDATE token_counts SET l1 = -7, l2 = -7',
];

it.each(UNCHECKED)('reads no value that it would not have written: %s', async (sql) => {
  const root = rootWithCache();
  const before = await lookAt(root);
  byHand(root, `PRAGMA ignore_check_constraints = ON; ${sql}; INSERT OR IGNORE INTO search_state SELECT 1, 0, 0, 3`);
  expect(await lookAt(root)).toEqual(before);
  expect(await lookAt(root)).toEqual(before);
});

it.each(["'abc'", "'abc', l2 = x'00'", '-7', '1.5', '1e300'])(
  'lets nobody write %s as a count of tokens',
  async (value) => {
    const root = rootWithCache();
    await lookAt(root);
    expect(() => byHand(root, `UPDATE token_counts SET l1 = ${value}`)).toThrow();
  },
);

it('notices what somebody changes while a registry has the file open', async () => {
  const root = rootWithCache();
  await withRegistry(root, async (registry) => {
    expect(registry.list({ query: 'green tea' }).skills).toHaveLength(1);
    byHand(root, 'DELETE FROM search_posting');
    expect(registry.list({ query: 'green tea' }).skills).toHaveLength(1);
    byHand(root, 'DROP TABLE search_posting');
    expect(registry.list({ query: 'green tea' }).skills).toHaveLength(1);
    expect(registry.problems().filter(({ code }) => code !== 'SKILL_TOO_LONG')).toEqual([]);
  });
});

it('answers the command after a table was dropped', async () => {
  const root = rootWithCache();
  await lookAt(root);
  byHand(root, 'DROP TABLE search_document; DELETE FROM token_counts');
  const { status, stdout, stderr } = await runCommand(['search', 'green tea', '--root', root]);
  expect([status, stderr]).toEqual([0, '1 skill\n']);
  expect(stdout).toContain('tea');
});
