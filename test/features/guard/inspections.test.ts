import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openInspections as openOwn } from '../../../extensions/skill_registry/features/guard/inspections.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const RULE_SET = '../../../extensions/skill_registry/features/guard/inspect/rule-set.ts';
const INSPECTIONS = '../../../extensions/skill_registry/features/guard/inspections.ts';

/** The inspections as a version of this package with these rules opens them. */
async function openedBy(rules: number, file: string) {
  vi.resetModules();
  vi.doMock(RULE_SET, () => ({ RULE_SET: rules }));
  const { openInspections } = (await import(
    INSPECTIONS
  )) as typeof import('../../../extensions/skill_registry/features/guard/inspections.ts');
  vi.doUnmock(RULE_SET);
  const inspections = openInspections(file);
  onTestFinished(() => inspections.close());
  /** So many that they are in the file afterwards. */
  const keep = (name: string): void => {
    for (let number = 0; number < 64; number++) {
      const entry = { skillDigest: 's', stamp: 't', digest: `${name}${number}`, verdict: 'info' } as const;
      inspections.keep(`/${name}${number}`, entry, { verdict: 'info', findings: [], reach: [] }, { before: undefined });
    }
  };
  return { inspections, keep };
}

it('takes no verdict of another version of this package, by other rules, while both have the file open', async () => {
  const file = join(tempFolder(), 'inspections.db');
  const newer = await openedBy(1002, file);
  newer.keep('first');
  expect(newer.inspections.inspectionOf('first0')).toBeDefined();
  const older = await openedBy(1001, file);
  older.keep('older');
  expect(older.inspections.inspectionOf('older0')).toBeDefined();
  expect(newer.inspections.inspectionOf('older0')).toBeUndefined();
  expect(newer.inspections.entryAt('/older0')).toBeUndefined();
  newer.keep('newer');
  expect(newer.inspections.inspectionOf('newer0')).toBeDefined();
  expect(older.inspections.inspectionOf('newer0')).toBeUndefined();
  expect(older.inspections.filesOf('newer0')).toBeUndefined();
});

it('tells other processes of an attack later, where the file was locked when it was found', async () => {
  const file = join(tempFolder(), 'inspections.db');
  const open = () => {
    const inspections = openOwn(file);
    onTestFinished(() => inspections.close());
    return inspections;
  };
  const keep = (to: ReturnType<typeof open>, digest: string, verdict: 'info' | 'block'): void =>
    to.keep(
      `/${digest}`,
      { skillDigest: 's', stamp: 't', digest, verdict },
      { verdict, findings: [], reach: [] },
      { before: undefined },
    );
  const [one, other] = [open(), open()];
  keep(one, 'first', 'block');
  expect(other.blockedByOthers()).toEqual(new Set(['/first']));
  const writer = openSqlite(file);
  onTestFinished(() => writer.close());
  writer.exec('BEGIN IMMEDIATE');
  keep(one, 'second', 'block');
  writer.exec('ROLLBACK');
  await waitFor('the other one to know', () => other.blockedByOthers().has('/second'));
});

it('tells other processes of an attack through a new file, where somebody has removed the one they have open', () => {
  const file = join(tempFolder(), 'inspections.db');
  const open = () => {
    const inspections = openOwn(file);
    onTestFinished(() => inspections.close());
    return inspections;
  };
  const block = (by: ReturnType<typeof open>, digest: string): void => {
    const entry = { skillDigest: 's', stamp: 't', digest, verdict: 'block' } as const;
    by.keep(`/${digest}`, entry, { verdict: 'block', findings: [], reach: [] }, { before: undefined });
  };
  const [one, other] = [open(), open()];
  block(one, 'first');
  expect([one, other].map((by) => [...by.blockedByOthers()])).toEqual([[], ['/first']]);
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
  const late = open();
  block(late, 'second');
  expect(late.blockedByOthers()).toEqual(new Set());
  expect([one, other].map((by) => [...by.blockedByOthers()])).toEqual([['/second'], ['/second']]);
  expect(late.blockedByOthers()).toEqual(new Set(['/first']));
});

it('names the file to remove where inspections cannot be kept', async () => {
  const root = tempFolder({ 'inspections.db/kept': '' });
  const file = join(root, 'inspections.db');
  const inspections = openOwn(file);
  inspections.load([root]);
  const [problem] = inspections.problems();
  expect(problem).toMatchObject({ code: 'CACHE_UNAVAILABLE', file });
  expect(problem?.message).toContain('inspects all skills again: ');
  expect(problem?.message).toContain('Remove inspections.db and the files whose names begin with inspections.db- (');
  expect(problem?.message).not.toContain('cache.db');
  rmSync(file, { recursive: true });
  const again = openOwn(file);
  again.load([root]);
  expect(again.problems()).toEqual([]);
});

it.each([
  ['waited to be written', true],
  ['ran', false],
])('keeps what another process found to be blocked while an inspection of before that %s', (_when, isDone) => {
  const file = join(tempFolder(), 'inspections.db');
  const [one, other, late] = [openOwn(file), openOwn(file), openOwn(file)];
  for (const inspections of [one, other, late]) onTestFinished(() => inspections.close());
  const place = '/skills/mixer';
  type Entry = ReturnType<typeof one.entryAt>;
  const found = (by: typeof one, digest: string, verdict: 'info' | 'block', before: Entry): void => {
    const entry = { skillDigest: 's', stamp: '', digest, verdict };
    by.keep(place, entry, { verdict, findings: [], reach: [] }, { before });
  };
  const before = one.entryAt(place);
  if (isDone) found(one, 'clean', 'info', before);
  found(other, 'attack', 'block', undefined);
  if (!isDone) {
    expect(one.blockedByOthers()).toEqual(new Set([place]));
    found(one, 'clean', 'info', before);
    expect(one.entryAt(place)).toMatchObject({ verdict: 'block' });
  }
  one.close();
  expect(late.entryAt(place)).toMatchObject({ digest: 'attack', verdict: 'block' });
  found(late, 'mended', 'info', late.entryAt(place));
  late.close();
  const last = openOwn(file);
  onTestFinished(() => last.close());
  expect(last.entryAt(place)).toMatchObject({ digest: 'mended', verdict: 'info' });
});
