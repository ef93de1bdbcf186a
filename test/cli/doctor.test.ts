import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }) };

function manifest(id: string, more: string): string {
  return `id: ${id}\nname: ${id}\nversion: 1.0.0\ndescription: Does it.\n${more}\n`;
}

/** Ten extensions, each broken in another way, and the code that says so. */
const BROKEN: readonly (readonly [string, Tree, string])[] = [
  ['a', { 'a/readme.txt': 'x' }, 'MANIFEST_MISSING'],
  ['b', { 'b/manifest.yaml': ': [' }, 'MANIFEST_YAML_INVALID'],
  ['c', { 'c/manifest.yaml': manifest('c', 'agent: {}\nentrypont: main:C') }, 'MANIFEST_FIELD_UNKNOWN'],
  ['d', { 'd/manifest.yaml': manifest('d', 'entrypoint: main:D') }, 'EXTENSION_IMPORT_FAILED'],
  [
    'e',
    { 'e/manifest.yaml': manifest('e', 'entrypoint: main:E'), 'e/main.ts': 'export class E { x( : }' },
    'EXTENSION_IMPORT_FAILED',
  ],
  [
    'f',
    { 'f/manifest.yaml': manifest('f', 'entrypoint: main:F'), 'f/main.ts': 'export class G {}' },
    'EXTENSION_IMPORT_FAILED',
  ],
  ['g', { 'g/manifest.yaml': manifest('g', 'agent: {}\ndepends_on: [none]') }, 'EXTENSION_DEPENDENCY_MISSING'],
  ['h', { 'h/manifest.yaml': manifest('h', 'agent: {}\ndepends_on: [g]') }, 'EXTENSION_SKIPPED'],
  ['i', { 'i/manifest.yaml': manifest('i', 'agent: { uses_skills: [coffee] }') }, 'AGENT_NOT_READY'],
  ['j', { 'j/manifest.yaml': manifest('j', 'agent: { uses_tools: [none] }') }, 'AGENT_TOOLS_MISSING'],
];

it('finds each of ten broken extensions without running one, in a root that nobody has approved as well', async () => {
  const root = tempFolder({ ...TEA, ...below('extensions', Object.assign({}, ...BROKEN.map(([, tree]) => tree))) });
  const { problems } = JSON.parse((await runCommand(['doctor', '--json'], { cwd: root })).stdout);
  for (const [id, , code] of BROKEN) {
    const file = expect.stringContaining(`/extensions/${id}`);
    expect(problems).toContainEqual(expect.objectContaining({ code, file }));
  }
  expect(problems.map((one: { code: string }) => one.code).sort()).toEqual(BROKEN.map(([, , code]) => code).sort());
  const { status, stdout } = await runCommand(['doctor'], { cwd: root });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^1 skill\n17 extensions: .*7 broken, .*1 skipped/);
  expect(stdout).not.toContain('Nothing is wrong');
  const foreign = await runCommand(['doctor'], { cwd: root, trust: false });
  expect(foreign.stdout).not.toContain('Nothing is wrong');
  expect(foreign.stdout).toMatch(/ROOT_NOT_APPROVED[\s\S]*10 extensions: a, b, c, d, e, f, g, h, i, j/);
  expect(foreign.stdout).toContain('MANIFEST_YAML_INVALID');
});

it('runs nothing of an extension', async () => {
  const main =
    "import { writeFileSync } from 'node:fs';\nwriteFileSync(new URL('./ran', import.meta.url), '');\nexport class A {}\n";
  const root = tempFolder({
    'extensions/a/manifest.yaml': manifest('a', 'entrypoint: main:A'),
    'extensions/a/main.ts': main,
  });
  await runCommand(['doctor'], { cwd: root });
  expect(existsSync(join(root, 'extensions/a/ran'))).toBe(false);
});

it.each([
  ['a name without an address', { MODEL_NAME: 'small', MODEL_BASE_URL: '' }, 'Missing: MODEL_BASE_URL'],
  [
    'an address that is none',
    { MODEL_NAME: 'small', MODEL_BASE_URL: 'localhost' },
    'MODEL_BASE_URL is not an http address',
  ],
])('says what is wrong with the model: %s', async (_what, environment, message) => {
  const { stdout } = await runCommand(['doctor'], { cwd: tempFolder(TEA), environment });
  expect(stdout).toMatch(new RegExp(`warning MODEL_NOT_CONFIGURED \\(1\\)[\\s\\S]*${message}`));
});

it('names the model that agents have, and no model is no problem', async () => {
  const environment = { MODEL_NAME: 'small', MODEL_BASE_URL: 'http://localhost:1/v1', MODEL_API_KEY: 'secret-key' };
  const { stdout } = await runCommand(['doctor'], { cwd: tempFolder(TEA), environment });
  expect(stdout).toContain('Model: small at http://localhost:1/v1; it was not called\n');
  expect(stdout).not.toContain('secret-key');
  const none = await runCommand(['doctor'], {
    cwd: tempFolder(TEA),
    environment: { MODEL_NAME: '', MODEL_BASE_URL: '' },
  });
  expect(none.stdout).toMatch(/Model: none is set[\s\S]*Nothing is wrong\.\n$/);
});

it('reads the config of every extension that starts', async () => {
  const root = tempFolder({ 'extensions/a/manifest.yaml': manifest('a', 'agent: {}'), 'data/a/config.yaml': ': [' });
  const { stdout } = await runCommand(['doctor'], { cwd: root });
  expect(stdout).toMatch(/error CONFIG_INVALID \(1\)\n.*data\/a\/config\.yaml:1/);
});

it('begins with totals that add up, and prints ten of each code unless --all is given', async () => {
  const wrong = Array.from({ length: 12 }, (_, n) => [`skills/tea-${n}/SKILL.md`, skillMd({ description: 'Tea.' })]);
  const root = tempFolder({ ...Object.fromEntries(wrong), 'skills/none/SKILL.md': '' });
  const { stdout } = await runCommand(['doctor'], { cwd: root });
  expect(stdout).toMatch(/^12 skills\n/);
  expect(stdout).toContain('Problems: 14 (1 error, 13 warnings)\n');
  expect(stdout).toMatch(/^error SKILL_EMPTY \(1\)\n[\s\S]*^warning NAME_MISSING \(12\)\n/m);
  expect(stdout).toContain('12 skills can be repaired');
  expect(stdout.match(/There is no name/g)).toHaveLength(10);
  expect(stdout).toContain('  and 2 more; --all prints them\n');
  const all = await runCommand(['doctor', '--all'], { cwd: root });
  expect(all.stdout.match(/There is no name/g)).toHaveLength(12);
  const json = JSON.parse((await runCommand(['doctor', '--json'], { cwd: root })).stdout);
  expect(json.problems).toHaveLength(14);
  expect(json.repairable).toHaveLength(12);
});

it('says how many skills have the id of another one, so that its totals are those of the sources', async () => {
  const skill = { 'tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }) };
  const other = { 'tea/SKILL.md': skillMd({ name: 'tea', description: 'How to grow tea.' }) };
  const root = tempFolder({ ...below('one', skill), ...below('two', skill), ...below('three', other) });
  const folders = ['one', 'two', 'three'].flatMap((folder) => ['--skills', folder]);
  const { stdout } = await runCommand(['doctor', ...folders], { cwd: root });
  expect(stdout).toMatch(/^1 skill; 1 more, whose id another skill has; 1 equal in other folders\n/);
});

function below(folder: string, tree: Tree = {}): Tree {
  return Object.fromEntries(Object.entries(tree).map(([path, file]) => [`${folder}/${path}`, file]));
}

it('names the command that is unknown, and what prints ids where an id is', async () => {
  const root = tempFolder({});
  const said = async (...args: string[]) => (await runCommand(args, { cwd: root })).stderr;
  expect(await said('proposals', 'frob')).toMatch(/^error: unknown command 'proposals frob'\n.*proposals --help/);
  expect(await said('show', 'nothing')).toMatch(/SKILL_NOT_FOUND: .*\n\(skill-registry list prints the ids\)\n$/);
  expect(await said('inspect', 'no/folder')).toContain('There is no folder ');
});
