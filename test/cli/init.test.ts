import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../kernel/host.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';

/** Decisions of these tests alone, and a home directory with two agents. */
beforeEach(() => {
  vi.stubEnv('XDG_STATE_HOME', tempFolder());
  vi.stubEnv('HOME', tempFolder({ '.claude/settings.json': '{}', '.config/goose/config.yaml': '' }));
});
afterEach(() => void vi.unstubAllEnvs());

const CONFIG = 'data/skill_registry/config.yaml';
const init = (root: string, ...args: readonly string[]) =>
  runCommand(['init', '--yes', ...args], { cwd: root, trust: false });
const configOf = (root: string): string => readFileSync(join(root, CONFIG), 'utf8');
const isApproved = (root: string): boolean => openTrust().allows('root', root);

/** The problems of a root, as `doctor` has them. */
async function problemsOf(root: string): Promise<readonly { readonly code: string }[]> {
  const { stdout } = await runCommand(['doctor', '--json', '--root', root], { trust: false });
  return JSON.parse(stdout).problems;
}

describe('init', () => {
  it('writes a config for the agents of the home directory and of the root, makes skills/ and approves the root', async () => {
    const root = tempFolder({
      '.gemini/skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }),
      '.github/workflows/ci.yml': '',
    });
    const { status, stdout, stderr } = await init(root);
    expect([status, stdout]).toEqual([0, `${join(root, CONFIG)}\n`]);
    expect(stderr).toContain('Agents found: claude (');
    expect(parse(configOf(root))).toEqual({
      sources: [
        { path: 'skills', optional: true },
        { preset: 'claude' },
        { preset: 'gemini' },
        { preset: 'goose' },
        { shipped: 'if_none' },
      ],
    });
    expect(readdirSync(join(root, 'skills'))).toEqual([]);
    expect(readFileSync(join(root, 'data/skill_registry/.gitignore'), 'utf8')).toContain('/*.db*');
    expect(isApproved(root)).toBe(true);
    expect(await problemsOf(root)).toEqual([]);
    const list = await runCommand(['list', '--json', '--root', root], { trust: false });
    expect(JSON.parse(list.stdout).skills).toMatchObject([{ skill_id: 'tea', source: 'gemini' }]);
  });

  it('writes keys behind a #, each with its default, that all load alone and together', async () => {
    const root = tempFolder();
    await init(root);
    const text = configOf(root);
    const lines = text.split('\n');
    const keys = lines.flatMap((line, at) => (/^#[^ ]/.test(line) ? [at] : []));
    expect(keys.length).toBeGreaterThan(15);
    const with_ = (set: readonly number[]): string =>
      lines.map((line, at) => (set.includes(at) ? line.slice(1) : line)).join('\n');
    for (const set of [...keys.map((key) => [key]), keys]) {
      writeFileSync(join(root, CONFIG), with_(set));
      expect(await problemsOf(root), with_(set)).toEqual([]);
    }
    const all = parse(with_(keys)) as Readonly<Record<string, unknown>>;
    const manifest = parse(readFileSync('extensions/skill_registry/manifest.yaml', 'utf8')).config;
    expect({ ...all, sources: manifest.sources }).toEqual(manifest);
  });

  it.each([
    ['elsewhere', false],
    ['in the root', true],
  ])('names the JSON Schema in the line that editors read, where the package is installed %s', async (_, isInRoot) => {
    const root = tempFolder(isInRoot ? { 'node_modules/skill-registry': { link: packageRoot() } } : {});
    await init(root);
    const [, address = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(configOf(root)) ?? [];
    expect(address.startsWith(isInRoot ? '../../node_modules/skill-registry/' : 'file:///')).toBe(true);
    const file = isInRoot ? join(root, CONFIG, '..', address) : fileURLToPath(address);
    expect(JSON.parse(readFileSync(file, 'utf8')).properties).toHaveProperty('sources');
  });

  it('asks at a terminal, and a no leaves the folder as it was', async () => {
    const root = tempFolder();
    const ask = (answer: string) => runCommand(['init'], { cwd: root, trust: false, answer: () => answer });
    const no = await ask('n');
    expect([no.status, no.stdout, readdirSync(root), isApproved(root)]).toEqual([1, '', [], false]);
    expect(no.stderr).toContain('Nothing was changed');
    expect((await ask('y')).status).toBe(0);
    const inEffect = configOf(root)
      .split('\n')
      .filter((line) => /^[\w-]/.test(line));
    for (const line of inEffect) expect(no.stderr).toContain(`  ${line}\n`);
    expect(no.stderr).not.toContain('#disabled');
    expect([existsSync(join(root, CONFIG)), isApproved(root)]).toEqual([true, true]);
  });

  it('says without a terminal and without --yes what to do, and does nothing', async () => {
    const root = tempFolder();
    const { status, stderr } = await runCommand(['init'], { cwd: root, trust: false });
    expect([status, stderr, readdirSync(root)]).toEqual([2, expect.stringContaining('Give --yes'), []]);
  });

  it.each<[string, Tree, string]>([
    ['a config', { [CONFIG]: 'inject: off\ntools: []\n' }, 'sets inject, tools'],
    ['an empty config', { [CONFIG]: '' }, 'sets nothing'],
    ['a broken config', { [CONFIG]: 'a: [' }, 'cannot be read'],
    ['a link that leads nowhere', { [CONFIG]: { link: '/nowhere/config.yaml' } }, 'sets nothing'],
  ])('never overwrites %s, says what is there, and approves nothing', async (_, tree, says) => {
    const root = tempFolder({ ...tree, 'extensions/mine/manifest.yaml': 'id: mine\n' });
    const { status, stderr } = await init(root);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`is there already, and ${says}; nothing was changed.`),
    ]);
    expect(stderr).toContain('skill-registry approvals allow');
    expect([existsSync(join(root, 'skills')), isApproved(root)]).toEqual([false, false]);
  });

  it('shows before it approves a root what can run in it, and keeps skills/ as it is', async () => {
    const root = tempFolder({
      'extensions/theirs/manifest.yaml': 'id: theirs\n',
      'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }),
      '.env': 'KEY=x\n',
    });
    const { stderr } = await runCommand(['init'], { cwd: root, trust: false, answer: () => 'n' });
    expect(stderr).toContain('That is at present 1 extension: theirs; .env. It can run as you');
    expect(stderr).not.toContain('skills/ is made');
    const { stdout } = await init(root, '--json');
    expect(JSON.parse(stdout)).toEqual({
      root,
      file: join(root, CONFIG),
      presets: ['claude', 'goose'],
      made: [CONFIG],
      approved: true,
    });
  });

  it('makes a root of the folder it is called in, below another root, too', async () => {
    const outer = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }), 'inner/x': '' });
    await init(join(outer, 'inner'));
    expect([existsSync(join(outer, 'inner', CONFIG)), existsSync(join(outer, 'data'))]).toEqual([true, false]);
  });

  it('writes nothing through data/ that leads out of the root', async () => {
    const elsewhere = tempFolder();
    const root = tempFolder();
    symlinkSync(elsewhere, join(root, 'data'));
    const { status, stderr } = await init(root);
    expect([status, stderr]).toEqual([1, expect.stringContaining('PATH_TRAVERSAL')]);
    expect([readdirSync(elsewhere), isApproved(root)]).toEqual([[], false]);
  });

  it('is not for a folder that is not there, and takes no --skills', async () => {
    expect(await init(tempFolder(), '--root', 'nowhere')).toMatchObject({ status: 2 });
    const root = tempFolder({ 'mine/x': '' });
    expect(await init(root, '--skills', 'mine')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('path: <folder>'),
    });
  });
});
