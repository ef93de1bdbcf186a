// Shows that the tests see faults in what guards a person's text, machine and secrets: each fault of faults.mjs is put into a copy of
// the sources, as a replacement of text that occurs once, and the test named for it has to turn red.
// Usage: npm run faults [-- <part of a title>]. Exit status 1 when one stays green, or shows nothing.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { faults } from './faults.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
/** Most of a short run is the start of one process. */
const COPIES = 2;
/** A test that a fault makes wait for ever shows it as well, but late. */
const MAX_MS = 600_000;

const wanted = process.argv.slice(2).join(' ').toLowerCase();
const chosen = faults.filter(({ title }) => title.toLowerCase().includes(wanted));
const folder = mkdtempSync(join(tmpdir(), 'skill-registry-faults-'));
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const copies = Array.from({ length: COPIES }, (_, n) => copySources(join(folder, `${n}`)));
const rows = [];
// What is found out at once is about all of them.
const unusable = { ...notOnce(chosen), ...(await notCompiled(copies[0])), ...(await notGreen(copies[0])) };
const left = [...chosen];
await Promise.all(copies.map(work));
print();

async function work(copy) {
  for (let fault = left.shift(); fault; fault = left.shift()) {
    const startedAt = performance.now();
    const verdict = unusable[fault.title] ?? (await verdictOf(fault, copy));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    rows.push({ fault, verdict, seconds });
    process.stderr.write(`${rows.length}/${chosen.length} ${verdict === 'red' ? 'red' : 'FAIL'}: ${fault.title}\n`);
  }
}

/** `red`, or what the fault shows instead. */
async function verdictOf(fault, copy) {
  const file = join(copy, fault.file);
  const sound = readFileSync(file, 'utf8');
  writeFileSync(file, faulty(fault, sound));
  try {
    const broken = fault.build && (await build(copy));
    if (broken) return `no verdict: ${broken}`;
    const { tests, message } = await run(copy, fault.test, [fault.name]);
    const ofFault = tests.filter(({ title }) => title.includes(fault.name));
    if (ofFault.some(({ status }) => status === 'failed')) return 'red';
    return ofFault.length > 0 ? 'green: no test sees it' : `no verdict: ${message}`;
  } finally {
    writeFileSync(file, sound);
    if (fault.build) await mustBuild(copy);
  }
}

/** Faults whose text to replace does not occur once. */
function notOnce(all) {
  const wrong = all.flatMap(({ title, file, find, replace }) => {
    const times = readFileSync(join(ROOT, file), 'utf8').split(find).length - 1;
    if (times !== 1) return [[title, `the text to replace occurs ${times} times in ${file}`]];
    return find === replace ? [[title, 'nothing is replaced']] : [];
  });
  return Object.fromEntries(wrong);
}

/**
 * Faults that are no program: a file that cannot be loaded would turn any test red. Each faulty text is compiled beside the sound
 * one, all at once. That a name is not used any more is no error here.
 */
async function notCompiled(copy) {
  const beside = new Map();
  for (const [index, fault] of chosen.entries()) {
    if (!fault.file.endsWith('.ts') || notOnce([fault])[fault.title]) continue;
    const file = fault.file.replace(/\.ts$/, `.fault-${index}.ts`);
    beside.set(file, fault.title);
    writeFileSync(join(copy, file), faulty(fault, readFileSync(join(copy, fault.file), 'utf8')));
  }
  try {
    const compiler = ['node_modules/typescript/bin/tsc', '--pretty', 'false'];
    const { output } = await execute(copy, [...compiler, '--noUnusedLocals', 'false', '--noUnusedParameters', 'false']);
    const errors = [...output.matchAll(/^(\S+?)\(\d+,\d+\): error (.*)$/gm)];
    const [foreign] = errors.filter(([, file]) => !beside.has(file));
    if (foreign) throw new Error(`the sources do not compile: ${foreign[0]}`);
    return Object.fromEntries(errors.map(([, file, error]) => [beside.get(file), `it does not compile: ${error}`]));
  } finally {
    for (const file of beside.keys()) rmSync(join(copy, file));
  }
}

/** Faults whose test does not pass without them. */
async function notGreen(copy) {
  const found = {};
  if (chosen.some(({ build: needed }) => needed)) for (const one of copies) await mustBuild(one);
  const groups = [chosen.filter(({ test }) => !isSlow(test)), chosen.filter(({ test }) => isSlow(test))];
  for (const group of groups.filter(({ length }) => length > 0)) {
    const files = [...new Set(group.map(({ test }) => test))];
    const { tests, message } = await run(copy, files, [...new Set(group.map(({ name }) => name))]);
    for (const { title, test, name } of group) {
      const own = tests.filter((one) => one.file === test && one.title.includes(name));
      const ran = own.filter(({ status }) => status === 'passed' || status === 'failed');
      if (ran.length === 0)
        found[title] = `no test of this name runs in ${test}: ${message || 'it is skipped or missing'}`;
      else if (ran.some(({ status }) => status === 'failed')) found[title] = 'its test fails without the fault';
    }
  }
  return found;
}

/** Tests of these files whose titles contain one of these names, and what happened to each. */
async function run(copy, files, names) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const config = [files].flat().some(isSlow) ? ['--config', 'vitest.slow.config.ts'] : [];
  const title = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
  const reporter = ['--reporter=json', `--outputFile=${report}`];
  const { output } = await execute(copy, [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...config,
    ...[files].flat(),
    '-t',
    title,
    ...reporter,
  ]);
  if (!existsSync(report)) return { tests: [], message: `vitest gave no report: ${output.slice(-500)}` };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ file: name.slice(copy.length + 1), title: fullName, status })),
  );
  return {
    tests,
    message: testResults
      .map(({ message }) => message)
      .join('\n')
      .slice(0, 500),
  };
}

function execute(copy, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), MAX_MS);
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      children.delete(child);
      resolve({ status, output });
    });
  });
}

/** @returns why it fails; undefined when it does not. */
async function build(copy) {
  const { status, output } = await execute(copy, ['scripts/build.mjs']);
  return status === 0 ? undefined : `the build failed: ${output.slice(0, 500)}`;
}

async function mustBuild(copy) {
  const broken = await build(copy);
  if (broken) throw new Error(broken);
}

/** What git knows and would take up, as it is in the working tree. */
function copySources(copy) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const file of listed.toString('utf8').split('\0')) {
    if (file === '' || !existsSync(join(ROOT, file))) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file), { verbatimSymlinks: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function faulty({ find, replace }, text) {
  return text.replace(find, () => replace);
}

function isSlow(test) {
  return test.startsWith('test/slow/');
}

function print() {
  const order = new Map(chosen.map(({ title }, index) => [title, index]));
  const cells = rows
    .sort((a, b) => order.get(a.fault.title) - order.get(b.fault.title))
    .map(({ fault, verdict, seconds }) => [
      fault.title,
      fault.file,
      `${fault.test}: ${fault.name}`,
      verdict,
      `${seconds} s`,
    ]);
  const lines = [
    '| fault | in | test | verdict | time |',
    '|---|---|---|---|---|',
    ...cells.map((row) => `| ${row.join(' | ')} |`),
  ];
  const red = rows.filter(({ verdict }) => verdict === 'red').length;
  process.stdout.write(`${lines.join('\n')}\n\n${red} of ${chosen.length} faults turn their test red\n`);
  process.exitCode = red === chosen.length && chosen.length > 0 ? 0 : 1;
}
