import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readContained, writeContained } from '../../lib/files/index.ts';
import { FLIP_FILE, keepBusy, RACE_DEADLINE_MS } from '../helpers/busy-process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

/** What a call gives, or the code it throws. */
function outcome<T>(call: () => T): T | string {
  try {
    return call();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

type Outcomes<T> = ReadonlySet<T | string>;

/** Every outcome of calling it `times`, and more until it is `enough`. */
function outcomesOf<T>(times: number, call: () => T, enough: (seen: Outcomes<T>) => boolean): Outcomes<T> {
  const seen = new Set<T | string>();
  const until = performance.now() + RACE_DEADLINE_MS;
  for (let n = 0; n < times || !(enough(seen) || performance.now() > until); n++) seen.add(outcome(call));
  return seen;
}

const all =
  <T>(...wanted: readonly (T | string)[]) =>
  (seen: Outcomes<T>): boolean =>
    wanted.every((one) => seen.has(one));

it('gives bytes of the file and nothing else while it grows and shrinks', async () => {
  const dir = tempFolder({ file: 'x'.repeat(50) });
  const other = await keepBusy(
    `function round() {
       fs.appendFileSync(args[0], 'x'.repeat(60));
       fs.truncateSync(args[0], 50);
       fs.truncateSync(args[0], 1);
     }
     function tidy() {}`,
    [join(dir, 'file')],
  );
  const read = () => readContained(dir, 'file', 100).toString('latin1');
  const seen = outcomesOf(20_000, read, ({ size }) => size > 1);
  await other.stop();
  // Where a file is cut and grows under a read, the system shows zeros; memory of this process never.
  expect([...seen].filter((read) => !/^([x\0]{0,100}|RESOURCE_TOO_LARGE)$/.test(read))).toEqual([]);
  expect(seen.size).toBeGreaterThan(1);
});

it('leaves no temporary file when the target turns into a folder meanwhile', async () => {
  const dir = tempFolder({ 'kept.txt': '' });
  const other = await keepBusy(
    `function round() {
       if (works(() => fs.mkdirSync(args[0]))) fs.rmdirSync(args[0]);
       else fs.rmSync(args[0], { force: true });
     }
     function tidy() {}`,
    [join(dir, 'target')],
  );
  const seen = outcomesOf(3000, () => writeContained(dir, 'target', 'x').created, all('WRITE_FAILED', true));
  await other.stop();
  expect([...seen]).toEqual(expect.arrayContaining(['WRITE_FAILED', true]));
  expect(readdirSync(dir).filter((name) => name !== 'target')).toEqual(['kept.txt']);
});

it('fails with a code when folders on the way come and go', async () => {
  const dir = tempFolder();
  const other = await keepBusy(
    `function round() {
       works(() => fs.mkdirSync(join(args[0], 'a', 'b'), { recursive: true }));
       works(() => fs.rmSync(join(args[0], 'a'), { recursive: true, force: true }));
     }
     function tidy() {}`,
    [dir],
  );
  const seen = outcomesOf(3000, () => writeContained(dir, 'a/b/file', 'x').created, all('WRITE_FAILED', true));
  await other.stop();
  expect([...seen].filter((answer) => typeof answer === 'string')).toEqual(['WRITE_FAILED']);
  expect(seen).toContain(true);
});

it('never writes through a file that flips between itself and a link', async () => {
  const dir = tempFolder({ 'flip/file.md': 'ours', 'ours.md': 'ours', 'outside/file.md': 'theirs' });
  const theirs = join(dir, 'outside/file.md');
  const other = await keepBusy(FLIP_FILE, [join(dir, 'flip/file.md'), join(dir, 'ours.md'), theirs]);
  const write = () => writeContained(join(dir, 'flip'), 'file.md', 'mine').created;
  const seen = outcomesOf(3000, write, all(false, 'PATH_TRAVERSAL'));
  await other.stop();
  expect(seen).toEqual(new Set([false, 'PATH_TRAVERSAL']));
  expect(readFileSync(theirs, 'utf8')).toBe('theirs');
  expect(readdirSync(join(dir, 'outside'))).toEqual(['file.md']);
});
