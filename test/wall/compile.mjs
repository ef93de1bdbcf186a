// Does the rest compile without all features, and without each of them and those that need it?
// Usage: node test/wall/compile.mjs [<feature>...]. Exit status 1 when something does not compile.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { allFeatures, copyWithout, ROOT, withThoseThatNeed } from './copy.mjs';

// Tests of what stays are run, without being compiled, by test/wall/tests.mjs.
const PARTS = ['lib', 'kernel', 'extensions', 'cli'];

const wanted = process.argv.slice(2);
const all = allFeatures();
const cases = wanted.length > 0 ? [wanted] : [all, ...all.map((name) => [name])];
await Promise.all(Array.from({ length: availableParallelism() }, work));

async function work() {
  for (let features = cases.shift(); features; features = cases.shift()) await compile(withThoseThatNeed(features));
}

async function compile(gone) {
  const copy = copyWithout(gone, [...PARTS, 'package.json', 'tsconfig.json']);
  try {
    const config = { extends: './tsconfig.json', include: PARTS };
    writeFileSync(join(copy, 'tsconfig.wall.json'), JSON.stringify(config));
    // One compiler runs on each core already: with threads they would do the same work several times.
    const options = ['-p', 'tsconfig.wall.json', '--singleThreaded'];
    const { status, output } = await execute(copy, join(ROOT, 'node_modules/.bin/tsc'), options);
    const title = gone.length === all.length ? 'all features' : gone.join(', ');
    process.stdout.write(`${status === 0 ? 'compiles' : 'DOES NOT COMPILE'} without ${title}\n${output}`);
    if (status !== 0) process.exitCode = 1;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function execute(cwd, command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}
