import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { openHistoryDatabase } from '../../../extensions/skill_registry/features/history/journal/history-database.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const bitsOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Bits and path of everything below data/, and of itself, but for what lies in the folders of archived skills. */
function bits(root: string): Readonly<Record<string, string>> {
  const data = join(root, 'data');
  const paths = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((path) => !/\.archive\/./.test(path));
  return Object.fromEntries(['', ...paths].map((path) => [path, bitsOf(join(data, path))]));
}

function umask022(): void {
  const before = process.umask(0o022);
  onTestFinished(() => void process.umask(before));
}

it('makes everything below data/ for its owner alone, whatever the umask is', async () => {
  umask022();
  const { root, registry, propose } = await teaRegistry({ 'data/.keep': '' });
  rmSync(join(root, 'data'), { recursive: true });
  await registry.proposals.approve(await propose(LONGER), ADA);
  await registry.admin.management.remove('tea', ADA);
  registry.list({ query: 'tea' });
  const all = Object.entries(bits(root));
  const files = all.filter(([path]) => /\.(db|md|lock|gitignore)/.test(path));
  expect(files.map(([path]) => path)).toEqual(
    expect.arrayContaining(
      ['history.db', 'history.db-wal', 'history.db-shm', 'cache.db', 'write.lock'].map(
        (name) => `skill_registry/${name}`,
      ),
    ),
  );
  expect(files.filter(([, mode]) => mode !== '600')).toEqual([]);
  const folders = all.filter((one) => !files.includes(one));
  expect(folders.map(([path]) => path).sort()).toEqual([
    '',
    'skill_registry',
    'skill_registry/.archive',
    'skill_registry/proposals',
  ]);
  expect(folders.filter(([, mode]) => mode !== '700')).toEqual([]);
  await registry.close();
  const fresh = tempFolder({ 'skills/tea/SKILL.md': TEA, 'data/.keep': '' });
  const other = await createSkillRegistry({ root: fresh, config: { sources: [{ path: 'skills' }] } });
  await other.close();
  expect(bits(fresh)).toMatchObject({
    skill_registry: '700',
    'skill_registry/.gitignore': '600',
    'skill_registry/cache.db': '600',
  });
});

it('narrows what an older version has made for all to read, and leaves data/ itself as its owner made it', async () => {
  umask022();
  const { root, registry, propose } = await teaRegistry();
  await registry.proposals.reject(await propose(LONGER), { ...ADA, reason: 'No.' });
  await registry.close();
  const data = join(root, 'data');
  for (const path of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]) {
    const full = join(data, path);
    chmodSync(full, statSync(full).isDirectory() ? 0o755 : 0o644);
  }
  const again = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  onTestFinished(() => again.close());
  const { proposalId } = await again.proposals.propose({
    ...{ skillId: 'tea', content: LONGER, justification: 'x', author: ADA.by },
  });
  again.list({ query: 'tea' });
  const now = bits(root);
  expect(now).toMatchObject({
    '': '755',
    skill_registry: '700',
    'skill_registry/history.db': '600',
    'skill_registry/cache.db': '600',
    'skill_registry/write.lock': '600',
    'skill_registry/proposals': '700',
    [`skill_registry/proposals/${proposalId}.md`]: '600',
  });
});

it('makes the backup before a migration for its owner alone', () => {
  umask022();
  const file = join(tempFolder(), 'history.db');
  const first = ['CREATE TABLE a (x);'];
  openHistoryDatabase(file, first).close();
  openHistoryDatabase(file, [...first, 'CREATE TABLE b (x);']).close();
  expect(bitsOf(`${file}.v1.backup`)).toBe('600');
  const backup = openSqlite(`${file}.v1.backup`);
  expect(backup.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([{ name: 'a' }]);
  backup.close();
});

it('keeps the bits of a skill through archive and history', async () => {
  umask022();
  const { root, registry } = await teaRegistry({
    'skills/tea/scripts/run.sh': { content: '#!/bin/sh\n', mode: 0o755 },
    'skills/tea/scripts/own.sh': { content: '#!/bin/sh\n', mode: 0o700 },
    'skills/tea/.env': { content: 'SECRET=1', mode: 0o600 },
  });
  const folder = join(root, 'skills/tea');
  chmodSync(folder, 0o750);
  const modes = (): readonly string[] =>
    ['scripts/run.sh', 'scripts/own.sh', 'SKILL.md'].map((path) => bitsOf(join(folder, path)));
  const before = modes();
  expect(before).toEqual(['755', '700', '644']);
  await registry.admin.management.remove('tea', ADA);
  await registry.history.restore('tea', ADA);
  expect([modes(), bitsOf(folder), bitsOf(join(folder, '.env'))]).toEqual([before, '750', '600']);
  // From the last revision, when somebody has emptied the archive.
  await registry.admin.management.write('tea', 'scripts/run.sh', '#!/bin/sh\necho\n', ADA);
  await registry.history.rollback('tea', 1, ADA);
  expect(modes()).toEqual(before);
  rmSync(folder, { recursive: true });
  await registry.refresh();
  await registry.history.restore('tea', ADA);
  expect(modes()).toEqual(before);
});
