import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { openGit } from '../../../extensions/skill_registry/features/install/programs/git.ts';
import { type GitRepository, gitRepository } from '../../helpers/git-repository.ts';
import { TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Git would wait for each of them until it is ended. */
const ENDLESS: readonly (readonly [string, (git: string) => void])[] = [
  ['a config that includes /dev/stdin', (git) => configure(git, '[include]\n path = /dev/stdin\n')],
  [
    'a config that includes it for some folders',
    (git) => configure(git, '[includeIf "gitdir:/"]\n path = /dev/stdin\n'),
  ],
  [
    'a config that includes a file that includes it',
    (git) => {
      writeFileSync(join(git, 'more'), '[include]\n path = link\n');
      symlinkSync('/dev/stdin', join(git, 'link'));
      configure(git, '[include]\n path = more\n');
    },
  ],
  [
    'a config that names a pipe',
    (git) => {
      makePipe(join(git, '..', 'pipe'));
      configure(git, `[core]\n attributesFile = ${join(git, '..', 'pipe')}\n`);
    },
  ],
  ['a pipe for a config', (git) => makePipe(join(git, 'config'))],
  ['a pipe for a HEAD', (git) => makePipe(join(git, 'HEAD'))],
  ['a pipe for a branch', (git) => makePipe(join(git, 'refs', 'heads', 'other'))],
  [
    'a pipe in the repository that has its objects',
    (git) => {
      const other = tempFolder({ 'info/x': '' });
      makePipe(join(other, 'info', 'alternates'));
      writeFileSync(join(git, 'objects', 'info', 'alternates'), `${other}\n`);
    },
  ],
];

afterEach(() => {
  delete process.env.GIT_CONFIG_GLOBAL;
});

it.each(ENDLESS)('refuses %s, and does not wait for it', async (_name, change) => {
  const { folder, url } = repository();
  change(join(folder, '.git'));
  await expect(openGit({ kind: 'git', url })).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringMatching(/has no end that git could wait for/),
  });
});

it('finds the repository that a file in a work tree names', async () => {
  const { folder, git } = repository();
  const tree = join(tempFolder(), 'tree');
  git('worktree', 'add', '--quiet', tree);
  configure(join(folder, '.git'), '[include]\n path = /dev/stdin\n');
  await expect(openGit({ kind: 'git', url: `file://${tree}` })).rejects.toMatchObject({ code: 'ORIGIN_REFUSED' });
});

it('refuses a pipe that the configuration of the person names, and says where', async () => {
  const folder = tempFolder();
  const pipe = join(folder, 'pipe');
  makePipe(pipe);
  writeFileSync(join(folder, 'gitconfig'), `[core]\n attributesFile = ${pipe}\n`);
  const { url } = repository();
  process.env.GIT_CONFIG_GLOBAL = join(folder, 'gitconfig');
  await expect(openGit({ kind: 'git', url })).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringContaining(`core.attributesfile of "${join(folder, 'gitconfig')}" names "${pipe}"`),
  });
});

it('reads a repository whose config includes files that end', async () => {
  const { folder, url } = repository();
  writeFileSync(join(folder, '.git', 'more'), '[core]\n hooksPath = /dev/null\n');
  configure(join(folder, '.git'), '[include]\n path = more\n path = nowhere\n');
  const opened = await openGit({ kind: 'git', url });
  expect(opened.entries.map(({ path }) => path)).toEqual(['tea/SKILL.md']);
  opened.close();
});

it('goes from https to no other protocol, whatever the configuration of the person makes of the address', async () => {
  const { url } = repository();
  const file = join(
    tempFolder({ gitconfig: `[url "${url}"]\n insteadOf = https://example.com/skills\n` }),
    'gitconfig',
  );
  process.env.GIT_CONFIG_GLOBAL = file;
  await expect(openGit({ kind: 'git', url: 'https://example.com/skills' })).rejects.toMatchObject({
    code: 'ORIGIN_UNAVAILABLE',
    message: expect.stringMatching(/transport 'file' not allowed/),
  });
});

it('keeps only the beginning of a complaint, of which a server may write any length', async () => {
  const complaint = 'echo "fatal: the first line" >&2; yes "remote: more" | head -c 300000000 >&2; exit 128';
  const programs = tempFolder({ git: `#!/bin/sh\ncase "$*" in *fetch*) ${complaint};; esac\n` });
  chmodSync(join(programs, 'git'), 0o755);
  vi.stubEnv('PATH', `${programs}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const before = process.memoryUsage.rss();
  await expect(openGit({ kind: 'git', url: 'file:///nowhere' })).rejects.toMatchObject({
    code: 'ORIGIN_UNAVAILABLE',
    message: expect.stringMatching(/the first line/),
  });
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
});

function repository(): GitRepository {
  return gitRepository({ 'tea/SKILL.md': TEA });
}

function configure(git: string, text: string): void {
  appendFileSync(join(git, 'config'), text);
}

function makePipe(path: string): void {
  rmSync(path, { force: true });
  mkdirSync(join(path, '..'), { recursive: true });
  execFileSync('mkfifo', [path]);
}
