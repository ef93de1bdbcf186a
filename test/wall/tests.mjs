// Do the tests that are left pass in a copy of the tree without features? Of each file at least as many as `left.json` says have to.
// Usage: node test/wall/tests.mjs [--write] [<feature>...]. Without a feature: without all of them. --write: writes these counts to left.json.
// Exit status 1 when fewer passed. The command and the build are those of the copy.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { allFeatures, copyWithout, ROOT, withThoseThatNeed } from './copy.mjs';

/** What is not of one feature; of features what their own folders have. */
const TESTS = [
  'ai-sdk',
  'cli',
  'cli_channel',
  'core',
  'e2e',
  'features',
  'kernel',
  'lib',
  'skill_mcp',
  'skill_registry',
  'skill_review',
  'wall',
  'workspace_files',
];
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
const unknown = named.filter((name) => !allFeatures().includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no feature ${unknown.join(', ')}; there are ${allFeatures().join(', ')}.\n`);
  process.exit(2);
}
const gone = withThoseThatNeed(named.length > 0 ? named : allFeatures());
const title = named.length > 0 ? named.join(' ') : 'all';

// Whatever a test leaves behind goes with this folder.
const folder = mkdtempSync(join(tmpdir(), 'skill-registry-wall-'));
process.env.TMPDIR = folder;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const copy = copyWithout(
  gone,
  [...PARTS, ...FILES].filter((part) => existsSync(join(ROOT, part))),
);
const files = testsIn(copy);
const counts = Object.fromEntries(files.flatMap(({ file, passed }) => (passed > 0 ? [[file, passed]] : [])));
const known = existsSync(LEFT) ? JSON.parse(readFileSync(LEFT, 'utf8')) : {};
if (given.includes('--write')) {
  known[title] = counts;
  writeFileSync(LEFT, `${JSON.stringify(known, null, 2)}\n`);
}
report(known[title]);

// --- internal ---

/** Each file, and how many of its tests passed. */
function testsIn(tree) {
  const built = run(tree, ['scripts/build.mjs']);
  if (built.status !== 0) throw new Error(`The copy cannot be built: ${built.stderr}`);
  const folders = TESTS.map((name) => `test/${name}`).filter((path) => existsSync(join(tree, path)));
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const out = join(tree, 'results.json');
  const config = gone.includes('guard') ? 'test/wall/vitest.config.ts' : 'vitest.config.ts';
  // Its status says nothing: tests that need what is gone fail. What passes is counted.
  const tested = run(tree, [vitest, 'run', '--config', config, '--reporter=json', `--outputFile=${out}`, ...folders]);
  if (!existsSync(out)) throw new Error(`The tests gave no report: ${tested.stderr}`);
  const { testResults } = JSON.parse(readFileSync(out, 'utf8'));
  const ofFile = ({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    const passed = assertionResults.filter(({ status }) => status === 'passed').length;
    return { file: relative(tree, name), passed, failed: failed.map(({ fullName }) => fullName), message };
  };
  return testResults.map(ofFile).sort((a, b) => (a.file < b.file ? -1 : 1));
}

function report(wanted) {
  const sum = (one) => Object.values(one).reduce((all, count) => all + count, 0);
  const print = (line) => process.stdout.write(`${line}\n`);
  process.exitCode = 1;
  if (!wanted || sum(wanted) === 0) {
    print(`left.json does not say how many tests pass without ${title}: node test/wall/tests.mjs --write ${title}`);
    return;
  }
  const fewer = Object.keys(wanted).filter((file) => (counts[file] ?? 0) < wanted[file]);
  print(`Without ${gone.join(', ')}: ${sum(counts)} tests passed, ${sum(wanted)} have to.`);
  for (const file of fewer) {
    const found = files.find((one) => one.file === file);
    print(
      `  ${file}: ${counts[file] ?? 0} passed, ${wanted[file]} have to.${found ? '' : ' It is not there any more.'}`,
    );
    for (const name of found?.failed ?? []) print(`    failed: ${name}`);
    if (found && found.failed.length === 0 && found.message) print(`    ${found.message}`);
  }
  if (fewer.length > 0) print('A file that was moved or a test that went on purpose: run this again with --write.');
  else process.exitCode = 0;
}

function run(cwd, args) {
  return spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 1e9 });
}
