import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTrust } from '../../lib/trust/index.ts';
import { attack } from './held.ts';
import { type RunOptions, type RunResult, runCommand } from './run-command.ts';
import { skillMd, tempFolder } from './temp-folder.ts';

export const text = (id: string, body = 'Stir.'): string =>
  skillMd({ name: id, description: `Brews ${id} for guests.` }, body);

/** An origin with `milk`, `pot` and `tea`; tea has an attack of its own when `host` is given. */
export function house(host?: number): {
  readonly from: string;
  readonly root: string;
  /** The command in the root, by ada. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
} {
  const from = tempFolder({
    'milk/SKILL.md': text('milk'),
    'pot/SKILL.md': text('pot'),
    'tea/SKILL.md': text('tea', host === undefined ? 'Stir.' : attack(host)),
    'tea/scripts/boil.sh': '#!/bin/sh\necho\n',
  });
  const root = tempFolder({ 'skills/x.md': '' });
  const run = (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
    runCommand(args, { cwd: root, environment: { USER: 'ada' }, ...options });
  return { from, root, run };
}

export const skillsOf = (root: string): readonly string[] =>
  ['milk', 'pot', 'tea'].filter((id) => existsSync(join(root, 'skills', id, 'SKILL.md')));

export const lockOf = (root: string): Readonly<Record<string, unknown>> =>
  existsSync(join(root, 'skills-lock.json'))
    ? (JSON.parse(readFileSync(join(root, 'skills-lock.json'), 'utf8')) as { skills: Record<string, unknown> }).skills
    : {};

/** The words of the command that a refusal prints, as a shell reads them. */
export function commandIn(stderr: string): readonly string[] {
  const [, words = ''] = /lets in exactly these files: skill-registry (.*)$/m.exec(stderr) ?? [];
  return execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

/** Digests of contents that somebody has allowed, whose path has this folder. */
export const allowedIn = (root: string): readonly string[] =>
  openTrust()
    .decisions()
    .flatMap((one) =>
      one.kind === 'content' && one.action === 'allow' && one.path.startsWith(root) ? one.digest : [],
    );
