// Shows that the tests see faults in what guards a person's text, machine and secrets: each fault of faults.mjs is put into a copy of
// the sources, and the test named for it has to turn red.
// Usage: npm run faults [-- <part of a title>[|<part of another>]]. Exit status 1 when one stays green, or shows nothing.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { faults as described } from './faults.mjs';
import { placeFault, readFunctions } from './operators.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
/** Most of a short run is the start of one process. */
const COPIES = 2;
/** A test that a fault makes wait for ever shows it as well, but late. */
const MAX_MS = 600_000;

const wanted = process.argv.slice(2).join(' ').toLowerCase().split('|');
const folder = mkdtempSync(join(tmpdir(), 'skill-registry-faults-'));
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const copies = Array.from({ length: COPIES }, (_, n) => copySources(join(folder, `${n}`)));
// Some tests read dist/ when they are loaded.
for (const copy of copies) await mustBuild(copy);
const functions = readFunctions(ROOT, listed(['lib', 'kernel', 'extensions', 'cli']).filter(isCode));
const testTexts = listed(['test'])
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
let titles;
const chosen = [];
for (const fault of described.filter(isWanted)) chosen.push(await found(fault));
const rows = [];
// What is found out at once is about all of them.
const unusable = { ...notFound(chosen), ...(await notCompiled(copies[0])), ...(await notGreen(copies[0])) };
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
  writeFileSync(file, fault.text);
  try {
    const broken = fault.build && (await build(copy));
    if (broken) return `no verdict: ${broken}`;
    const { tests, message } = await run(copy, fault.testFile, [fault.test]);
    const ofFault = tests.filter(({ title }) => title.includes(fault.test));
    if (ofFault.some(({ status }) => status === 'failed')) return 'red';
    return ofFault.length > 0 ? 'green: no test sees it' : `no verdict: ${message}`;
  } finally {
    writeFileSync(file, sound);
    if (fault.build) await mustBuild(copy);
  }
}

function isWanted({ title }) {
  return wanted.some((part) => title.toLowerCase().includes(part));
}

/** A fault with the file that it changes, the text of that file with the fault, and the file of its test; or with what is wrong. */
async function found(fault) {
  try {
    return { ...fault, ...placeFault(fault, functions), testFile: await testFileOf(fault.test) };
  } catch (error) {
    return { ...fault, wrong: error.message };
  }
}

/** @param title - A part of the title of a test, with those of its groups before it. */
async function testFileOf(title) {
  // Most titles stand in one file as they are. Listing all tests takes longer than most faults.
  const written = testTexts.filter(({ text }) => text.includes(title));
  if (written.length === 1) return written[0].file;
  titles ??= await listTests(copies[0]);
  const files = [...new Set(titles.filter((one) => one.title.includes(title)).map(({ file }) => file))];
  if (files.length !== 1)
    throw new Error(`${files.length} files have a test with this title: ${title} ${files.join(', ')}`);
  return files[0];
}

/** The title and file of every test, fast and slow, as vitest lists them. */
async function listTests(copy) {
  const lists = [];
  for (const config of ['vitest.config.ts', 'vitest.slow.config.ts']) {
    const list = join(folder, `${config}.json`);
    const { output } = await execute(copy, [
      'node_modules/vitest/vitest.mjs',
      'list',
      '--config',
      config,
      `--json=${list}`,
    ]);
    if (!existsSync(list)) throw new Error(`vitest listed no tests: ${output.slice(-500)}`);
    lists.push(...JSON.parse(readFileSync(list, 'utf8')));
  }
  return lists.map(({ name, file }) => ({ title: name.replaceAll(' > ', ' '), file: file.slice(copy.length + 1) }));
}

/** Faults whose code or test is not found once. */
function notFound(all) {
  return Object.fromEntries(all.flatMap(({ title, wrong }) => (wrong === undefined ? [] : [[title, wrong]])));
}

/**
 * Faults that are no program: a file that cannot be loaded would turn any test red. Each faulty text is compiled beside the sound
 * one, all at once. That a name is not used any more is no error here.
 */
async function notCompiled(copy) {
  const beside = new Map();
  for (const [index, fault] of chosen.entries()) {
    if (fault.wrong !== undefined) continue;
    const file = fault.file.replace(/\.ts$/, `.fault-${index}.ts`);
    beside.set(file, fault.title);
    writeFileSync(join(copy, file), fault.text);
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
  const usable = chosen.filter(({ wrong }) => wrong === undefined);
  const groups = [
    usable.filter(({ testFile }) => !isSlow(testFile)),
    usable.filter(({ testFile }) => isSlow(testFile)),
  ];
  for (const group of groups.filter(({ length }) => length > 0)) {
    const files = [...new Set(group.map(({ testFile }) => testFile))];
    const { tests, message } = await run(copy, files, [...new Set(group.map(({ test }) => test))]);
    for (const { title, test, testFile } of group) {
      const own = tests.filter((one) => one.file === testFile && one.title.includes(test));
      const ran = own.filter(({ status }) => status === 'passed' || status === 'failed');
      if (ran.length === 0)
        found[title] = `no test of this name runs in ${testFile}: ${message || 'it is skipped or missing'}`;
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
function listed(folders) {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...folders];
  const names = execFileSync('git', options, { cwd: ROOT }).toString('utf8').split('\0');
  return names.filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

function isCode(file) {
  return file.endsWith('.ts') && !file.endsWith('.d.ts');
}

function copySources(copy) {
  for (const file of listed(['.'])) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file), { verbatimSymlinks: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
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
      `${fault.in} (${fault.file ?? 'not found'})`,
      `${fault.testFile ?? ''}: ${fault.test}`,
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
