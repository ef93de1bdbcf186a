// Do the tests that are left pass in a copy of the tree without features? Of each file at least as many as `left.json` says must.
// Usage: node test/wall/tests.mjs [--write] [<feature>...]. Without a feature: without all of them. --write: writes left.json anew.
// Exit status 1 when fewer passed. The command and the build are those of the copy.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { allFeatures, copyWithout, ROOT, withThoseThatNeed } from './copy.mjs';

/** What is not of one feature; of features what their own folders have. */
const TESTS = ['ai-sdk', 'cli', 'cli_channel', 'core', 'e2e', 'kernel', 'lib', 'skill_mcp', 'skill_registry', 'wall'];
const PARTS = ['lib', 'kernel', 'extensions', 'cli', 'test', 'scripts', 'skills', 'docs', 'examples', 'bench', '.ci'];
const FILES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
  'README.md',
  'AGENTS.md',
  'LICENSE',
];
const LEFT = join(ROOT, 'test/wall/left.json');

const given = process.argv.slice(2);
const named = given.filter((word) => word !== '--write');
const gone = withThoseThatNeed(named.length > 0 ? named : allFeatures());
const title = named.length > 0 ? named.join(' ') : 'all';
const copy = copyWithout(
  gone,
  [...PARTS, ...FILES].filter((part) => existsSync(join(ROOT, part))),
);
try {
  const counts = testsIn(copy);
  const known = existsSync(LEFT) ? JSON.parse(readFileSync(LEFT, 'utf8')) : {};
  if (given.includes('--write')) writeFileSync(LEFT, `${JSON.stringify({ ...known, [title]: counts }, null, 2)}\n`);
  const wanted = given.includes('--write') ? counts : (known[title] ?? {});
  const fewer = Object.entries(wanted).filter(([file, count]) => (counts[file] ?? 0) < count);
  const sum = (one) => Object.values(one).reduce((all, count) => all + count, 0);
  process.stdout.write(`Without ${gone.join(', ')}: ${sum(counts)} tests passed, at least ${sum(wanted)} have to.\n`);
  for (const [file, count] of fewer) process.stdout.write(`  ${file}: ${counts[file] ?? 0} passed, ${count} have to\n`);
  process.exitCode = fewer.length > 0 || sum(wanted) === 0 ? 1 : 0;
} finally {
  rmSync(copy, { recursive: true });
}

/** @returns how many passed, by file. */
function testsIn(folder) {
  run(folder, ['scripts/build.mjs']);
  const files = ['test/features', ...TESTS.map((name) => `test/${name}`)].filter((path) =>
    existsSync(join(folder, path)),
  );
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const out = join(folder, 'results.json');
  const config = gone.length === allFeatures().length ? 'test/wall/vitest.config.ts' : 'vitest.config.ts';
  run(folder, [vitest, 'run', '--config', config, '--reporter=json', `--outputFile=${out}`, ...files]);
  const { testResults } = JSON.parse(readFileSync(out, 'utf8'));
  const counts = testResults.map(({ name, assertionResults }) => [
    relative(folder, name),
    assertionResults.filter(({ status }) => status === 'passed').length,
  ]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function run(cwd, args) {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  // Tests that need what is gone fail; what passes is counted.
  if (status !== 0 && args[0] === 'scripts/build.mjs') throw new Error(stderr);
}
