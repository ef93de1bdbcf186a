import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../../kernel/host.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

/** Presses tab in a real bash, after these words, the last of which is being typed. @returns what bash is offered. */
async function tab(words: readonly string[], cwd: string = tempFolder()): Promise<readonly string[]> {
  const { stdout: script } = await runCommand(['completion', 'bash']);
  // The command that is asked for names is the built one.
  const bin = join(tempFolder(), 'bin');
  mkdirSync(bin);
  const main = join(packageRoot(), 'dist/cli/main.js');
  chmodSync(main, 0o755);
  symlinkSync(main, join(bin, 'skill-registry'));
  const press = `${script}
COMP_WORDS=(skill-registry "$@"); COMP_CWORD=$#; _skill_registry; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const { stdout, stderr } = spawnSync('bash', ['-c', press, 'bash', ...words], { cwd, env, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

it.each<[readonly string[], readonly string[]]>([
  [['tr'], ['try']],
  [['--root', 'x', 'tr'], ['try']],
  [
    ['approvals', ''],
    ['list', 'show', 'allow', 'revoke'],
  ],
  [['--json', 'approvals', 're'], ['revoke']],
  [['proposals', 'st'], ['stats']],
  [['proposals', 'list', '--st'], ['--state']],
  [['proposals', 'list', '--state', 's'], ['stale']],
  [['proposals', '--json', 'reject', '--re'], ['--reason']],
  [
    ['validate', '--profile', ''],
    ['spec', 'strict', 'lenient'],
  ],
  [['validate', '--ch'], ['--changed']],
  [
    ['completion', ''],
    ['bash', 'zsh'],
  ],
  [['list', '--root', ''], []],
  [['new', ''], []],
])('bash completes commands, sub-commands, options and their values: %j', async (words, offered) => {
  expect(await tab(words)).toEqual(offered);
});

it('bash completes ids of skills, proposals that wait, and extensions that wait', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }),
    'skills/tepid/SKILL.md': skillMd({ name: 'tepid', description: 'How to cool tea.' }),
  });
  const registry = await openRoot(root);
  const { proposalId } = await registry.proposals.propose({
    ...{ skillId: 'tea', content: skillMd({ name: 'tea', description: 'How to brew tea.' }, 'Do it.') },
    ...{ justification: 'Shorter.', author: 'agent:a' },
  });
  for (const words of [['show'], ['history'], ['disable', '--json'], ['inspect']])
    expect(await tab([...words, 'te'], root)).toEqual(['tea', 'tepid']);
  expect(await tab(['proposals', 'approve', ''], root)).toEqual([proposalId]);
  expect(await tab(['extensions', 'approve', ''], root)).toEqual([]);
  expect(await tab(['add', 'te'], root)).toEqual([]);
});

it('zsh runs the script of bash', async () => {
  const { stdout: zsh } = await runCommand(['completion', 'zsh']);
  expect(zsh.startsWith('autoload -Uz bashcompinit && bashcompinit\n')).toBe(true);
});
