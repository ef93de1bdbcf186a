import { boot } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { bootRoot, skill } from '../helpers/boot-root.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { warningsOfProcess } from '../helpers/warnings.ts';

it('sees fifteen changes in a row in a running kernel without a warning of Node', async () => {
  const warnings = warningsOfProcess();
  const { root, kernel } = await bootRoot(skill('tea'));
  for (let count = 0; count < 15; count++) {
    writeTree(root, skill('tea', { description: `Tea number ${count}.` }));
    expect(await kernel.runCommand('/skills reload', {})).toMatchObject({ kind: 'print' });
  }
  expect(await kernel.runCommand('/skills', {})).toMatchObject({ text: expect.stringContaining('Tea number 14.') });
  await kernel.shutdown();
  expect(warnings).toEqual([]);
});

it('tells of a long body that comes while the counting still waits for its time', async () => {
  const { root, registry } = await openRegistry(skill('tea'));
  const stop = new AbortController();
  const watching = registry.watch(stop.signal);
  for (let count = 0; count < 3; count++) {
    const id = `long-${count}`;
    writeTree(root, skill(id, {}, 'word '.repeat(9000)));
    await registry.refresh();
    await waitFor('the problem', () =>
      registry.problems().some(({ code, file }) => code === 'SKILL_TOO_LONG' && file.includes(id)),
    );
  }
  stop.abort();
  await watching;
});

it('ends any number of sources and kernels by one signal without a warning of Node', async () => {
  const warnings = warningsOfProcess();
  const { root, registry } = await openRegistry(skill('tea'));
  const stop = new AbortController();
  const { signal } = stop;
  for (let count = 0; count < 12; count++) {
    const remove = await registry.addSource({ path: `${root}/skills` }, { signal });
    if (count % 2 === 0) await remove();
  }
  expect(registry.snapshot().sources).toHaveLength(7);
  const roots = Array.from({ length: 12 }, () => tempFolder());
  const kernels = await Promise.all(roots.map((one) => boot({ root: one, signal })));
  stop.abort();
  await Promise.all(kernels.map(({ stopped }) => stopped));
  await waitFor('the sources to go', () => registry.snapshot().sources.length === 1);
  expect(warnings).toEqual([]);
});
