// Does the rest compile without all features, and without each of them and those that need it?
// Usage: node test/wall/compile.mjs [<feature>...]. Exit status 1 when something does not compile.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allFeatures, copyWithout, ROOT, withThoseThatNeed } from './copy.mjs';

// Tests of what stays are run, without being compiled, by test/wall/tests.mjs.
const PARTS = ['lib', 'kernel', 'extensions', 'cli'];

const wanted = process.argv.slice(2);
const all = allFeatures();
const cases = wanted.length > 0 ? [wanted] : [all, ...all.map((name) => [name])];
for (const features of cases) {
  const gone = withThoseThatNeed(features);
  const copy = copyWithout(gone, [...PARTS, 'package.json', 'tsconfig.json']);
  const config = { extends: './tsconfig.json', include: PARTS };
  writeFileSync(join(copy, 'tsconfig.wall.json'), JSON.stringify(config));
  const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.wall.json'], {
    cwd: copy,
    encoding: 'utf8',
  });
  rmSync(copy, { recursive: true });
  const title = gone.length === all.length ? 'all features' : gone.join(', ');
  process.stdout.write(`${status === 0 ? 'compiles' : 'DOES NOT COMPILE'} without ${title}\n${stdout}`);
  if (status !== 0) process.exitCode = 1;
}
