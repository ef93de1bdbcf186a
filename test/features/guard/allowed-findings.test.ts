import { expect, it } from 'vitest';
import { isAllowed } from '../../../extensions/skill_registry/features/guard/approvals.ts';
import { inspectFiles } from '../../../extensions/skill_registry/features/guard/inspect-files.ts';
import { inspectionsFile } from '../../../extensions/skill_registry/features/guard/inspections.ts';
import { openSqlite } from '../../../lib/sqlite/index.ts';
import { attack } from '../../helpers/held.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const PERSON = { by: 'person:ada', reason: 'ours' };

it('is for the folder that a person was shown, not for the same finding in another one', async () => {
  const body = `Do it.\n\n${attack(31)}`;
  const { registry } = await openRegistry({
    'skills/one/SKILL.md': skillMd({ name: 'one', description: 'Does one.' }, body),
    'skills/two/SKILL.md': skillMd({ name: 'two', description: 'Does two.' }, body),
  });
  expect(await registry.admin.decideTrust('allow', 'one', PERSON)).toMatchObject({ heldBecause: null });
  expect((await registry.read('one', {}, {})).content).toContain('203.0.113.31');
  await expect(registry.read('two', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it('is nothing as long as no finding is known: a verdict whose findings are lost holds', async () => {
  const nothing = { path: '/skills/one', digest: 'sha256:x', broughtIn: false, findings: [] };
  expect(isAllowed({ decisions: () => [] }, nothing)).toBe(false);

  const body = `Do it.\n\n${attack(32)}`;
  const { registry, root } = await openRegistry({
    'skills/one/SKILL.md': skillMd({ name: 'one', description: 'Does one.' }, body),
  });
  await registry.close();
  const database = openSqlite(inspectionsFile());
  database.exec('DELETE FROM inspection');
  database.close();
  const again = await openRoot(root);
  expect(again.visible({}).map(({ id }) => id)).toEqual([]);
});

it('is for the files that were inspected: a line break in a name makes no other list of them', async () => {
  const bytes = Buffer.from('x');
  const digestOfAll = async (paths: readonly string[]): Promise<string> => {
    const read = () => paths.map((path) => ({ path, bytes }));
    return (await inspectFiles(read)).digest;
  };
  const { files } = await inspectFiles(() => [{ path: 'b', bytes }]);
  const line = `${files.get('b')} 1 644 b`;
  expect(await digestOfAll(['a', 'b'])).not.toBe(await digestOfAll([`a\n${line}`]));
});
