import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../../../../kernel/host.ts';
import { gitRepository } from '../../../../helpers/git-repository.ts';
import { runCommand } from '../../../../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../../../helpers/temp-folder.ts';

const good = (name: string): string => skillMd({ name, description: 'How to brew it.' });
const TREE: Tree = {
  'skills/tea/SKILL.md': good('tea'),
  'skills/tea/examples/SKILL.md': 'No skill, but a file of one.',
  'skills/hot/cocoa/SKILL.md': good('cocoa'),
  'skills/bad/SKILL.md': good('other'),
  '.claude/skills/milk/SKILL.md': `\ufeff${good('milk')}`,
  'node_modules/x/SKILL.md': 'nothing',
  'skills/note.md': 'no skill',
};

it('validate finds all skills below a folder, and ends with totals that add up', async () => {
  const cwd = tempFolder(TREE);
  const { status, stdout, stderr } = await runCommand(['validate', '.'], { cwd });
  expect([status, stdout.trimEnd().split('\n').sort()]).toEqual([
    1,
    ['Valid skill: .claude/skills/milk', 'Valid skill: skills/hot/cocoa', 'Valid skill: skills/tea'],
  ]);
  expect(stderr).toContain(
    "Validation failed for skills/bad:\n  - Directory name 'bad' must match skill name 'other'\n",
  );
  expect(stderr.trimEnd().split('\n').at(-1)).toBe('4 skills: 3 valid, 1 not valid; 1 with warnings');
  const { results, totals } = JSON.parse((await runCommand(['validate', 'skills', '.', '--json'], { cwd })).stdout);
  expect(totals).toEqual({ checked: 4, valid: 3, invalid: 1, with_warnings: 1 });
  expect(results).toHaveLength(4);
  const absolute = await runCommand(['validate', join(cwd, 'skills/hot')], { cwd });
  expect([absolute.status, absolute.stdout]).toEqual([0, `Valid skill: ${join(cwd, 'skills/hot/cocoa')}\n`]);
});

it('validate says what of a folder could not be searched, and exits 1', async () => {
  const cwd = tempFolder({ 'skills/tea/SKILL.md': good('tea') });
  symlinkSync(tempFolder({ 'out/SKILL.md': good('out') }), join(cwd, 'skills/away'));
  const { status, stdout, stderr } = await runCommand(['validate', 'skills'], { cwd });
  expect([status, stdout]).toEqual([1, 'Valid skill: skills/tea\n']);
  expect(stderr).toMatch(
    /error: .*skills\/away: SYMLINK_OUTSIDE: .*\n1 skill: 1 valid, 0 not valid; 0 with warnings\n$/,
  );
});

it('validate --changed takes the skills that git says have changed: staged, not staged, unknown and removed', async () => {
  const names = ['same', 'staged', 'edited', 'script', 'lost', 'gone', 'moved'];
  const tree = Object.fromEntries(
    names.flatMap((name) => [
      [`skills/${name}/SKILL.md`, good(name)],
      [`skills/${name}/a b.txt`, 'x'],
    ]),
  );
  const { folder, git } = gitRepository({ ...tree, '.gitignore': 'skills/ignored\n' });
  const changed = async (...args: readonly string[]) => {
    const { status, stdout } = await runCommand(['validate', '--changed', '--json', ...args], { cwd: folder });
    const { results } = JSON.parse(stdout) as { results: readonly { path: string; valid: boolean }[] };
    return [status, results.map(({ path, valid }) => `${path} ${valid}`).sort()];
  };
  expect(await changed()).toEqual([0, []]);
  writeTree(folder, {
    'skills/staged/SKILL.md': `${good('staged')}More.\n`,
    'skills/edited/SKILL.md': good('wrong'),
    'skills/script/a b.txt': 'y',
    'skills/ignored/SKILL.md': good('ignored'),
    'skills/new/SKILL.md': good('new'),
    'elsewhere.txt': 'x',
  });
  git('add', 'skills/staged');
  rmSync(join(folder, 'skills/lost/SKILL.md'));
  rmSync(join(folder, 'skills/gone'), { recursive: true });
  renameSync(join(folder, 'skills/moved'), join(folder, 'skills/renamed'));
  expect(await changed()).toEqual([
    1,
    [
      'skills/edited false',
      'skills/lost false',
      'skills/new true',
      'skills/renamed false',
      'skills/script true',
      'skills/staged true',
    ],
  ]);
  expect(await changed('skills/new', 'skills/same', 'skills/edited/SKILL.md')).toEqual([
    1,
    ['skills/edited false', 'skills/new true'],
  ]);
  const { stderr } = await runCommand(['validate', '--changed'], { cwd: folder });
  expect(stderr).toContain('6 changed skills: 3 valid, 3 not valid; 0 with warnings\n');
});

it('validate --changed says what to do where there is no repository, and runs no program that one names', async () => {
  const cwd = tempFolder(TREE);
  const { status, stdout, stderr } = await runCommand(['validate', '--changed'], { cwd });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(
    /--changed asks git .* not a git repository.* Go into a git repository, or leave --changed out\./,
  );
  // Without a path it checks this folder.
  expect(await runCommand(['validate'], { cwd })).toMatchObject({ status: 1 });
  const { folder, git } = gitRepository({ 'tea/SKILL.md': good('tea') });
  writeTree(folder, { 'monitor.sh': { content: `#!/bin/sh\ntouch ${join(cwd, 'ran')}\n`, mode: 0o755 } });
  git('config', 'core.fsmonitor', join(folder, 'monitor.sh'));
  expect((await runCommand(['validate', '--changed'], { cwd: folder })).status).toBe(0);
  expect(spawnSync('ls', [join(cwd, 'ran')]).status).not.toBe(0);
});

it('the hook for pre-commit does as pre-commit would run it', () => {
  const [hook] = parse(readFileSync(join(packageRoot(), '.pre-commit-hooks.yaml'), 'utf8'));
  expect(hook).toMatchObject({ id: 'skill-registry-validate', language: 'node' });
  // pre-commit installs the package with its command in PATH, and calls the entry with the staged files that match.
  const bin = join(tempFolder(), 'bin');
  mkdirSync(bin);
  const main = join(packageRoot(), 'dist/cli/main.js');
  chmodSync(main, 0o755);
  symlinkSync(main, join(bin, 'skill-registry'));
  const { folder, git } = gitRepository({ 'skills/tea/SKILL.md': good('tea') });
  const commit = (tree: Tree) => {
    writeTree(folder, tree);
    git('add', '.');
    const staged = git('diff', '--staged', '--name-only').split('\n');
    const files = staged.filter((file) => new RegExp(hook.files).test(file));
    const [program, ...args] = hook.entry.split(' ');
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    return [files, spawnSync(program, [...args, ...files], { cwd: folder, env, encoding: 'utf8' })] as const;
  };
  const [files, right] = commit({ 'skills/cup/SKILL.md': good('cup'), 'README.md': 'x', 'skills/cup/x.md': 'x' });
  expect([files, right.status, right.stdout]).toEqual([['skills/cup/SKILL.md'], 0, 'Valid skill: skills/cup\n']);
  const [, wrong] = commit({ 'skills/pot/SKILL.md': good('pan') });
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("'pot' must match skill name 'pan'")]);
});
