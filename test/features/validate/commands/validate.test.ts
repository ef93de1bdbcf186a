import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../../../kernel/host.ts';
import { runCommand } from '../../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../../helpers/temp-folder.ts';

const TEA = skillMd({ name: 'tea', description: 'How to brew tea.' });

/** Two valid skills, one with two faults, a folder without a skill and a file. */
function skillsRoot(): string {
  return tempFolder({
    'tea/SKILL.md': TEA,
    'cup/skill.md': skillMd({ name: 'cup', description: 'Cups & "saucers".' }),
    'bad/SKILL.md': skillMd({ name: 'Bad', zz: '1' }),
    'none/x.txt': 'x',
  });
}

const BAD = [
  "Unexpected fields in frontmatter: zz. Only ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'] are allowed.",
  "Skill name 'Bad' must be lowercase",
  "Directory name 'bad' must match skill name 'Bad'",
  'Missing required field in frontmatter: description',
];

function listed(errors: readonly string[]): string {
  return errors.map((error) => `  - ${error}\n`).join('');
}

it('says on standard output that a skill is valid, by the path as it was typed', async () => {
  const cwd = skillsRoot();
  expect(await runCommand(['validate', 'tea'], { cwd })).toEqual({
    status: 0,
    stdout: 'Valid skill: tea\n',
    stderr: '',
  });
});

it.each(['te`a', 'te:a', 'te\u200ba'])(
  'refuses a folder whose name is no id, so that it is never loaded: %j',
  async (name) => {
    const cwd = tempFolder({ [`${name}/SKILL.md`]: TEA });
    const { status, stderr } = await runCommand(['validate', name, '--profile', 'lenient'], { cwd });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/SKILL_ID_INVALID.*Rename it/)]);
  },
);

it('takes a SKILL.md for its folder, and a dot for the folder it stands for', async () => {
  const cwd = skillsRoot();
  const file = await runCommand(['validate', 'tea/SKILL.md', 'cup/skill.md'], { cwd });
  expect(file).toEqual({ status: 0, stdout: 'Valid skill: tea\nValid skill: cup\n', stderr: '' });
  const here = await runCommand(['validate', '.', 'SKILL.md'], { cwd: join(cwd, 'tea') });
  expect(here).toEqual({ status: 0, stdout: 'Valid skill: .\nValid skill: .\n', stderr: '' });
});

it('gives every reason on standard error and exits 1', async () => {
  expect(await runCommand(['validate', 'bad'], { cwd: skillsRoot() })).toEqual({
    status: 1,
    stdout: '',
    stderr: `Validation failed for bad:\n${listed(BAD)}`,
  });
});

it('reports each of several paths, and one that fails decides', async () => {
  const { status, stdout, stderr } = await runCommand(['validate', 'tea', 'bad', 'cup', 'none', 'none/x.txt'], {
    cwd: skillsRoot(),
  });
  expect(status).toBe(1);
  expect(stdout).toBe('Valid skill: tea\nValid skill: cup\n');
  const none = `Validation failed for none:\n${listed(['Missing required file: SKILL.md'])}`;
  const file = `Validation failed for none/x.txt:\n${listed(['Not a directory: none/x.txt'])}`;
  expect(stderr).toBe(`Validation failed for bad:\n${listed(BAD)}${none}${file}`);
});

it('gives the documented JSON shape', async () => {
  const { status, stdout, stderr } = await runCommand(['validate', 'tea', 'bad', '--json'], { cwd: skillsRoot() });
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    results: [
      { path: 'tea', valid: true, errors: [], warnings: [] },
      { path: 'bad', valid: false, errors: BAD, warnings: [] },
    ],
    totals: { checked: 2, valid: 1, invalid: 1, with_warnings: 0 },
    problems: [],
  });
});

it('gives warnings as JSON, too', async () => {
  const { stdout } = await runCommand(['validate', 'bad', '--profile', 'lenient', '--json'], { cwd: skillsRoot() });
  const [result] = JSON.parse(stdout).results;
  expect(result).toMatchObject({ path: 'bad', valid: true, errors: [] });
  expect(result.warnings).toContainEqual(expect.stringMatching(/^NAME_INVALID \(line 2\): /));
});

it('applies the rules of the profile', async () => {
  const cwd = skillsRoot();
  const strict = await runCommand(['validate', 'tea', '--profile', 'strict'], { cwd });
  const reason = 'invalid manifest: [description] expected 20-500 characters, got 16';
  expect(strict).toEqual({ status: 1, stdout: '', stderr: `Validation failed for tea:\n${listed([reason])}` });
  const lenient = await runCommand(['validate', 'bad', '--profile', 'lenient'], { cwd });
  expect({ status: lenient.status, stdout: lenient.stdout }).toEqual({ status: 0, stdout: 'Valid skill: bad\n' });
  expect(lenient.stderr).toMatch(
    /^Warnings for bad:\n {2}- DESCRIPTION_MISSING \(line 1\): .+\n {2}- NAME_INVALID \(line 2\): /,
  );
});

it('prints properties as ASCII JSON in the order of the standard', async () => {
  const fields = { metadata: '{v: 1.0}', description: 'Größe 😀', license: '', name: 'tea', zz: '1' };
  const cwd = tempFolder({ 'tea/SKILL.md': skillMd(fields) });
  const stdout = [
    '{',
    '  "name": "tea",',
    '  "description": "Gr\\u00f6\\u00dfe \\ud83d\\ude00",',
    '  "license": "",',
    '  "metadata": {',
    '    "v": "1.0"',
    '  }',
    '}\n',
  ].join('\n');
  expect(await runCommand(['properties', 'tea/SKILL.md'], { cwd })).toEqual({ status: 0, stdout, stderr: '' });
});

it('prints the block of several skills and a line feed', async () => {
  const cwd = skillsRoot();
  const skill = (name: string, description: string, file: string): string =>
    `<skill>\n<name>\n${name}\n</name>\n<description>\n${description}\n</description>\n<location>\n${cwd}/${file}\n</location>\n</skill>\n`;
  const cup = skill('cup', 'Cups &amp; &quot;saucers&quot;.', 'cup/skill.md');
  const block = `<available_skills>\n${cup}${skill('tea', 'How to brew tea.', 'tea/SKILL.md')}</available_skills>\n`;
  expect(await runCommand(['prompt', 'cup', 'tea/SKILL.md'], { cwd })).toEqual({
    status: 0,
    stdout: block,
    stderr: '',
  });
  const json = await runCommand(['prompt', 'cup', 'tea', '--json'], { cwd });
  expect(JSON.parse(json.stdout)).toEqual({ prompt: block.trimEnd() });
});

it.each(['properties', 'prompt'])('prints nothing but the reason when %s cannot read a skill', async (command) => {
  const cwd = skillsRoot();
  const first = command === 'prompt' ? ['tea'] : [];
  const [bad, none] = await Promise.all([
    runCommand([command, ...first, 'bad'], { cwd }),
    runCommand([command, ...first, 'none', '--json'], { cwd }),
  ]);
  const stderr = 'Error: Missing required field in frontmatter: description\n';
  expect(bad).toEqual({ status: 1, stdout: '', stderr });
  const { error } = JSON.parse(none.stdout);
  expect({ ...none, stdout: error.code }).toEqual({
    status: 1,
    stdout: 'SKILL_NOT_FOUND',
    stderr: `Error: ${error.message}\n`,
  });
  expect(error.message).toMatch(/^SKILL\.md not found in .*none$/);
});

it.each([['validate', 'bad'], ['properties'], ['prompt', 'tea']])(
  'exits 2 and does nothing when %s is given a path that does not exist',
  async (...command) => {
    expect(await runCommand([...command, 'nowhere'], { cwd: skillsRoot() })).toEqual({
      status: 2,
      stdout: '',
      stderr: "Error: Invalid value for 'SKILL_PATH': Path 'nowhere' does not exist.\n",
    });
  },
);

it('exits 2 for a missing path, one too many and a profile that does not exist', async () => {
  const cwd = skillsRoot();
  const wrong = [
    ['validate', 'nothing'],
    ['prompt'],
    ['properties', 'tea', 'cup'],
    ['validate', 'tea', '--profile', 'loose'],
  ];
  const results = await Promise.all(wrong.map((args) => runCommand(args, { cwd })));
  expect(results.map(({ status, stdout }) => ({ status, stdout }))).toEqual(
    wrong.map(() => ({ status: 2, stdout: '' })),
  );
  expect((await runCommand(['validate'], { cwd })).stdout).toContain('Valid skill: tea\n');
});

it('shows an example in the help of each', async () => {
  const commands = ['validate', 'properties', 'prompt'];
  const helps = await Promise.all(commands.map((command) => runCommand([command, '--help'])));
  for (const [index, { status, stdout }] of helps.entries()) {
    expect(status).toBe(0);
    expect(stdout).toContain(`Example:\n  skill-registry ${commands[index]}`);
  }
});

it('does not let a skill drive the terminal', async () => {
  const cwd = tempFolder({ 'a/SKILL.md': skillMd({ name: '"\\e[31mred"', description: 'd' }) });
  const { stderr } = await runCommand(['validate', 'a'], { cwd });
  expect(stderr).toContain("Skill name '\\x1b[31mred' contains invalid characters.");
});

const ODD: Readonly<Record<string, string>> = {
  bom: `\ufeff${skillMd({ name: 'bom', description: 'How to brew tea.' })}`,
  list: skillMd({ name: 'list', description: 'How to brew tea.', metadata: '{ a: b }' }),
  lines: skillMd({ name: 'lines', description: 'Brew --- and drink.' }),
};

it.each([
  ['bom', 'NOT_STANDARD (line 1): The reference validator refuses a byte order mark. Save the file without it.'],
  [
    'list',
    'NOT_STANDARD (line 4): The reference validator refuses lists and mappings in brackets. Write each item on a line of its own.',
  ],
  [
    'lines',
    'NOT_STANDARD (line 3): The reference validator reads three hyphens in a value as the end of the frontmatter. Write it without them.',
  ],
])('warns of what the reference refuses and the registry reads: %s', async (id, warning) => {
  const cwd = tempFolder({ [`${id}/SKILL.md`]: ODD[id] ?? '' });
  for (const profile of ['spec', 'lenient']) {
    const { status, stdout, stderr } = await runCommand(['validate', id, '--profile', profile], { cwd });
    expect([status, stdout]).toEqual([0, `Valid skill: ${id}\n`]);
    expect(stderr).toBe(`Warnings for ${id}:\n  - ${warning} Clients accept it.\n`);
  }
  const sources = ['list', '--skills', '.', '--json'];
  expect(JSON.parse((await runCommand(sources, { cwd })).stdout)).toMatchObject({ total: 1, problems: [] });
});

it('warns under lenient of what the standard forbids and the loader reads, once', async () => {
  const skill =
    '---\nname: tea\ndescription: &x Brews all tea.\ntags: [a]\nmodel: *x\nallowed-tools:\n  - Read\n---\nText.\n';
  const cwd = tempFolder({
    'tea/SKILL.md': skill,
    'cup/SKILL.md': skillMd({ name: 'Cup', tags: 'a', 'allowed-tools': '[Read]' }),
  });
  const { stdout } = await runCommand(['validate', 'tea', 'cup', '--profile', 'lenient', '--json'], { cwd });
  const [tea, cup] = JSON.parse(stdout).results;
  expect(tea).toMatchObject({ valid: true, errors: [] });
  expect(tea.warnings).toEqual([
    'NOT_STANDARD (line 3): Invalid YAML in frontmatter: anchors are not allowed (line 3)',
  ]);
  expect(cup.warnings.map((line: string) => line.replace(/: .*/, ''))).toEqual([
    'DESCRIPTION_MISSING (line 1)',
    'NAME_INVALID (line 2)',
    'NAME_MISMATCH (line 2)',
    'NOT_STANDARD (line 3)',
    'NOT_STANDARD (line 4)',
    'NOT_STANDARD (line 4)',
  ]);
});

it.each([['[Read, Grep]'], ['{ a: b }'], ['\n  - Read']])(
  'refuses allowed-tools that is no text: %j',
  async (tools) => {
    const fields = { name: 'tea', description: 'How to brew tea, and when.', 'allowed-tools': tools };
    const cwd = tempFolder({ 'tea/SKILL.md': skillMd(fields) });
    const { status, stderr } = await runCommand(['validate', 'tea'], { cwd });
    expect([status, stderr.split('\n')[1]]).toEqual([
      1,
      "  - Field 'allowed-tools' must be a string, one tool after another: allowed-tools: Read Bash(git add *)",
    ]);
    // Following the advice helps, so no other one stands beside it.
    expect(stderr).not.toContain('on a line of its own');
    writeFileSync(join(cwd, 'tea/SKILL.md'), skillMd({ ...fields, 'allowed-tools': 'Read Bash(git add *)' }));
    expect(await runCommand(['validate', 'tea'], { cwd })).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(join(cwd, 'tea/SKILL.md'), skillMd(fields));
    const strict = await runCommand(['validate', 'tea', '--profile', 'strict'], { cwd });
    expect(strict.stderr).toMatch(/\[allowed-tools\] expected text, got a (?:list|mapping)/);
    // The standard wants text, and most clients read a list: so does the loader.
    expect((await runCommand(['list', '--skills', '.', '--json'], { cwd })).status).toBe(0);
  },
);

it('finds nothing wrong with the skills that come with the package, the way the README calls it', async () => {
  const folder = join(packageRoot(), 'skills');
  const paths = readdirSync(folder).map((id) => join(folder, id));
  const { status, stdout, stderr } = await runCommand(['validate', ...paths]);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.match(/^Valid skill: /gm)).toHaveLength(4);
  const listed = JSON.parse((await runCommand(['list', '--skills', folder, '--json'])).stdout);
  for (const { tags } of listed.skills) expect(tags.length).toBeGreaterThan(2);
});

it('names a skill that two given folders contain once, by the first of them', async () => {
  const cwd = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const { stdout } = await runCommand(['validate', 'skills', join(cwd, 'skills')], { cwd });
  expect(stdout).toBe('Valid skill: skills/tea\n');
});
