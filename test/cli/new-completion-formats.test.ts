import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRoot } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

it('starts a valid skill from the template, and never touches one that is there', async () => {
  const root = tempFolder();
  const args = ['new', 'brew-tea', '--root', root, '--description', 'How to "brew": tea.'];
  const file = join(root, 'skills/brew-tea/SKILL.md');
  expect(await runCommand(args)).toMatchObject({ status: 0, stdout: `${file}\n` });
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(
    /^---\nname: brew-tea\ndescription: "How to \\"brew\\": tea\."\nmetadata:\n {2}draft: "true"\n---\n\n# Brew tea\n/,
  );
  expect(await runCommand(['validate', file])).toMatchObject({ status: 0 });
  expect(await runCommand(args)).toMatchObject({ status: 2, stderr: expect.stringContaining('exists already') });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

it('takes no id that agentskills.io forbids or that leads elsewhere, and a folder of one’s choice', async () => {
  const cwd = tempFolder();
  for (const id of ['Tea', 'tea--cup', '../tea', '-x', 'a/b']) {
    expect(await runCommand(['new', '--', id], { cwd })).toMatchObject({ status: 2 });
  }
  const made = await runCommand(['new', 'tea', '--skills', 'mine', '--root', 'missing', '--json'], { cwd });
  expect(JSON.parse(made.stdout)).toEqual({
    skill_id: 'tea',
    file: join(cwd, 'mine/tea/SKILL.md'),
    valid: true,
    errors: [],
    warnings: [expect.stringMatching(/^SKILL_HIDDEN: .* 13 FILL are left/)],
  });
});

it('keeps a skill that new has made from agents until no FILL is left, and says so everywhere', async () => {
  const root = tempFolder();
  const at = ['--root', root, '--skills', join(root, 'skills')];
  const made = await runCommand(['new', 'brew-tea', ...at]);
  expect(made.stderr).toMatch(
    /^SKILL_HIDDEN: Models do not see this skill: it is a draft, and 13 FILL are left in it\.\nReplace each FILL/,
  );
  const file = join(root, 'skills/brew-tea/SKILL.md');
  const seen = async (): Promise<readonly string[]> => {
    const registry = await openRoot(root, { config: { sources: [{ path: 'skills' }], gates: { check: false } } });
    return [
      (await registry.context('tea')) ?? '',
      JSON.stringify(registry.list()),
      (await registry.apply('brew-tea', '')).slice(0, 22),
    ];
  };
  expect(await seen()).toEqual(['', expect.stringContaining('"total":0'), 'Apply Skill "brew-tea"']);
  expect((await runCommand(['list', ...at])).stderr).toBe(
    'Agents do not see brew-tea: it is a draft, and 13 FILL are left in it\n1 skill; 1 problem, see skill-registry doctor\n',
  );
  expect((await runCommand(['doctor', ...at])).stdout).toContain('warning SKILL_HIDDEN (1)');
  for (const profile of ['spec', 'strict', 'lenient']) {
    const checked = await runCommand(['validate', file, '--profile', profile]);
    expect([checked.status, checked.stderr]).toEqual([0, expect.stringContaining('13 FILL are left')]);
  }
  // One is one too many; with none left the word draft hides nothing.
  const filled = readFileSync(file, 'utf8').replaceAll('FILL', 'Pour');
  writeFileSync(file, `${filled}\nFILL\n`);
  expect((await seen())[0]).toBe('');
  expect((await runCommand(['validate', file])).stderr).toContain('1 FILL is left');
  writeFileSync(file, filled);
  expect((await seen())[0]).toContain('brew-tea');
  expect((await runCommand(['validate', file])).stderr).toContain('The skill names "references/Pour-topic.md"');
  mkdirSync(join(file, '../references'));
  writeFileSync(join(file, '../references/Pour-topic.md'), '');
  expect(await runCommand(['validate', file])).toMatchObject({ status: 0, stderr: '' });
  expect(await runCommand(['list', ...at])).toMatchObject({ status: 0, stderr: '1 skill\n' });
});

it('hides no skill for the word FILL alone', async () => {
  const root = tempFolder({
    'skills/forms/SKILL.md': skillMd({ name: 'forms', description: 'FILL forms.' }, 'FILL them.'),
  });
  expect(await (await openRoot(root)).context('')).toContain('FILL forms.');
});

it('gives findings with file and line, as lines, annotations and SARIF', async () => {
  const cwd = tempFolder({
    'tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews all tea.' }),
    'bad, one/SKILL.md': skillMd({ description: '100% wrong again', name: 'Bad' }),
    'none/x.txt': 'x',
  });
  const validate = (...args: string[]) => runCommand(['validate', 'tea', 'bad, one', 'none', ...args], { cwd });
  const lower = "Skill name 'Bad' must be lowercase";
  const other = "Directory name 'bad, one' must match skill name 'Bad'";
  expect(await validate('--format', 'lines')).toEqual({
    status: 1,
    stdout: `bad, one/SKILL.md:3: error: ${lower}\nbad, one/SKILL.md:3: error: ${other}\nnone:1: error: Missing required file: SKILL.md\n`,
    stderr: '',
  });
  const { stdout } = await validate('--format', 'github');
  expect(stdout.split('\n')[0]).toBe(`::error file=bad%2C one/SKILL.md,line=3,title=skill::${lower}`);
  const { runs, version } = JSON.parse((await validate('--format', 'sarif')).stdout);
  expect(version).toBe('2.1.0');
  expect(runs[0].results[0]).toEqual({
    ruleId: 'agentskills/name',
    ruleIndex: 0,
    level: 'error',
    message: { text: lower },
    locations: [{ physicalLocation: { artifactLocation: { uri: 'bad%2C%20one/SKILL.md' }, region: { startLine: 3 } } }],
    partialFingerprints: { 'skillRegistry/v1': expect.stringMatching(/^[0-9a-f]{32}$/) },
  });
  const lenient = await validate('--format', 'lines', '--profile', 'lenient');
  expect(lenient.stdout).toContain('bad, one/SKILL.md:3: warning: ');
  expect(lenient.stdout).toContain('[NAME_INVALID]');
  expect(await validate('--format', 'xml')).toMatchObject({ status: 2 });
});

it('writes completion scripts that know every command and option, and asks for ids', async () => {
  const { stdout: bash } = await runCommand(['completion', 'bash']);
  const ask = `${bash}\nCOMP_WORDS=(skill-registry "$1" "$2"); COMP_CWORD=$3; _skill_registry; printf '%s ' "\${COMPREPLY[@]}"`;
  const complete = (...args: string[]): string =>
    spawnSync('bash', ['-c', ask, 'x', ...args], { encoding: 'utf8' }).stdout;
  expect(complete('va', '', '1').trim()).toBe('validate');
  expect(complete('validate', '--f', '2').trim()).toBe('--format');
  expect(complete('mcp', '--a', '2').trim()).toBe('--allow-host --agent');
  expect((await runCommand(['completion', 'zsh'])).stdout).toContain('bashcompinit');
  const root = tempFolder({ 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }) });
  expect((await runCommand(['completion', 'ids', '--root', root])).stdout).toMatch(/^tea\n/);
  expect(await runCommand(['completion', 'fish'])).toMatchObject({ status: 2, stdout: '' });
});

it('runs nothing that a folder is called when tab is pressed', async () => {
  const skill = skillMd({ name: 'tea', description: 'Tea.' });
  const names = ['tea', `$(touch\${IFS}PWNED)`, '`touch PWNED`', 'a b', '-x', '*'];
  const cwd = tempFolder(Object.fromEntries(names.map((name) => [`skills/${name}/SKILL.md`, skill])));
  expect((await runCommand(['completion', 'ids'], { cwd })).stdout).toMatch(/^tea\n([a-z][a-z-]+\n)*$/);
  // Also when the ids were not chosen with care.
  const script = `${(await runCommand(['completion', 'bash'])).stdout}
skill-registry() { printf '%s\\n' "$@" "\${ids[@]}"; }
ids=("$@"); COMP_WORDS=(skill-registry show ''); COMP_CWORD=2; _skill_registry; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', script, 'x', ...names], { cwd, encoding: 'utf8' });
  expect(stdout.trimEnd().split('\n')).toEqual(['completion', 'ids', ...names]);
  expect(readdirSync(cwd)).toEqual(['skills']);
});
