import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { invalidArgument } from '../../../../../lib/command-line/index.ts';
import { isInside } from '../../../../../lib/files/index.ts';

export interface GitChanges {
  has(folder: string): boolean;
  /** Absolute paths of folders that still exist and whose SKILL.md was deleted. */
  readonly lost: readonly string[];
}

/**
 * Compares with the last commit: staged and unstaged changes, and new files that git does not ignore.
 * @throws INVALID_ARGUMENT without a repository or without git.
 */
export async function gitChangesIn(folder: string): Promise<GitChanges> {
  const top = (await git(folder, ['rev-parse', '--show-toplevel'])).replace(/\n$/, '');
  const status = await git(folder, ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']);
  const changed = status.split('\0').flatMap((entry) => (entry === '' ? [] : join(top, entry.slice(3))));
  return {
    has(one) {
      const real = realpathSync(one);
      return changed.some((path) => isInside(path, real));
    },
    lost: changed
      .filter((path) => basename(path).toLowerCase() === 'skill.md' && !existsSync(path))
      .map(dirname)
      .filter((one) => existsSync(one)),
  };
}

// --- internal ---

const MAX_BYTES = 256 * 1024 * 1024;

async function git(folder: string, args: readonly string[]): Promise<string> {
  try {
    // The repository could name a program as its file system monitor, and git would run it.
    const all = ['-c', 'core.fsmonitor=false', '--no-optional-locks', ...args];
    return (await promisify(execFile)('git', all, { cwd: folder, maxBuffer: MAX_BYTES })).stdout;
  } catch (error) {
    const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
    const reason = code === 'ENOENT' ? 'there is no git' : (stderr.trim().split('\n')[0] ?? '');
    throw invalidArgument(
      `--changed asks git what has changed in ${folder}, which failed: ${reason}. Go into a git repository, or leave --changed out.`,
    );
  }
}
