import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand, spawnCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const TEA = skillMd(
  { name: 'tea', description: 'How to brew tea.', tags: '[kitchen]', requires: '[kettle]' },
  '# Tea\n\nBoil water.',
);

function teaRoot(): string {
  return tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/tea/references/times.md': 'Green: 2 minutes.\n',
    'skills/tea/leaf.bin': new Uint8Array([0xff, 0x00, 0x9c]),
    'sub/dir/readme.txt': 'x',
  });
}

it('lists the documented JSON shape', async () => {
  const root = teaRoot();
  const { status, stdout } = await runCommand(['list', '--skills', join(root, 'skills'), '--json'], { cwd: root });
  const answer = JSON.parse(stdout);
  expect(status).toBe(0);
  expect(answer).toEqual({
    skills: [
      {
        skill_id: 'tea',
        qualified_id: 'skills:tea',
        name: 'tea',
        description: 'How to brew tea.',
        tags: ['kitchen'],
        source: 'skills',
        file: join(root, 'skills/tea/SKILL.md'),
        tokens: { l1: expect.any(Number), l2: expect.any(Number) },
        looks_here: [],
      },
    ],
    total: 1,
    problems: [expect.objectContaining({ code: 'REQUIRES_UNKNOWN', severity: 'warning' })],
  });
});

it('finds the root from a folder below it, and --root wins', async () => {
  const root = teaRoot();
  const below = await runCommand(['list', '--json'], { cwd: join(root, 'sub/dir') });
  expect(JSON.parse(below.stdout).skills[0].skill_id).toBe('tea');
  const empty = tempFolder();
  const other = await runCommand(['list', '--json', '--root', empty], { cwd: root });
  const ids = JSON.parse(other.stdout).skills.map((skill: { skill_id: string }) => skill.skill_id);
  expect(ids).not.toContain('tea');
  expect(ids).toContain('code-review');
});

it('takes --skills more than once, instead of the configured sources and relative to where it is typed', async () => {
  const root = tempFolder({
    'a/one/SKILL.md': skillMd({ description: 'One.' }),
    'b/two/SKILL.md': skillMd({ description: 'Two.' }),
    'skills/three/SKILL.md': skillMd({ description: 'Three.' }),
  });
  const { stdout } = await runCommand(['list', '--skills', 'a', '--skills', 'b', '--json'], { cwd: root });
  expect(JSON.parse(stdout).skills.map((skill: { qualified_id: string }) => skill.qualified_id)).toEqual([
    'a:one',
    'b:two',
  ]);
});

it('prints a table on standard output and words for people on standard error', async () => {
  const root = teaRoot();
  const { stdout, stderr } = await runCommand(['list', '--skills', 'skills'], { cwd: root });
  expect(stdout).toMatch(
    /^SKILL +LINE +BODY +SOURCE +LOOKS HERE +DESCRIPTION\ntea +\d+ +\d+ +skills +How to brew tea\.\n$/,
  );
  expect(stderr).toBe('1 skill; 1 problem, see skill-registry doctor\n');
});

it('shows the body, the raw file and a resource byte for byte', async () => {
  const root = teaRoot();
  const body = await runCommand(['show', 'tea'], { cwd: root });
  expect(body.stdout).toBe('# Tea\n\nBoil water.\n');
  expect(body.stderr).toMatch(/Skill loaded: tea \(approx\. \d+ tokens\)\nFiles:\n/);
  expect(body.stderr).toContain('references/times.md (18 bytes)');
  expect((await runCommand(['show', 'tea', '--raw'], { cwd: root })).stdout).toBe(TEA);
  const resource = await runCommand(['show', 'tea', '--resource', 'references/times.md'], { cwd: root });
  expect(resource.stdout).toBe('Green: 2 minutes.\n');
  const json = await runCommand(['show', 'skills:tea', '--json'], { cwd: root });
  expect(JSON.parse(json.stdout)).toMatchObject({ skill_id: 'tea', requires: ['kettle'], source: 'skills' });
  const binary = await runCommand(['show', 'tea', '--resource', 'leaf.bin', '--json'], { cwd: root });
  expect(JSON.parse(binary.stdout)).toMatchObject({ encoding: 'base64', content: '/wCc', size: 3 });
});

it('shows as JSON all that the catalog knows, and says when models do not see a skill', async () => {
  const fields = {
    description: 'Does it.',
    version: '"1.0"',
    license: 'MIT',
    'allowed-tools': 'Read',
    arguments: 'file',
    'argument-hint': '<file>',
    trigger_keywords: '[leaf]',
    paths: '"*.tea, **"',
    metadata: '{ openclaw: { requires: { env: [NOT_SET_ANYWHERE] } } }',
  };
  const root = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/gated/SKILL.md': skillMd({ name: 'gated', ...fields }),
  });
  const show = async (id: string) => JSON.parse((await runCommand(['show', id, '--json'], { cwd: root })).stdout);
  const hidden = {
    skill_id: 'gated',
    qualified_id: 'skills:gated',
    version: '1.0',
    author: null,
    license: 'MIT',
    compatibility: null,
    allowed_tools: ['Read'],
    arguments: ['file'],
    argument_hint: '<file>',
    metadata: { openclaw: { requires: { env: ['NOT_SET_ANYWHERE'] } } },
    trigger_keywords: ['leaf'],
    paths: ['*.tea'],
    hidden_because: 'it needs the environment variable NOT_SET_ANYWHERE',
    file: join(root, 'skills/gated/SKILL.md'),
  };
  expect(await show('gated')).toMatchObject(hidden);
  expect(await show('skills:gated')).toMatchObject(hidden);
  expect(await show('tea')).toMatchObject({
    version: null,
    trigger_keywords: [],
    paths: [],
    metadata: {},
    hidden_because: null,
  });
  const line = 'Models do not see it here: it needs the environment variable NOT_SET_ANYWHERE\n';
  expect((await runCommand(['show', 'gated'], { cwd: root })).stderr).toContain(line);
  expect((await runCommand(['show', 'tea'], { cwd: root })).stderr).not.toContain('Models do not see');
});

it('exits 1 and names the nearest id when there is no such skill', async () => {
  const root = teaRoot();
  const { status, stdout, stderr } = await runCommand(['show', 'te'], { cwd: root });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('SKILL_NOT_FOUND');
  expect(stderr).toContain('Nearest: tea');
  const json = await runCommand(['show', 'tea', '--resource', '../../x', '--json'], { cwd: root });
  expect(json.status).toBe(1);
  expect(JSON.parse(json.stdout)).toEqual({
    error: { code: 'PATH_TRAVERSAL', message: expect.stringContaining('Path traversal detected') },
  });
});

it.each([
  ['no such command', ['frobnicate']],
  ['no such option', ['list', '--colour']],
  ['a missing argument', ['show']],
  ['a root that is no folder', ['list', '--root', 'nowhere']],
])('exits 2 for wrong use: %s', async (_what, args) => {
  const { status, stdout, stderr } = await runCommand(args, { cwd: tempFolder() });
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).not.toBe('');
});

it('prints help with an example for every command', async () => {
  const help = await runCommand(['--help']);
  expect(help.status).toBe(0);
  for (const command of ['start', 'list', 'show', 'doctor']) {
    expect(help.stdout).toContain(`  ${command}`);
    const own = await runCommand([command, '--help']);
    expect(own.status).toBe(0);
    expect(own.stdout).toContain(`Example:\n  skill-registry ${command}`);
  }
  for (const flag of ['--root', '--skills', '--json']) expect(help.stdout).toContain(flag);
});

it('reports what is wrong, errors first, with exit status 1', async () => {
  const root = tempFolder({
    'skills/good/SKILL.md': skillMd({ name: 'good', description: 'Good.' }),
    'skills/other/SKILL.md': skillMd({ name: 'wrong', description: 'Wrong name.' }),
    'skills/empty/SKILL.md': '',
    'data/skill_registry/config.yaml': 'watch: { mode: sometimes }\n',
  });
  const { status, stdout } = await runCommand(['doctor'], { cwd: root });
  expect(status).toBe(1);
  const at = (text: string): number => stdout.indexOf(text);
  for (const code of ['error SKILL_EMPTY (1)', 'error CONFIG_KEY_INVALID (1)', 'warning NAME_MISMATCH (1)']) {
    expect(at(code)).toBeGreaterThan(-1);
  }
  expect(at('warning NAME_MISMATCH')).toBeGreaterThan(at('error SKILL_EMPTY'));
  expect(stdout).toContain(join(root, 'skills/empty/SKILL.md'));
  const json = await runCommand(['doctor', '--json'], { cwd: root });
  const { problems, sources } = JSON.parse(json.stdout);
  expect(problems.map((problem: { code: string }) => problem.code)).toContain('SKILL_EMPTY');
  expect(sources.map((source: { id: string }) => source.id)).toEqual(['skills', 'shipped']);
});

it('doctor names broken manifests, and says that no extension was started', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }),
    'extensions/odd/manifest.yaml': 'id: odd\nname: Odd\nversion: 1.0.0\ndescription: Odd.\nentrypont: main:Odd\n',
  });
  const { status, stdout } = await runCommand(['doctor', '--trust'], { cwd: root });
  expect([status, stdout]).toEqual([1, expect.stringContaining('error MANIFEST_FIELD_UNKNOWN (1)')]);
  rmSync(join(root, 'extensions/odd'), { recursive: true });
  const without = await runCommand(['doctor', '--trust'], { cwd: root });
  expect(without.stdout).toMatch(/Nothing is wrong\.\n$/);
  const manifest = 'id: odd\nname: Odd\nversion: 1.0.0\ndescription: Odd.\nagent: {}\n';
  writeTree(root, { 'extensions/odd/manifest.yaml': manifest });
  const whole = await runCommand(['doctor', '--trust'], { cwd: root });
  expect(whole.stdout).toMatch(
    /Nothing is wrong\.\n\nNo extension was started; skill-registry start says which of them fail\.\n$/,
  );
});

it('finds nothing wrong with the shipped skills', async () => {
  const { status, stdout } = await runCommand(['doctor', '--root', tempFolder({ 'skills/.keep': '' })]);
  expect(stdout).toContain('Nothing is wrong.');
  expect(status).toBe(0);
});

it('is the same as a process of its own: streams, bytes and exit status', async () => {
  const root = teaRoot();
  expect(await spawnCommand(['show', 'tea', '--raw'], { cwd: root })).toMatchObject({ status: 0, stdout: TEA });
  const failed = await spawnCommand(['show', 'te'], { cwd: root });
  expect(failed).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('Nearest: tea') });
  expect((await spawnCommand(['frobnicate'], { cwd: root })).status).toBe(2);
});

it('shows a file below references/ or scripts/ by its name alone', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': TEA,
    'skills/tea/references/a.md': 'A.\n',
    'skills/tea/scripts/b.sh': 'b\n',
  });
  const show = (...args: string[]) =>
    runCommand(['show', 'tea', ...args, '--skills', join(root, 'skills')], { cwd: root });
  expect((await show('--reference', 'a.md')).stdout).toBe('A.\n');
  expect((await show('--script', 'b.sh')).stdout).toBe('b\n');
  expect((await show('--script', 'b.sh', '--reference', 'a.md')).status).toBe(2);
  expect((await show('--reference', '../SKILL.md')).stderr).toContain('PATH_TRAVERSAL');
});

it.each(['{}\n', ''])('doctor and validate say what frontmatter without a field lacks: %j', async (yaml) => {
  const root = tempFolder({ 'skills/tea/SKILL.md': `---\n${yaml}---\nBrew it well.\n` });
  const { stdout } = await runCommand(['doctor'], { cwd: root });
  expect(stdout).toMatch(/NAME_MISSING.*Write name: tea/s);
  expect(stdout).toContain('DESCRIPTION_MISSING');
  const { stderr } = await runCommand(['validate', 'skills/tea', '--profile', 'lenient'], { cwd: root });
  expect(stderr).toMatch(/DESCRIPTION_MISSING.*NAME_MISSING.*Write name: tea/s);
});
