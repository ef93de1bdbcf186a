import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findRoot } from '../../../cli/find-root.ts';
import { publishedPage } from '../../helpers/published-page.ts';
import { runCommand, spawnCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const TEA = skillMd({ name: 'tea', description: 'How to brew tea.' });
const CONFIG = 'data/skill_registry/config.yaml';

it('says of a second init that the root is there, and changes nothing', async () => {
  const root = tempFolder();
  const init = () => runCommand(['init', '--yes'], { cwd: root, trust: false });
  const first = await init();
  expect(first).toMatchObject({
    status: 0,
    stderr: expect.stringContaining(`${join(root, CONFIG)} will be written, with\n  sources:\n`),
  });
  expect(first.stderr).toContain('will be approved');
  expect(first.stderr).not.toContain('yaml-language-server');
  expect(await init()).toEqual({
    status: 0,
    stdout: '',
    stderr: 'This folder is a root already, and approved; nothing was changed.\n',
  });
});

it('says after new in a folder that is no root how to make it one, and nothing of it in a root', async () => {
  const advice = 'This folder is not a root yet: skill-registry init makes it one.';
  const make = async (cwd: string) => (await runCommand(['new', 'mine'], { cwd, trust: false })).stderr;
  const folder = tempFolder();
  expect(findRoot({}, { cwd: folder } as never)).toBe(folder);
  expect(await make(folder)).toContain(advice);
  expect(await make(tempFolder({ [CONFIG]: '' }))).not.toContain(advice);
});

it('says of add --frozen without a lock that there is none, also where nobody has approved the root', async () => {
  for (const trust of [true, false]) {
    const root = tempFolder();
    const { status, stderr } = await runCommand(['add', '--frozen', '--yes'], { cwd: root, trust });
    expect(status).toBe(1);
    expect(stderr).toContain(
      `LOCK_INVALID: ${join(root, 'skills-lock.json')} cannot be used: no such file is there. Copy`,
    );
  }
});

it('says of a second add of a page or folder that the skill is there, and takes what is new with --all', async () => {
  const { page } = await publishedPage({ 'skills/tea/SKILL.md': TEA });
  const folder = tempFolder({ 'tea/SKILL.md': TEA });
  for (const origin of [page.url, folder]) {
    const root = tempFolder({ 'skills/x.md': '' });
    const add = (...more: readonly string[]) => runCommand(['add', origin, '--yes', ...more], { cwd: root });
    expect((await add()).status).toBe(0);
    expect(await add()).toEqual({
      status: 0,
      stdout: '',
      stderr:
        'tea is installed from there already; nothing was changed. For what is newer: skill-registry update tea\n',
    });
    if (origin !== folder) continue;
    writeTree(folder, { 'cup/SKILL.md': skillMd({ name: 'cup', description: 'Cups.' }) });
    const { status, stderr } = await add('--all');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^tea is installed from there already\. (?:.*\n)+cup is installed, as revision 1/);
  }
});

it('says of an address where nothing listens what to look at', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const what = `http://127.0.0.1:${port}`;
  const { stderr } = await runCommand(['add', what, '--yes'], { cwd: tempFolder({ 'skills/x.md': '' }) });
  expect(stderr).toMatch(
    /nothing answers there \(ECONNREFUSED\)\. Is its web server running, and the address right\?\n$/,
  );
});

it('names a skill with a broken frontmatter below the list, and how to see what is wrong', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'skills/cup/SKILL.md': '---\nname: [\n---\nCups.\n' });
  const { stderr } = await runCommand(['list', '--root', root]);
  expect(stderr).toContain('The frontmatter has errors in cup: see skill-registry doctor\n');
});

it.each([
  [['publish'], 'skill-registry publish --help shows its options'],
  [['list', '--nope'], 'skill-registry list --help shows its options'],
  [['trust', 'allow', '--nope'], 'skill-registry trust allow --help shows its options'],
  [['proposals', 'nope'], 'skill-registry proposals --help lists its commands'],
  [['proposals', '--nope'], 'skill-registry proposals list --help shows its options'],
  [['proposals', 'list', '--state', 'nope'], 'skill-registry proposals list --help shows its options'],
])('names its own help when %j is wrong', async (args, help) => {
  const { status, stderr } = await runCommand(args, { trust: false });
  expect([status, stderr]).toEqual([2, expect.stringContaining(help)]);
});

it('publishes no shipped skills from a folder that has the package somewhere below, and says what to do', async () => {
  const above = join(import.meta.dirname, '../..', '..', '..');
  const to = join(tempFolder(), 'site');
  // A process of its own: the folder above may hold the temporary folders of other tests.
  const { status, stderr } = await spawnCommand(['publish', '--root', above, '--to', to], { cwd: above, trust: false });
  expect([status, stderr]).toEqual([1, expect.stringContaining('name it with --root <dir>, or name the skills')]);
  expect(readdirSync(join(to, '..'))).toEqual([]);
});

it.each([
  [['trust', 'allow', ''], "argument 'what'"],
  [['validate', 'skills', ''], "argument 'path'"],
  [['--root', '', 'list'], "option '--root <dir>'"],
  [['list', '--skills', 'skills', '--skills', ''], "option '--skills <dir>'"],
  [['publish', '--to', ''], "option '--to <dir>'"],
])('takes no empty text, as of a variable that is not set, for the working folder: %j', async (args, what) => {
  const cwd = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const { status, stdout, stderr } = await runCommand(args, { cwd, trust: false });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^error: ${what} is empty\n`));
  expect(readdirSync(cwd)).toEqual(['skills']);
});

it.each([
  [
    '18.20.8',
    1,
    'skill-registry: Node 18.20.8 is too old. Use Node 24, or 22.13 or a later 22, or 20.19 or a later 20.\n',
  ],
  [
    '20.18.3',
    1,
    'skill-registry: Node 20.18.3 is too old. Use Node 24, or 22.13 or a later 22, or 20.19 or a later 20.\n',
  ],
  ['20.19.0', 0, ''],
  ['24.0.0', 0, ''],
])('says of Node %s whether it is too old, before it imports anything', (node, status, stderr) => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`;
  const main = join(import.meta.dirname, '../../../dist/cli/main.js');
  const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, main, '--version'];
  expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ status, stderr });
});
