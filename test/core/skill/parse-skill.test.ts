import { describe, expect, it } from 'vitest';
import { parseSkill } from '../../../extensions/skill_registry/core/skill/parse-skill.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const FILE = '/skills/tidy/SKILL.md';
const parse = (text: string) => parseSkill(text, FILE, 'tidy');

/** `CODE severity line` of each problem. */
function brief(text: string): readonly string[] {
  return parse(text).problems.map(({ code, severity, line }) => `${code} ${severity} ${line ?? '-'}`);
}

const good = { name: 'tidy', description: 'Tidies up.' };

describe('a good skill', () => {
  it('has every field, typed, and no problem', () => {
    const text = skillMd({
      ...good,
      when_to_use: 'Before a commit.',
      tags: '[code, style]',
      requires: '[git-basics]',
      'disable-model-invocation': 'true',
      'user-invocable': 'false',
      'argument-hint': '"<file>"',
      license: 'MIT',
      metadata: '{ author: somebody, version: 1.0 }',
      'x-own': '[1, { a: null }]',
    });
    expect(parse(text)).toMatchObject({
      problems: [],
      header: {
        name: 'tidy',
        description: 'Tidies up. Before a commit.',
        tags: ['code', 'style'],
        requires: ['git-basics'],
        modelInvocable: false,
        userInvocable: false,
        argumentHint: '<file>',
        license: 'MIT',
        metadata: { author: 'somebody', version: 1 },
        extra: { 'x-own': [1, { a: null }] },
      },
    });
  });

  it('needs no more than a name and a description', () => {
    expect(parse(skillMd(good, ''))).toMatchObject({
      problems: [],
      header: { ...good, tags: [], requires: [], modelInvocable: true, userInvocable: true, extra: {} },
    });
  });
});

describe('lists', () => {
  it.each([
    ['[a, b]', ['a', 'b']],
    ['\n  - a\n  - b', ['a', 'b']],
    ['a, b', ['a', 'b']],
    ['a', ['a']],
    ['"a,, b , a"', ['a', 'b']],
    ['[a, a, "", " b "]', ['a', 'b']],
    ['[1, true, 2.5]', ['1', 'true', '2.5']],
    ['["x\\u200by\\nz"]', ['xy z']],
    ['', []],
    ['null', []],
    ['[]', []],
  ])('are read from %j', (written, read) => {
    const { header, problems } = parse(skillMd({ ...good, tags: written, requires: written }));
    expect(header).toMatchObject({ tags: read, requires: read });
    expect(problems).toEqual([]);
  });

  it.each(['{a: b}', '[[a], b]', '[{a: 1}]', '!!set {a, b}'])(
    'that are none are left out and said so: %s',
    (written) => {
      const text = skillMd({ ...good, tags: written, requires: written });
      expect(parse(text).header).toMatchObject({ tags: [], requires: [] });
      expect(brief(text)).toEqual(['FIELD_INVALID warning 4', 'FIELD_INVALID warning 5']);
    },
  );
});

describe('switches', () => {
  it.each([
    ...['true', 'True', 'TRUE', 'yes', 'Yes', 'on', 'ON', '1', '"true"', '"yes "'].map((text) => [text, true] as const),
    ...['false', 'False', 'no', 'NO', 'off', '0', '"false"'].map((text) => [text, false] as const),
  ])('take %s', (written, on) => {
    const { header, problems } = parse(
      skillMd({ ...good, 'user-invocable': written, 'disable-model-invocation': written }),
    );
    expect(header).toMatchObject({ userInvocable: on, modelInvocable: !on });
    expect(problems).toEqual([]);
  });

  it.each(['', 'null', '~'])('stay at their default for nothing: %j', (written) => {
    const { header, problems } = parse(
      skillMd({ ...good, 'user-invocable': written, 'disable-model-invocation': written }),
    );
    expect(header).toMatchObject({ userInvocable: true, modelInvocable: true });
    expect(problems).toEqual([]);
  });

  it.each(['maybe', '2', '[true]', '{a: b}', '"y es"', '1.5'])('say so when they hold nonsense: %s', (written) => {
    const text = skillMd({ ...good, 'user-invocable': written, 'disable-model-invocation': written });
    expect(parse(text).header).toMatchObject({ userInvocable: true, modelInvocable: true });
    expect(brief(text)).toEqual(['FIELD_INVALID warning 5', 'FIELD_INVALID warning 4']);
    expect(parse(text).problems[0]?.details).toEqual({ field: 'disable-model-invocation' });
  });
});

describe('the name', () => {
  it.each([
    ['Tidy Up', ['NAME_INVALID warning 2', 'NAME_MISMATCH warning 2']],
    ['other', ['NAME_MISMATCH warning 2']],
    ['-tidy', ['NAME_INVALID warning 2', 'NAME_MISMATCH warning 2']],
    ['tidy--up', ['NAME_INVALID warning 2', 'NAME_MISMATCH warning 2']],
    ['a'.repeat(65), ['NAME_INVALID warning 2', 'NAME_MISMATCH warning 2']],
    ['a'.repeat(64), ['NAME_MISMATCH warning 2']],
    ['整理', ['NAME_MISMATCH warning 2']],
    ['42', ['NAME_MISMATCH warning 2']],
    ['"ti\\u200bdy"', []],
    ['""', ['NAME_MISSING warning 2']],
    ['', ['NAME_MISSING warning 2']],
    ['{a: b}', ['NAME_MISSING warning 2']],
  ])('%j is kept as a label and judged', (name, problems) => {
    expect(brief(skillMd({ name, description: 'Tidies.' }))).toEqual(problems);
  });

  it.each([
    ['42', '42'],
    ['1.50', '1.5'],
    ['true', 'true'],
    ['2024-01-01', '2024-01-01'],
    ['"two\\nlines"', 'two lines'],
    ['', 'tidy'],
  ])('is text whatever YAML makes of it: %j', (written, name) => {
    expect(parse(skillMd({ name: written, description: 'Tidies.' })).header?.name).toBe(name);
  });

  it('may be composed differently from the directory', () => {
    const text = skillMd({ name: 'cafe\u0301', description: 'Serves.' });
    expect(parseSkill(text, FILE, 'caf\u00e9').problems).toEqual([]);
  });
});

describe('the description', () => {
  it.each([
    ['folded to one line', { description: '"one\\n\\n two\\ttabs"' }, 'one two tabs'],
    ['when_to_use alone', { when_to_use: 'Now.' }, 'Now.'],
    ['both', { description: 'What.', when_to_use: 'When.' }, 'What. When.'],
  ])('is %s', (_, fields, description) => {
    const { header, problems } = parse(skillMd({ name: 'tidy', ...fields }));
    expect(header?.description).toBe(description);
    expect(problems).toEqual([]);
  });

  it('is at most 1,024 characters without a warning, counted in code points', () => {
    expect(brief(skillMd({ name: 'tidy', description: '𠮷'.repeat(1024) }))).toEqual([]);
    const text = skillMd({ name: 'tidy', description: 'x'.repeat(1025) });
    expect(brief(text)).toEqual(['DESCRIPTION_TOO_LONG warning 3']);
    expect(parse(text).header?.description).toHaveLength(1025);
  });

  it.each([
    ['absent', {}],
    ['empty', { description: '' }],
    ['blank', { description: '"  \\u200b "' }],
    ['a mapping', { description: '{a: b}' }],
    ['a number', { description: '3' }],
    ['a line', { description: '"---"' }],
    ['braille blanks', { description: '"\u2800\u2800"' }],
    ['a blank hieroglyph', { description: '"\u{13441}"' }],
    ['marks without a letter', { description: '"\u0301\u0301"' }],
    ['a template somebody forgot', { description: '{{description}}' }],
  ])('is the first paragraph where there is none: %s', (_, fields) => {
    const text = skillMd({ name: 'tidy', ...fields }, '# Title\n\nFirst\nparagraph.\n\nSecond.');
    expect(parse(text).header?.description).toBe('First paragraph.');
    expect(brief(text)).toEqual([`DESCRIPTION_MISSING warning ${'description' in fields ? 3 : 1}`]);
  });

  it.each(['\n', '\r\n', '\r'])('is the same paragraph whether lines end with %j', (end) => {
    const text = ['# Title', '', 'First', 'paragraph.', ' ', 'Second.'].join(end);
    expect(parse(text).header?.description).toBe('First paragraph.');
  });

  it('is cut at 300 characters when it is a paragraph', () => {
    const { header } = parse(`${'word '.repeat(5000)}\n`);
    expect(header?.description).toMatch(/^word (word )+word…$/);
    expect(header?.description.length).toBeLessThanOrEqual(301);
  });
});

describe('frontmatter', () => {
  const fields = 'name: tidy\ndescription: Tidies.\n';
  it.each([
    ['missing', '# Tidy\n\nTidies.\n', ['FRONTMATTER_MISSING warning 1']],
    ['after a blank line', `\n---\n${fields}---\n`, ['FRONTMATTER_NOT_AT_START warning 1']],
    ['never closed', `---\n${fields}\n# Body\n`, ['FRONTMATTER_UNCLOSED error 1']],
    ['never closed, after blank lines', `\n\n---\n${fields}\n# Body\n`, ['FRONTMATTER_UNCLOSED error 3']],
    ['not YAML', `---\n${fields}}{\n---\n`, ['FRONTMATTER_INVALID error 4']],
    ['repaired', '---\nname: tidy\ndescription: a: b\n---\n', ['FRONTMATTER_REPAIRED warning 3']],
    [
      'repaired twice',
      '---\nname: tidy\ndescription: a: b\nlicense: `x`\n---\n',
      ['FRONTMATTER_REPAIRED warning 3', 'FRONTMATTER_REPAIRED warning 4'],
    ],
    ['over 64 KiB', `---\n${fields}x: ${'y'.repeat(65_536)}\n---\nTidies.`, ['FRONTMATTER_TOO_LARGE error 1']],
  ])('%s is a problem, and the skill is loaded', (_, text, problems) => {
    expect(brief(text)).toEqual(problems);
    const { header, problems: all } = parse(text);
    expect(header).toMatchObject({ name: 'tidy', description: expect.stringMatching(/./) });
    for (const problem of all) expect(problem.file).toBe(FILE);
  });

  it.each([
    ['an empty file', '', ['FRONTMATTER_MISSING warning 1', 'SKILL_EMPTY error -']],
    ['white space', ' \r\n\t\n', ['FRONTMATTER_MISSING warning 1', 'SKILL_EMPTY error -']],
    ['a byte order mark', '\ufeff', ['FRONTMATTER_MISSING warning 1', 'SKILL_EMPTY error -']],
    ['fences alone', '---\n---\n', ['SKILL_EMPTY error -']],
    ['one fence', '---', ['FRONTMATTER_UNCLOSED error 1', 'SKILL_EMPTY error -']],
    ['a name alone', '---\nname: tidy\n---\n', ['SKILL_EMPTY error -']],
    ['invisible words', '---\nname: tidy\n---\n\u200b\u202e\n', ['SKILL_EMPTY error -']],
  ])('with nothing to say is refused: %s', (_, text, problems) => {
    expect(parse(text).header).toBeUndefined();
    expect(brief(text)).toEqual(problems);
  });

  it('is not needed for a heading to be a skill', () => {
    expect(parse('# Tidy up\n').header).toMatchObject({ name: 'tidy', description: 'Tidy up' });
  });
});

describe('messages say what was expected, what arrived and what to do', () => {
  const name = 'name: tidy\n';
  const both = `${name}description: Tidies.\n`;
  const long = 'x'.repeat(1000);
  it.each<[string, string, number, string | RegExp]>([
    ['FRONTMATTER_MISSING', '# Tidy\u200b  up\nIt.', 1, 'Expected --- on the first line, got "# Tidy up". Add name'],
    ['FRONTMATTER_MISSING', '\n\nText.', 1, 'Expected --- on the first line, got an empty line. Add name'],
    ['FRONTMATTER_MISSING', 'x '.repeat(5000), 1, /got "(x )+x…"/],
    ['FRONTMATTER_INVALID', '---\n- a\n- b\n---\nIt.', 2, 'holds no fields: expected a mapping of fields, got a list;'],
    ['FRONTMATTER_INVALID', '---\nwords\n---\nIt.', 2, 'expected a mapping of fields, got text;'],
    ['FRONTMATTER_INVALID', `---\n${both}}{\n---\n`, 4, /is not valid YAML \(.*were used\. Correct it/],
    [
      'DESCRIPTION_MISSING',
      `---\n${name}description: {a: b}\n---\nIt.`,
      3,
      'The description is a mapping, expected text;',
    ],
    ['DESCRIPTION_MISSING', `---\n${name}description:\n---\nIt.`, 3, 'The description is empty;'],
    ['DESCRIPTION_MISSING', `---\n${name}---\nIt.`, 1, 'There is no description;'],
    ['NAME_MISSING', '---\ndescription: It.\nname: {a: b}\n---\n', 3, 'The name is a mapping, expected text;'],
    ['NAME_MISSING', '---\ndescription: It.\n---\n', 1, 'There is no name;'],
    [
      'DESCRIPTION_TOO_LONG',
      `---\n${name}description: ${long}\nwhen_to_use: ${long}\n---\n`,
      4,
      /together have 2001 .* Shorten when_to_use/,
    ],
    ['DESCRIPTION_TOO_LONG', `---\n${name}description: ${long}${long}\n---\n`, 3, /has 2000 .* Shorten description/],
    [
      'FIELD_INVALID',
      `---\n${both}tags: {a: b}\n---\n`,
      4,
      'got {"a":"b"}; it was ignored. Write a list such as [a, b].',
    ],
    ['FIELD_INVALID', `---\n${both}version: {a: ${long}}\n---\n`, 4, /got \{"a":"x{70,75}…; it was ignored\. Write/],
    ['FIELD_INVALID', `---\n${both}metadata: { tags: { a: b } }\n---\n`, 4, /"metadata\.tags" should be a list/],
    ['FIELD_INVALID', `---\n${both}allowed-tools: [1]\n---\n`, 4, /got \[1\]; it was ignored\. Write/],
    ['FIELD_INVALID', `---\n${both}user-invocable: maybe\n---\n`, 4, /got "maybe"; it was taken as true\. Write/],
    ['FIELD_INVALID', `---\n${both}metadata: [1]\n---\n`, 4, /should be a mapping, got \[1\]; it was ignored\. Write/],
  ])('%s of %j', (code, text, line, message) => {
    expect(parse(text).problems).toContainEqual(
      expect.objectContaining({
        code,
        line,
        message: message instanceof RegExp ? expect.stringMatching(message) : expect.stringContaining(message),
      }),
    );
  });
});

it.each(['tags', 'requires', 'argument-hint', 'description', 'name', 'user-invocable', 'anything'])(
  'a circle of aliases in %s is a problem, not a crash',
  (key) => {
    const { header, problems } = parse(`---\n${key}: &a [x, *a]\n---\nTidies.\n`);
    expect(header).toBeDefined();
    expect(problems[0]?.code).toMatch(/^FRONTMATTER_(REPAIRED|INVALID)$/);
    expect(() => JSON.stringify(header)).not.toThrow();
  },
);

it('a skill that hides itself from models stays hidden when its frontmatter cannot be read', () => {
  const { header, problems } = parse(
    '---\nname: tidy\ndescription: Tidies.\n}{\ndisable-model-invocation: true\n---\n',
  );
  expect(problems.map(({ code }) => code)).toEqual(['FRONTMATTER_INVALID']);
  expect(header?.modelInvocable).toBe(false);
});
