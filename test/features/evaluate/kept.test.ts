import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { TEA_SUITE } from '../../helpers/suites.ts';
import { ADA } from '../../helpers/tea.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const historyOf = (root: string): string => join(root, 'data/skill_registry/history.db');
const CHANGED = skillMd({ name: 'tea', description: 'Brews a pot of black tea.' });

/** A root whose history has a proposal, and no table of evidence: as the release before wrote it. */
async function olderRoot(): Promise<{ readonly root: string; readonly proposalId: string }> {
  const root = tempFolder(TEA_SUITE);
  const registry = await openRoot(root);
  const { proposalId } = await registry.proposals.propose({
    ...{ skillId: 'tea', content: CHANGED, justification: 'Weak.', evidence: 'Guests left.', author: 'agent:brewer' },
  });
  await registry.close();
  const database = openSqlite(historyOf(root));
  database.exec('ALTER TABLE archived DROP COLUMN lock; DROP TABLE evidence; PRAGMA user_version = 1');
  database.close();
  return { root, proposalId };
}

it('takes over a history of the release before, after a backup, with all that is in it', async () => {
  const { root, proposalId } = await olderRoot();
  const registry = await openRoot(root);
  expect((await registry.admin.evaluate('tea')).notKept).toBeNull();
  expect((await registry.admin.evaluate('tea')).reused).toBe(true);
  expect((await registry.proposals.get(proposalId)).evidence).toBe('Guests left.');
  expect((await registry.admin.evidence('tea')).claims).toMatchObject([
    { kind: 'proposal', by: 'agent:brewer', about: proposalId, text: 'Guests left.' },
  ]);
  const backup = openSqlite(`${historyOf(root)}.v1.backup`);
  expect(backup.prepare('SELECT count(*) AS n FROM proposal').get()).toEqual({ n: 1 });
  backup.close();
});

it('evaluates beside a damaged history, changes no byte of it, and says why nothing is kept', async () => {
  const root = tempFolder({ ...TEA_SUITE, 'data/skill_registry/history.db': 'no database at all\n'.repeat(50) });
  const registry = await openRoot(root);
  const before = readFileSync(historyOf(root));
  const result = await registry.admin.evaluate('tea');
  expect(result).toMatchObject({ totals: { passed: 3 }, notKept: expect.stringContaining('HISTORY_DAMAGED') });
  expect(await registry.admin.evidence('tea')).toMatchObject({
    ...{ result: null, claims: [], notRead: expect.stringContaining('HISTORY_DAMAGED') },
    suite: { queries: { length: 2 } },
  });
  expect(readFileSync(historyOf(root)).equals(before)).toBe(true);
});

it('writes nothing into a root that nobody has approved', async () => {
  const root = tempFolder(TEA_SUITE);
  const registry = await openRoot(root, { trust: false });
  expect(await registry.admin.evaluate('tea')).toMatchObject({
    ...{ totals: { passed: 3 }, notKept: expect.stringContaining('Nobody has approved this root') },
  });
  expect(existsSync(join(root, 'data'))).toBe(false);
});

it('takes nothing from rows that it has not written', async () => {
  const root = tempFolder(TEA_SUITE);
  const registry = await openRoot(root);
  const first = await registry.admin.evaluate('tea');
  const database = openSqlite(historyOf(root));
  for (const content of ['no JSON', '{}', 'null', '{"result":{"totals":1}}', '[]']) {
    database.prepare('UPDATE evidence SET content = ?').run(content);
    expect((await registry.admin.evidence('tea')).result).toBeNull();
    expect(await registry.admin.evaluate('tea')).toMatchObject({ reused: false, totals: first.totals });
  }
  database.exec(
    "INSERT INTO evidence (place, kind, digest, about, at, content) SELECT place, 'claim', '', '', '', '{\"by\":1}' FROM evidence",
  );
  expect((await registry.admin.evidence('tea')).claims).toEqual([]);
  database.close();
});

it('keeps nothing of a proposed content, so that a purge leaves no byte of it', async () => {
  const root = tempFolder(TEA_SUITE);
  const registry = await openRoot(root);
  const content = skillMd({ name: 'tea', description: 'Zwölfuhrtee überall.', license: 'Zwölfuhrlizenz' });
  const input = { skillId: 'tea', content, justification: 'x', author: 'agent:brewer' };
  const { proposalId } = await registry.proposals.propose(input);
  expect((await registry.admin.proposalEvidence(proposalId)).after?.totals.failed).toBe(1);
  await registry.proposals.reject(proposalId, { ...ADA, reason: 'No.' });
  await registry.proposals.purge([proposalId], ADA);
  await registry.close();
  expect(readFileSync(historyOf(root)).includes('Zwölfuhr')).toBe(false);
});

it('keeps the 200 newest results of a skill', async () => {
  const root = tempFolder(TEA_SUITE);
  const registry = await openRoot(root);
  await registry.admin.evaluate('tea');
  const database = openSqlite(historyOf(root));
  const copy =
    "INSERT INTO evidence (place, kind, digest, about, at, content) SELECT place, kind, ?, about, at, content FROM evidence WHERE digest LIKE 'sha256%'";
  for (let n = 0; n < 300; n++) database.prepare(copy).run(`old ${n}`);
  writeFileSync(join(root, 'skills/tea/SKILL.md'), CHANGED);
  await registry.refresh();
  await registry.admin.evaluate('tea');
  expect(database.prepare('SELECT count(*) AS n FROM evidence').get()).toEqual({ n: 200 });
  database.close();
});
