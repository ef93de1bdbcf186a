import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { ADA, LONGER, TEA, teaRegistry } from '../../helpers/tea.ts';
import { waitFor } from '../../helpers/wait-for.ts';

describe('history', () => {
  it('keeps every content once, whoever changed it', async () => {
    const { root, registry, propose } = await teaRegistry({ 'skills/tea/references/a.md': 'a\n' });
    const file = join(root, 'skills/tea/SKILL.md');
    expect(await registry.history.revisions('tea')).toMatchObject([{ number: 1, kind: 'seen', files: [{}, {}] }]);
    writeFileSync(file, LONGER);
    writeFileSync(join(root, 'skills/tea/references/a.md'), 'b\n');
    expect(await registry.history.revisions('tea')).toHaveLength(2);
    await registry.refresh();
    await registry.proposals.approve(await propose(LONGER.replace('three', 'five')), { ...ADA, reason: 'Stronger.' });
    const revisions = await registry.history.revisions('tea');
    expect(revisions.map(({ number, kind, by, reason }) => [number, kind, by, reason])).toEqual([
      [1, 'seen', 'unknown', null],
      [2, 'edited', 'unknown', null],
      [3, 'proposal', 'person:ada', 'Stronger.'],
    ]);
    expect((await registry.history.read('tea', 1)).toString()).toBe(TEA);
    expect((await registry.history.read('tea', 2, 'references/a.md')).toString()).toBe('b\n');
    expect((await registry.history.read('tea', revisions[2]?.digest.slice(7, 15) ?? '')).toString()).toContain('five');
    const diff = await registry.history.diff('tea', 1, 2);
    expect(diff).toContain('-Steep for two minutes.');
    expect(diff).toContain('+b');
  });

  it('goes back to a revision, whole, and that is a revision too', async () => {
    const { root, registry, tea } = await teaRegistry({ 'skills/tea/scripts/run.sh': 'echo 1\n' });
    const script = join(root, 'skills/tea/scripts/run.sh');
    chmodSync(script, 0o755);
    await registry.history.revisions('tea');
    writeFileSync(join(root, 'skills/tea/SKILL.md'), LONGER);
    writeFileSync(join(root, 'skills/tea/added.md'), 'added\n');
    rmSync(join(root, 'skills/tea/scripts'), { recursive: true });
    await registry.refresh();
    const revision = await registry.history.rollback('tea', 1, { ...ADA, reason: 'It was right.' });
    expect(revision).toMatchObject({ number: 3, kind: 'rollback', by: 'person:ada', reason: 'It was right.' });
    expect(tea()).toBe(TEA);
    expect(readFileSync(script, 'utf8')).toBe('echo 1\n');
    expect(statSync(script).mode & 0o777).toBe(0o755);
    expect(existsSync(join(root, 'skills/tea/added.md'))).toBe(false);
    expect((await registry.history.read('tea', 2, 'added.md')).toString()).toBe('added\n');
  });

  it('says which revisions there are when asked for another', async () => {
    const { registry } = await teaRegistry();
    await expect(registry.history.read('tea', 7)).rejects.toMatchObject({ code: 'REVISION_NOT_FOUND' });
    await expect(registry.history.revisions('coffe')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('brings back what was archived with all it had, and what somebody removed by hand from its last revision', async () => {
    const { root, registry, tea } = await teaRegistry({ 'skills/tea/assets/big.bin': 'x'.repeat(5_000_000) });
    await registry.admin.management.remove('tea', ADA);
    expect(existsSync(join(root, 'skills/tea'))).toBe(false);
    expect(registry.snapshot().skills).toEqual([]);
    expect(await registry.history.restore('tea', ADA)).toMatchObject({ kind: 'restored' });
    expect(statSync(join(root, 'skills/tea/assets/big.bin')).size).toBe(5_000_000);
    rmSync(join(root, 'skills/tea/assets'), { recursive: true });
    await registry.history.revisions('tea');
    rmSync(join(root, 'skills/tea'), { recursive: true });
    await registry.refresh();
    await registry.history.restore('tea', ADA);
    expect(tea()).toBe(TEA);
    await expect(registry.history.restore('tea', ADA)).rejects.toMatchObject({ code: 'SKILL_EXISTS' });
    await registry.admin.management.remove('tea', ADA);
    rmSync(join(root, 'data/skill_registry/.archive'), { recursive: true });
    await registry.history.restore('tea', ADA);
    expect(tea()).toBe(TEA);
  });

  it('is kept while the registry watches, without anybody asking', async () => {
    const { root, registry } = await teaRegistry();
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const watching = registry.watch(abort.signal);
    const file = join(root, 'data/skill_registry/history.db');
    const contents = (): number => {
      if (!existsSync(file)) return 0;
      const database = openSqlite(file);
      try {
        return (database.prepare('SELECT count(*) AS n FROM revision').get() as { n: number }).n;
      } catch {
        return 0;
      } finally {
        database.close();
      }
    };
    await waitFor('the first content', () => contents() === 1);
    writeFileSync(join(root, 'skills/tea/SKILL.md'), LONGER);
    await waitFor('the second content', () => contents() === 2);
    abort.abort();
    await watching;
  });

  it('that is damaged stops writing with a clear error, and reading goes on', async () => {
    const { root, registry } = await teaRegistry({ 'data/skill_registry/history.db': 'this is no database at all\n' });
    await expect(registry.history.revisions('tea')).rejects.toMatchObject({ code: 'HISTORY_DAMAGED' });
    await expect(registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA)).rejects.toMatchObject({
      code: 'HISTORY_DAMAGED',
    });
    expect((await registry.read('tea')).content).toContain('two minutes');
    expect(registry.problems()).toMatchObject([{ code: 'HISTORY_DAMAGED', severity: 'error' }]);
    expect(readFileSync(join(root, 'data/skill_registry/history.db'), 'utf8')).toBe('this is no database at all\n');
  });
});
