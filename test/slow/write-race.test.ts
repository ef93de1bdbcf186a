import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FLIP_FOLDER, keepBusy, RACE_DEADLINE_MS } from '../helpers/busy-process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { type Workspace, workspace } from '../helpers/workspace.ts';

const ATTEMPTS = 500;

/** Writes 500 times, and more until both outcomes were seen. @returns the codes of the refusals. */
async function writeOften({ call }: Workspace, path: string): Promise<ReadonlySet<string>> {
  const refusals = new Set<string>();
  let written = 0;
  const until = performance.now() + RACE_DEADLINE_MS;
  for (let n = 0; n < ATTEMPTS || ((written === 0 || refusals.size === 0) && performance.now() < until); n++) {
    const result = await call('write_file', { path, content: `mine ${n}` });
    if (result.success) written += 1;
    else refusals.add((result as { error: { code: string } }).error.code);
  }
  expect(written).toBeGreaterThan(0);
  expect(refusals.size).toBeGreaterThan(0);
  return refusals;
}

const temporaryFiles = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tmp'));

it('never writes outside while a folder flips between itself and a link', async () => {
  const outside = tempFolder({ 'file.md': 'theirs' });
  const place = await workspace({ 'extensions/flip/file.md': 'ours' });
  const other = await keepBusy(FLIP_FOLDER, [join(place.root, 'extensions/flip'), outside]);
  const refusals = await writeOften(place, 'extensions/flip/file.md');
  await other.stop();
  expect(readdirSync(outside)).toEqual(['file.md']);
  expect(readFileSync(join(outside, 'file.md'), 'utf8')).toBe('theirs');
  const known = ['PATH_TRAVERSAL', 'WRITE_FAILED', 'EXTENSION_PROTECTED'];
  expect([...refusals].filter((code) => !known.includes(code))).toEqual([]);
  expect(temporaryFiles(place.root)).toEqual([]);
});
