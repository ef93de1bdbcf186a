import { describe, expect, it } from 'vitest';
import { told } from './checks-of.ts';

/** What a new line of a file of the skill refers to. */
const refers = (text: string, path = 'notes.md') => told('references', 'Old.\n', `Old.\n${text}\n`, { path });

const HAS = 'info 2: Refers to a file of the skill';
const LACKS = 'info 2: Refers to a file that the skill does not have';
const OUTSIDE = 'info 2: Points outside the skill';
const ELSEWHERE = 'info 2: Names a file that is not in the skill';

describe('in prose', () => {
  it.each([
    ['See [the guide](references/guide.md).', `${HAS}: "references/guide.md"`],
    ['See [the guide](./references/guide.md#steps "Title").', `${HAS}: "./references/guide.md"`],
    ['See [it](<references/guide.md>).', `${HAS}: "references/guide.md"`],
    ['[g]: references/guide.md', `${HAS}: "references/guide.md"`],
    ['<a href="references/guide.md">x</a>', `${HAS}: "references/guide.md"`],
    ['See [all](references/).', `${HAS}: "references/"`],
    ['Read `references/guide.md` first.', `${HAS}: "references/guide.md"`],
    ['Run `python scripts/brew.py --hot`.', `${HAS}: "scripts/brew.py"`],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what skills write.
    ['Run `${CLAUDE_SKILL_DIR}/scripts/brew.py`.', `${HAS}: "./scripts/brew.py"`],
    ['Run `{baseDir}/scripts/brew.py`.', `${HAS}: "./scripts/brew.py"`],
    ['@references/guide.md', `${HAS}: "references/guide.md"`],
    ['See [x](references/none.md).', `${LACKS}: "references/none.md"`],
    ['See [x](none.md).', `${LACKS}: "none.md"`],
    ['See `references/none.md`.', `${LACKS}: "references/none.md"`],
    ['See ``assets/none.png``.', `${LACKS}: "assets/none.png"`],
    ['Change `src/index.ts:12`.', `${ELSEWHERE}: "src/index.ts"`],
    ['See [x](../other/SKILL.md).', `${OUTSIDE}: "../other/SKILL.md"`],
    ['See [x](references/../../other/a.md).', `${OUTSIDE}: "references/../../other/a.md"`],
    ['See [x](%2e%2e/other/a.md).', `${OUTSIDE}: "../other/a.md"`],
    ['See [x](/etc/passwd).', `${OUTSIDE}: "/etc/passwd"`],
    ['See [x](file:///etc/passwd).', `${OUTSIDE}: "file:///etc/passwd"`],
    ['See [x](C:\\Users\\x).', `${OUTSIDE}: "C:\\Users\\x"`],
    ['Read `~/.ssh/config`.', `${OUTSIDE}: "~/.ssh/config"`],
    ['Read `$HOME/notes.txt`.', `${OUTSIDE}: "~/notes.txt"`],
    ['Read `/etc/hosts`.', `${OUTSIDE}: "/etc/hosts"`],
    ['Read `../other/SKILL.md`.', `${OUTSIDE}: "../other/SKILL.md"`],
  ])('%s', async (text, check) => {
    expect(await refers(text)).toEqual([check]);
  });

  it.each([
    'See [x](https://example.com/a.md), [y](#steps), [z](mailto:a@b.c) and [w](//cdn.test/x.js).',
    'Write `references/<name>.md`, `scripts/*.py`, `$DIR/x.md` or `.../x.md`.',
    'Call `/api/users`, `/skills:tea`, `and/or`, `a/b`, `~10` and `package.json`.',
    'Use `@acme/tools` and version `1.2/3.4`.',
  ])('says nothing of %j', async (text) => {
    expect(await refers(text)).toEqual([]);
  });
});

it('finds from the folder of the file, and from that of the skill', async () => {
  expect(
    await refers('[a](guide.md) [b](references/guide.md) [c](../SKILL.md) [d](../../x.md)', 'references/b.md'),
  ).toEqual([
    `${HAS}: "guide.md"`,
    `${HAS}: "references/guide.md"`,
    `${HAS}: "../SKILL.md"`,
    `${OUTSIDE}: "../../x.md"`,
  ]);
});

describe('in code', () => {
  it.each([
    ['python scripts/brew.py', [`info 3: Refers to a file of the skill: "scripts/brew.py"`]],
    ['sh scripts/none.sh', [`info 3: Refers to a file that the skill does not have: "scripts/none.sh"`]],
    [
      'cat "$HOME/.profile" > /tmp/x',
      ['info 3: Points outside the skill: "~/.profile"', 'info 3: Points outside the skill: "/tmp/x"'],
    ],
    ['tsc src/index.ts; curl https://a.test/etc/x.md', []],
  ])('%s', async (line, checks) => {
    expect(await refers(`\`\`\`sh\n${line}\n\`\`\``)).toEqual(checks);
  });

  it('takes the words of a program for paths where they look like it', async () => {
    const checks = await refers('open("/etc/hosts"); open("references/guide.md"); 1/2; a//b; "x/y.z"', 'scripts/a.py');
    expect(checks).toEqual([`${OUTSIDE}: "/etc/hosts"`, `${HAS}: "references/guide.md"`]);
  });
});

it('tells only what was not named before', async () => {
  const before = 'See [a](a.md) and `references/guide.md`.\n';
  expect(
    await told('references', before, `Intro.\n${before}See [a](a.md), [b](b.md).\n`, { path: 'notes.md' }),
  ).toEqual(['info 3: Refers to a file that the skill does not have: "b.md"']);
});
