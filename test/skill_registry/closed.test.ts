import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isReserved } from '../../lib/files/index.ts';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

it('takes no change once it is told to close, also while its figures wait for another process', async () => {
  const { registry, root } = await openRegistry({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }),
    'more/cup/SKILL.md': skillMd({ name: 'cup', description: 'A cup.' }),
    'data/skill_registry/config.yaml': '',
  });
  const plan = await registry.origin.add('./more/cup');
  await registry.read('tea', {}, { agentId: 'drinker' });
  await registry.usage.report();
  const other = openSqlite(join(root, 'data/skill_registry/usage.db'));
  other.exec('BEGIN EXCLUSIVE');
  await registry.read('tea', {}, { agentId: 'drinker' });
  const closing = registry.close();
  await expect(registry.proposals.stats()).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
  await expect(plan.apply({ by: 'person:ada' })).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
  expect(existsSync(join(root, 'skills/cup'))).toBe(false);
  other.exec('ROLLBACK');
  other.close();
  await closing;
});

it('reads nothing any more once it is closed, and lets go of data/ when the scan under way has ended', async () => {
  const { registry, root } = await openRegistry({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }),
  });
  const id = 'tea';
  let goOn = (): void => {};
  let isScanning = false;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const skills = async () => {
    isScanning = true;
    await held;
    return [];
  };
  const adding = registry.addSource({ id: 'slow', skills });
  await waitFor('the scan', () => isScanning);
  const closing = registry.close();
  await expect(registry.read(id)).rejects.toMatchObject({ code: 'REGISTRY_CLOSED' });
  // Whatever else ends at the close has ended by then.
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(isReserved(join(root, 'data'))).toBe(true);
  goOn();
  await Promise.all([adding, closing]);
  expect(isReserved(join(root, 'data'))).toBe(false);
  const asked: Record<string, () => unknown> = {
    read: () => registry.read(id),
    readResource: () => registry.readResource(id, 'data/other/state.json'),
    readBytes: () => registry.admin.readBytes(id),
    resources: () => registry.admin.resources(id),
    leftOutCount: () => registry.admin.leftOutCount(id),
    apply: () => registry.apply(id, ''),
    context: () => registry.context(''),
    contextCost: () => registry.admin.contextCost(),
    tokenCounts: () => registry.admin.tokenCounts(),
    overlap: () => registry.admin.overlap(),
    prepareSearch: () => registry.admin.prepareSearch('x'),
    embedSkills: () => registry.admin.embedSkills(),
    resolveRolePrompt: () => registry.admin.resolveRolePrompt('cook'),
    readPolicies: () => registry.admin.readPolicies([join(root, 'data/other/state.json')], {}),
    mayGivePlainFile: () => registry.admin.mayGivePlainFile(join(root, 'skills/x'), Buffer.from('x')),
    writePolicy: () => registry.admin.writePolicy(join(root, 'data/other/state.json')),
    addSource: () => registry.addSource({ path: 'data' }),
    refresh: () => registry.refresh(),
    propose: () => registry.proposals.propose({ skillId: id, path: 'a', content: 'x', justification: 'x' }),
    revisions: () => registry.history.revisions(id),
  };
  const answers = Object.entries(asked).map(async ([name, ask]) => {
    const answer = await Promise.resolve()
      .then(ask)
      .catch(({ code }) => code);
    return [name, answer];
  });
  expect(Object.fromEntries(await Promise.all(answers))).toEqual(
    Object.fromEntries(Object.keys(asked).map((name) => [name, 'REGISTRY_CLOSED'])),
  );
  expect(registry.list().total).toBe(1);
});
