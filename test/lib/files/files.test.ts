import { execFile } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../kernel/host.ts';
import { listContained, readContained, relativeSegments, writeContained } from '../../../lib/files/index.ts';
import { isInside } from '../../../lib/files/paths.ts';
import { keepBusy } from '../../helpers/busy-process.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { FORGED } from '../../helpers/traps.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const onLinux = process.platform === 'linux';

/** What a call gives, or the code it throws. */
function outcome<T>(call: () => T): T | string {
  try {
    return call();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('relativeSegments', () => {
  it.each([
    ['a', ['a']],
    ['a/b/c', ['a', 'b', 'c']],
    ['./a', ['a']],
    ['a/./b', ['a', 'b']],
    ['a//b', ['a', 'b']],
    ['a/', ['a']],
    ['...', ['...']],
    ['..a', ['..a']],
    ['a..', ['a..']],
    ['.hidden', ['.hidden']],
    ['~', ['~']],
    ['ab:c', ['ab:c']],
    ['a b', ['a b']],
    ['%2e%2e', ['%2e%2e']],
    ['\uff0e\uff0e', ['\uff0e\uff0e']],
    [`${'a/'.repeat(63)}x`, [...Array<string>(63).fill('a'), 'x']],
  ])('takes %j apart', (path, segments) => {
    expect(relativeSegments(path)).toEqual(segments);
  });

  it.each(FORGED.filter(([title]) => !/slash$|and dot$/.test(title)))('refuses %s', (_title, path, code) => {
    const forged = typeof path === 'string' ? path : path('/somewhere', '/somewhere/else');
    expect(outcome(() => relativeSegments(forged))).toBe(code);
  });
});

it('tells what lies inside a folder from what only begins like it', () => {
  const inside = ['/a/b', '/a/b/c', '/a/b/c (deleted)'].map((path) => isInside(path, '/a/b'));
  const outside = ['/a', '/a/bc', '/a/b (deleted)', '', 'a/b', '/a/b\\c', 'socket:[1]'].map((path) =>
    isInside(path, '/a/b'),
  );
  expect([inside, outside]).toEqual([inside.map(() => true), outside.map(() => false)]);
  expect(isInside('/a', '/')).toBe(true);
});

describe('readContained', () => {
  it('reads up to the limit and not a byte more', () => {
    const dir = tempFolder({ empty: '', full: 'x'.repeat(100), over: 'x'.repeat(101) });
    expect(readContained(dir, 'empty', 1)).toHaveLength(0);
    expect(readContained(dir, 'full', 100).toString()).toBe('x'.repeat(100));
    expect(outcome(() => readContained(dir, 'over', 100))).toBe('RESOURCE_TOO_LARGE');
    // A terabyte of nothing: it is refused for its size, before memory is taken for it.
    truncateSync(join(dir, 'empty'), 2 ** 40);
    expect(outcome(() => readContained(dir, 'empty', 100))).toBe('RESOURCE_TOO_LARGE');
  });

  it.skipIf(!onLinux)('reads a file whose size is only known while it is read, within the same limit', () => {
    // Files of /proc are regular and say they have no bytes: what is read has always grown since it was looked at.
    const dir = `/proc/${process.pid}`;
    expect(readContained(dir, 'status', 100_000).toString()).toContain(`Pid:\t${process.pid}`);
    expect(outcome(() => readContained(dir, 'status', 100))).toBe('RESOURCE_TOO_LARGE');
  });

  it('refuses a base that became a link, or the parent of which did', () => {
    const dir = tempFolder({ 'a/b/file': 'good', 'outside/file': 'secret', 'outside/b/file': 'secret' });
    const base = join(dir, 'a', 'b');
    renameSync(base, join(dir, 'away'));
    symlinkSync(join(dir, 'outside'), base);
    expect(outcome(() => readContained(base, 'file', 100))).toBe('PATH_TRAVERSAL');
    renameSync(join(dir, 'a'), join(dir, 'a-away'));
    symlinkSync(join(dir, 'outside'), join(dir, 'a'));
    expect(outcome(() => readContained(base, 'file', 100))).toBe('PATH_TRAVERSAL');
    expect(outcome(() => listContained(base, ''))).toBe('PATH_TRAVERSAL');
    expect(outcome(() => writeContained(base, 'file', 'mine'))).toBe('PATH_TRAVERSAL');
    expect(readFileSync(join(dir, 'outside/b/file'), 'utf8')).toBe('secret');
  });

  it.skipIf(!onLinux)('closes what it has opened and refused', () => {
    const dir = tempFolder({ 'outside/file': 'secret', base: { link: 'outside' } });
    const before = readdirSync('/proc/self/fd').length;
    for (let n = 0; n < 200; n++)
      expect(outcome(() => readContained(join(dir, 'base'), 'file', 9))).toBe('PATH_TRAVERSAL');
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 20);
  });

  it('cannot tell a hard link from a file, as the documentation says', () => {
    const dir = tempFolder({ 'outside.txt': 'secret', 'base/file': 'good' });
    linkSync(join(dir, 'outside.txt'), join(dir, 'base/hard.txt'));
    expect(readContained(join(dir, 'base'), 'hard.txt', 100).toString()).toBe('secret');
  });

  it('does not so much as open what lies behind a link', { timeout: 60_000 }, async () => {
    const dir = tempFolder({ 'outside/x': '', 'base/link': { link: '../outside' } });
    await promisify(execFile)('mkfifo', [join(dir, 'outside/fifo')]);
    // Who writes to a FIFO waits until somebody opens it for reading; opening and closing it kills the writer.
    const writer = promisify(execFile)('sh', ['-c', 'echo waiting; echo word > fifo'], { cwd: join(dir, 'outside') });
    let said = '';
    writer.child.stdout?.on('data', (data) => (said += String(data)));
    await waitFor('the writer', () => said.includes('waiting'));
    for (let n = 0; n < 200; n++) {
      expect(outcome(() => readContained(join(dir, 'base'), 'link/fifo', 100))).toBe('PATH_TRAVERSAL');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const reader = promisify(execFile)('cat', ['fifo'], { cwd: join(dir, 'outside') });
    expect((await reader).stdout).toBe('word\n');
    await writer;
  });
});

describe('listContained', () => {
  it('names everything, follows nothing, and reads the folder itself for "" and "."', () => {
    const dir = tempFolder({ 'b.txt': 'four', 'a/x': '', link: { link: 'a' } });
    const entries = [
      { name: 'a', kind: 'directory', size: 0 },
      { name: 'b.txt', kind: 'file', size: 4 },
      { name: 'link', kind: 'other', size: 0 },
    ];
    expect(listContained(dir, '')).toEqual(entries);
    expect(listContained(dir, '.')).toEqual(entries);
    expect(outcome(() => listContained(dir, 'link'))).toBe('PATH_TRAVERSAL');
  });
});

describe('writeContained', () => {
  it('makes the base and everything on the way', () => {
    const base = join(tempFolder(), 'not', 'yet');
    expect(writeContained(base, 'a/b/c.txt', new Uint8Array([1, 2]))).toEqual({ created: true });
    expect([...readFileSync(join(base, 'a/b/c.txt'))]).toEqual([1, 2]);
  });

  it('leaves the old file and nothing else when the disk takes only a part', async () => {
    const dir = tempFolder({ 'file.txt': 'old' });
    const files = pathToFileURL(join(packageRoot(), 'lib/files/index.ts')).href;
    const script = `import { writeContained } from '${files}';
      try { writeContained(process.argv[1], 'file.txt', 'n'.repeat(100_000)); } catch (error) { console.log(error.code, error.message); }`;
    // A process that may write files of some kilobytes only: the first write comes back short, the next one fails.
    const limited = [
      '-c',
      'ulimit -f 8; exec "$@"',
      'sh',
      process.execPath,
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      script,
      dir,
    ];
    const { stdout } = await promisify(execFile)('sh', limited);
    expect(stdout).toBe(
      'WRITE_FAILED Cannot write "file.txt": EFBIG, a limit on the size of files is reached. Raise it, and repeat this.\n',
    );
    expect(readFileSync(join(dir, 'file.txt'), 'utf8')).toBe('old');
    expect(readdirSync(dir)).toEqual(['file.txt']);
  });

  it('shows every reader the old file or the new one, never a part', { timeout: 60_000 }, async () => {
    const dir = tempFolder({ 'file.txt': 'a'.repeat(100_000) });
    const other = await keepBusy(
      `function round() {
         const text = fs.readFileSync(args[0], 'utf8');
         if (!/^(a{100000}|b{100000})$/.test(text)) throw new Error('saw a part');
       }
       function tidy() {}`,
      [join(dir, 'file.txt')],
    );
    for (let n = 0; n < 300; n++) writeContained(dir, 'file.txt', (n % 2 ? 'a' : 'b').repeat(100_000));
    await other.stop();
    expect(readdirSync(dir)).toEqual(['file.txt']);
  });

  it('keeps no special bits and follows no link in the place of the file', () => {
    const dir = tempFolder({ 'real.txt': 'real', link: { link: 'real.txt' } });
    mkdirSync(join(dir, 'sub'));
    writeTree(dir, { 'sub/up': { link: '..' } });
    expect(outcome(() => writeContained(dir, 'link', 'mine'))).toBe('PATH_TRAVERSAL');
    expect(outcome(() => writeContained(dir, 'sub/up/real.txt', 'mine'))).toBe('PATH_TRAVERSAL');
    expect(readFileSync(join(dir, 'real.txt'), 'utf8')).toBe('real');
    writeFileSync(join(dir, 'other.txt'), '');
    expect(writeContained(dir, 'other.txt', 'x')).toEqual({ created: false });
  });
});
