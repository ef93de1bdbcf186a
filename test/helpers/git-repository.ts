import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Tree, tempFolder, writeTree } from './temp-folder.ts';

/** A repository of somebody else, with everything that is in its folder committed. */
export interface GitRepository {
  readonly folder: string;
  /** `file:` address. */
  readonly url: string;
  /** Writes files, removes those of `gone`, and commits. @returns the commit. */
  commit(tree: Tree, gone?: readonly string[]): string;
  /** Runs git in it. @returns what it prints. */
  git(...args: readonly string[]): string;
}

/** @param format - How it names its contents. */
export function gitRepository(tree: Tree, format: 'sha1' | 'sha256' = 'sha1'): GitRepository {
  const folder = tempFolder();
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'core.safecrlf=false', ...args], {
      cwd: folder,
      env: { ...process.env, ...ALONE },
      encoding: 'utf8',
    }).trim();
  const commit = (changed: Tree, gone: readonly string[] = []): string => {
    for (const path of gone) rmSync(join(folder, path), { recursive: true });
    writeTree(folder, changed);
    git('add', '--all', '--force', '.');
    git('commit', '--quiet', '--allow-empty', '--message', 'A change.');
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
  commit(tree);
  return { folder, url: `file://${folder}`, commit, git };
}

// --- internal ---

/** Nothing of whoever runs the tests. */
const ALONE = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};
