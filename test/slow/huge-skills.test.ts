import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openRoot } from '../helpers/open-registry.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const GOOD = { 'skills/good/SKILL.md': skillMd({ name: 'good', description: 'A good skill.' }, 'Good body.') };

/** `rm` goes down one level at a time, so that no tree is too deep for it. */
function removeDeepTree(dir: string): void {
  onTestFinished(() => void execFileSync('rm', ['-rf', dir]));
}

/** Makes a chain of folders, each in the one before, with a file in each. */
function makeChain(dir: string, levels: number): void {
  const script = `process.chdir(process.argv[1]);
    for (let n = 0; n < ${levels}; n++) { fs.mkdirSync('d'); process.chdir('d'); fs.writeFileSync('f', ''); }`;
  execFileSync(process.execPath, ['-e', script, dir]);
}

it('lists 512 files of 10,000, and reads each', async () => {
  const files = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`skills/good/files/${n}.txt`, '']));
  const registry = await openRoot(tempFolder({ ...GOOD, ...files }));
  const { resources } = await registry.read('good');
  expect(resources).toHaveLength(512);
  const last = await registry.readResource('good', 'files/9999.txt');
  expect(last.size).toBe(0);
});

it('gives up listing after hundreds of empty folders, and still reads what comes after them', async () => {
  const root = tempFolder({ ...GOOD, 'skills/good/a.txt': '', 'skills/good/z.txt': '' });
  for (let n = 0; n < 5000; n++) mkdirSync(join(root, 'skills/good/empty', String(n)), { recursive: true });
  const registry = await openRoot(root);
  expect((await registry.read('good')).resources).toEqual([{ path: 'a.txt', size: 0 }]);
  await expect(registry.readResource('good', 'z.txt')).resolves.toMatchObject({ size: 0 });
});

it('lists of 5,000 levels those that can be read, and reads those that are listed', async () => {
  const root = tempFolder({ ...GOOD, 'skills/good/z.txt': 'z' });
  removeDeepTree(join(root, 'skills/good/d'));
  makeChain(join(root, 'skills/good'), 5000);
  const registry = await openRoot(root);
  const { resources } = await registry.read('good');
  expect(resources.map(({ path }) => path)).toContain('z.txt');
  expect(resources.length).toBeGreaterThan(60);
  const longest = [...resources].sort((a, b) => b.path.length - a.path.length)[0]?.path ?? '';
  await expect(registry.readResource('good', longest)).resolves.toMatchObject({ size: 0 });
  await expect(registry.readResource('good', `${longest.slice(0, -1)}d/d/f`)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

it('looks for skills no deeper than the limit', async () => {
  const root = tempFolder(GOOD);
  removeDeepTree(join(root, 'skills/d'));
  makeChain(join(root, 'skills'), 5000);
  const registry = await openRoot(root);
  expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['good']);
  expect(registry.problems().map(({ code }) => code)).toEqual(['SCAN_DEPTH_EXCEEDED']);
});
