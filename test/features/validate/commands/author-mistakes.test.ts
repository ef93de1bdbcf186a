import { expect, it } from 'vitest';
import { runCommand } from '../../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../../helpers/temp-folder.ts';

const FIELDS = { name: 'tea', description: 'How to brew tea, and when.' };

async function warningsOf(body: string, fields: Readonly<Record<string, string>> = FIELDS, tree = {}) {
  const files = { 'references/there.md': '', 'scripts/there.sh': '', ...tree };
  const inSkill = Object.fromEntries(Object.entries(files).map(([path, text]) => [`tea/${path}`, text]));
  const cwd = tempFolder({ 'tea/SKILL.md': skillMd(fields, body), ...inSkill });
  const { status, stdout } = await runCommand(['validate', 'tea', '--json'], { cwd });
  const [result] = JSON.parse(stdout).results;
  expect([status, result.valid, result.errors]).toEqual([0, true, []]);
  return result.warnings.map((one: string) => one.replace(/: .*?("[^"]*")?[^"]*$/, ' $1').trim());
}

it.each([
  ['a reference', 'First read `references/times.md`.', ['FILE_MISSING (line 6) "references/times.md"']],
  [
    'a file named without backticks',
    'See references/times.md, then go on.',
    ['FILE_MISSING (line 6) "references/times.md"'],
  ],
  ['a script', 'Run `python scripts/brew.py --hot`.', ['FILE_MISSING (line 6) "scripts/brew.py"']],
  [
    'a script that a block runs',
    '```bash\npython3 scripts/brew.py in.txt\n```',
    ['FILE_MISSING (line 7) "scripts/brew.py"'],
  ],
  ['a link', 'Read [the times](docs/times.md#green "Times").', ['FILE_MISSING (line 6) "docs/times.md"']],
  ['a link out of the skill', 'Read [the cups](../cup/SKILL.md).', ['FILE_MISSING (line 6) "../cup/SKILL.md"']],
  ['somebody’s home', 'It lies in `/Users/grace/tea/pot.md`.', ['HOME_PATH (line 6) "/Users/grace/tea/pot.md"']],
  ['a home in a command', '```bash\ncd /home/grace/tea\n```', ['HOME_PATH (line 7) "/home/grace/tea"']],
  ['an open block', 'Run:\n\n```bash\nboil\n', ['FENCE_UNCLOSED (line 8)']],
  ['a block with another in it', '````md\n```\n````\n```\n', ['FENCE_UNCLOSED (line 9)']],
  ['no body', '', ['BODY_EMPTY']],
])('warns of %s, and calls the skill valid', async (_what, body, expected) => {
  expect(await warningsOf(body)).toEqual(expected);
});

it.each([
  ['files that are there', 'See `references/there.md`, run `scripts/there.sh` and read [it](./references/there.md#x).'],
  ['addresses', 'See https://example.com/references/times.md and [it](https://example.com/scripts/a.py).'],
  ['code of an example', '```md\nSee `references/times.md`.\n```\n\n```bash\ncat scripts/none.sh > out\n```'],
  ['a file that is made', 'Write the result to `references/out.md`.'],
  [
    'templates and globs',
    'Read `references/<topic>.md`, `references/*.md`, `references/{a,b}.md`, `references/$X.md`.',
  ],
  ['an example', 'Name files by what they say, e.g. `references/times.md`.'],
  ['a file that may be missing', 'If it exists, read `references/local.md`.'],
  ['a folder of the project', 'Look at `my-app/scripts/build.sh` and `/repo/scripts/build.sh`.'],
  ['a remark of the author', '<!-- TODO references/times.md\n``` -->\nText.'],
  [
    'a home of nobody',
    'For example `/home/user/x`, `/Users/you/x`, `C:\\Users\\name\\x`; `/home/runner/work` and ~/x.',
  ],
  ['links within the page', 'See [above](#top), [mail](mailto:a@b.c) and ![a picture](none.png).'],
])('does not warn of %s', async (_what, body) => {
  expect(await warningsOf(body)).toEqual([]);
});

it.each([
  ['Brews tea.', ['DESCRIPTION_THIN "Brews tea."']],
  ['FILL what it does and when.', ['DESCRIPTION_THIN']],
  ['煮茶的方法和时间', []],
])('warns of a description that says nothing: %s', async (description, expected) => {
  expect(await warningsOf('Boil.', { name: 'tea', description })).toEqual(expected);
});

it('warns of a body over limits.skill_tokens, as the config of the root has it', async () => {
  const cwd = tempFolder({
    'skills/tea/SKILL.md': skillMd(FIELDS, 'Boil the water. '.repeat(20)),
    'data/skill_registry/config.yaml': 'limits: { skill_tokens: 50 }\n',
  });
  const { status, stderr } = await runCommand(['validate', 'skills/tea'], { cwd });
  expect([status, stderr]).toEqual([
    0,
    expect.stringMatching(/SKILL_TOO_LONG: The body has \d+ tokens, more than .*50/),
  ]);
});

it('ends with 1 for a warning with --strict, under every profile, and with 0 where there is none', async () => {
  const cwd = tempFolder({
    'tea/SKILL.md': skillMd(FIELDS, 'See `references/x.md`.'),
    'cup/SKILL.md': skillMd({ ...FIELDS, name: 'cup' }),
  });
  const statusOf = async (...args: string[]) => (await runCommand(['validate', ...args], { cwd })).status;
  expect([await statusOf('tea'), await statusOf('tea', '--strict'), await statusOf('cup', '--strict')]).toEqual([
    0, 1, 0,
  ]);
  for (const profile of ['spec', 'lenient'])
    expect([
      profile,
      await statusOf('tea', '--profile', profile),
      await statusOf('tea', '--strict', '--profile', profile),
    ]).toEqual([profile, 0, 1]);
});

it('takes little time for a text that is made to take much', async () => {
  const body = ['['.repeat(300_000), `x ${'`'.repeat(300_000)}`, '<!--'.repeat(50_000), '/home/'.repeat(50_000)].join(
    '\n',
  );
  expect(await warningsOf(body)).toEqual(['SKILL_TOO_LONG']);
});
