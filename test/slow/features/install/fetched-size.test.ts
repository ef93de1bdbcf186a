import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openGit } from '../../../../extensions/skill_registry/features/install/programs/git.ts';
import { gitRepository } from '../../../helpers/git-repository.ts';
import { TEA } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';

const MEBIBYTE = 1024 * 1024;

/** Another folder for temporary files, in this test alone. */
function temporary(): string {
  const folder = tempFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

it('fetches no more than it may, and leaves nothing of it', async () => {
  const repository = gitRepository({ 'tea/SKILL.md': TEA, 'large.bin': randomBytes(4 * MEBIBYTE) });
  const folder = temporary();
  const origin = { kind: 'git', url: repository.url } as const;
  await expect(openGit(origin, 2 * MEBIBYTE)).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
    message: expect.stringMatching(/more than 2097152 bytes/),
  });
  expect(readdirSync(folder)).toEqual([]);
  (await openGit(origin, 8 * MEBIBYTE)).close();
});

it('ends git in the middle of what is too much', async () => {
  const programs = tempFolder();
  // It writes without an end, as a server may send.
  const endless = 'while :; do head -c 500000 /dev/zero >> "$GIT_DIR/pack"; echo x >> "$COUNT"; sleep 0.02; done';
  writeTree(programs, { git: `#!/bin/sh\ncase "$*" in *fetch*) ${endless};; esac\n` });
  chmodSync(join(programs, 'git'), 0o755);
  temporary();
  const count = join(programs, 'count');
  vi.stubEnv('COUNT', count);
  vi.stubEnv('PATH', `${programs}:${process.env.PATH}`);
  await expect(openGit({ kind: 'git', url: 'file:///nowhere' }, MEBIBYTE)).rejects.toMatchObject({
    code: 'ORIGIN_REFUSED',
  });
  const ended = statSync(count).size;
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(statSync(count).size).toBeLessThanOrEqual(ended + 2);
});

it('removes what killed processes of this user have left, and nothing else', async () => {
  const folder = temporary();
  const outside = tempFolder({ 'kept.txt': '' });
  const dead = join(folder, 'skill-registry-from-4000000-abcdef');
  mkdirSync(dead);
  symlinkSync(outside, join(dead, 'link'));
  symlinkSync(outside, join(folder, 'skill-registry-from-4000000-fedcba'));
  mkdirSync(join(folder, `skill-registry-from-${process.ppid}-abcdef`));
  const old = join(folder, `skill-registry-from-${process.ppid}-fedcba`);
  mkdirSync(old);
  utimesSync(old, 1, 1);
  mkdirSync(join(folder, 'somebody-else'));
  (await openGit({ kind: 'git', url: gitRepository({ 'SKILL.md': TEA }).url })).close();
  const left = readdirSync(folder).filter((name) => /^skill-registry-from|^somebody/.test(name));
  expect(left.sort()).toEqual(
    ['skill-registry-from-4000000-fedcba', `skill-registry-from-${process.ppid}-abcdef`, 'somebody-else'].sort(),
  );
  expect(existsSync(join(outside, 'kept.txt'))).toBe(true);
});
