import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from './imports.ts';

it('has one place in the sources for each fault that a test has to see', () => {
  const placed = spawnSync(process.execPath, ['test/faults/place-all.mjs'], { cwd: ROOT, encoding: 'utf8' });
  expect(placed).toMatchObject({ stdout: '', stderr: '', status: 0 });
});
