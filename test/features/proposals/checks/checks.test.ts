import { describe, expect, it } from 'vitest';
import { hiddenCharacters } from '../../../../lib/text/hidden-characters.ts';
import { countTokens } from '../../../../lib/text/index.ts';
import { fc } from '../../../helpers/properties.ts';
import { nastyText } from '../../../lib/diff/nasty-text.ts';
import { checksOf, skill, told } from './checks-of.ts';

const OLD = skill('Boil water.\n');

it('says of an unchanged text only what it costs and how long it is', async () => {
  expect(await checksOf(OLD, OLD)).toEqual([
    { kind: 'tokens', level: 'info', text: 'Catalog line: 10 tokens, unchanged' },
    { kind: 'tokens', level: 'info', text: 'Body: 4 tokens, unchanged' },
    { kind: 'size', level: 'info', text: 'Lines: +0 -0; bytes: 65 -> 65' },
  ]);
});

describe('tokens', () => {
  it('are counted of the catalog line and of the body', async () => {
    const longer = skill('Boil water. Wait three minutes.\n').replace('for guests', 'for guests and friends');
    expect(await told('tokens', OLD, longer)).toEqual([
      'info: Catalog line: 10 -> 12 tokens (+2)',
      'info: Body: 4 -> 8 tokens (+4)',
    ]);
  });

  it('are those of the text a model is given', async () => {
    const [line, body] = await Promise.all(['• `tea` — Makes tea for guests.\n', 'Boil water.'].map(countTokens));
    expect(await told('tokens', OLD, OLD)).toEqual([
      `info: Catalog line: ${line} tokens, unchanged`,
      `info: Body: ${body} tokens, unchanged`,
    ]);
  });

  it.each([
    ['a new skill', null, OLD, ['info: Catalog line: 0 -> 10 tokens', 'info: Body: 0 -> 4 tokens']],
    ['a removed skill', OLD, null, ['info: Catalog line: 10 -> 0 tokens', 'info: Body: 4 -> 0 tokens']],
    [
      'a text that cannot be loaded',
      OLD,
      '',
      ['info: Catalog line: 10 -> 0 tokens (-10)', 'info: Body: 4 -> 0 tokens (-4)'],
    ],
  ])('are counted of %s', async (_, before, after, checks) => {
    expect(await told('tokens', before, after)).toEqual(checks);
  });

  it('are counted of the text of another file', async () => {
    expect(await told('tokens', 'One two.', 'One two three.', { path: 'references/guide.md' })).toEqual([
      'info: Text of the file: 3 -> 4 tokens (+1)',
    ]);
  });
});

describe('validation', () => {
  it('tells what the change breaks, where, and what it mends', async () => {
    const broken = skill('x', 'tags: {}\n').replace('name: tea', 'name: Green Tea');
    expect(await told('validation', OLD, broken)).toEqual([
      expect.stringMatching(/^warn 2: New warning NAME_INVALID: The name "Green Tea" should be/),
      expect.stringMatching(/^warn 2: New warning NAME_MISMATCH: /),
      expect.stringMatching(/^warn 4: New warning FIELD_INVALID: "tags" should be a list/),
    ]);
    expect(await told('validation', broken, OLD)).toEqual([
      expect.stringMatching(/^info: No longer there: warning NAME_INVALID: /),
      expect.stringMatching(/^info: No longer there: warning NAME_MISMATCH: /),
      expect.stringMatching(/^info: No longer there: warning FIELD_INVALID: "tags"/),
    ]);
  });

  it('takes a problem for the same one when only its place or a number in it has changed', async () => {
    const long = (length: number, line: string): string =>
      `---\nname: tea\n${line}description: ${'x'.repeat(length)}\n---\nBody`;
    expect(await told('validation', long(2000, ''), long(1500, 'license: MIT\n'))).toEqual([]);
  });

  it('tells a second problem of the same kind', async () => {
    const [one, two] = [1, 2].map((line) => ({
      code: 'X',
      severity: 'error' as const,
      file: 'f',
      message: `m${line}`,
      line,
    }));
    const problemsOf = (text: string) =>
      [one, two].flatMap((problem) => (problem && text !== OLD ? [problem] : one ? [one] : []));
    const once = { problemsOf: (text: string) => (text === OLD ? problemsOf(text).slice(0, 1) : problemsOf(text)) };
    expect(await told('validation', OLD, `${OLD}x`, once)).toEqual(['warn 2: New error X: m2']);
  });

  it('is asked for SKILL.md alone', async () => {
    const problemsOf = () => {
      throw new Error('not for this file');
    };
    expect(await told('validation', 'a', 'b', { path: 'references/guide.md', problemsOf })).toEqual([]);
  });
});

describe('size', () => {
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, at) => `Line ${from + at}.\n`).join('');
  it('warns when most of the text goes', async () => {
    expect(await told('size', lines(0, 30), lines(20, 31), { path: 'a.md' })).toEqual([
      'warn: Lines: +1 -20; bytes: 260 -> 99',
    ]);
    expect(await told('size', lines(0, 30), lines(10, 30), { path: 'a.md' })).toEqual([
      'info: Lines: +0 -10; bytes: 260 -> 180',
    ]);
  });

  it('tells what is new and what is removed', async () => {
    expect(await told('size', null, 'a\nb', { path: 'a.md' })).toEqual(['info: A new file of 2 lines, 3 bytes']);
    expect(await told('size', 'a\nb\n', null, { path: 'a.md' })).toEqual(['warn: Removes the file: 2 lines']);
  });

  it('warns of text where nobody looks', async () => {
    const after = `a${' '.repeat(300)}far away\n${'\n'.repeat(50)}far below\n${'long '.repeat(500)}\n`;
    expect((await told('size', 'a\n', after, { path: 'a.md' })).slice(0, 3)).toEqual([
      'warn 1: Text after a gap in its line: "far away"',
      'warn 52: Text after 50 empty lines: "far below"',
      'warn 53: A line of 2500 characters; read it to its end',
    ]);
    expect(await told('size', after, `${after}b\n`, { path: 'a.md' })).toHaveLength(1);
  });
});

it('lists twenty of a kind, warnings first, and counts the rest', async () => {
  const names = (count: number): string => Array.from({ length: count }, (_, n) => `A${n}_TOKEN`).join('\n');
  const secrets = await told('secrets', '', `${names(32)}\n${['AKIA', '4Q7ZK2MWPXN5RTYB'].join('')}\n`, {
    path: 'a.md',
  });
  expect(secrets).toHaveLength(22);
  expect(secrets[0]).toMatch(/^warn 33: Contains/);
  expect(secrets.at(-1)).toBe('info: and 12 more');
  expect((await told('secrets', '', names(25), { path: 'a.md' })).at(-1)).toBe('info: and 5 more');
});

it('says everything on one short line without hidden characters, whatever the texts', async () => {
  const prefixes = fc.constantFrom(
    '',
    '---\n',
    '```sh\n',
    '[x](',
    'curl ',
    'https://',
    '!`',
    '$',
    'TOKEN_',
    '`../',
    '<!--',
  );
  const text = fc.array(fc.tuple(prefixes, nastyText), { maxLength: 4 }).map((parts) => parts.flat().join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.option(text),
      text,
      fc.constantFrom('SKILL.md', 'x.md', 'x.sh', 'x.py'),
      async (before, after, path) => {
        const checks = await checksOf(before, after, path === 'SKILL.md' ? {} : { path });
        for (const check of checks) {
          expect(check.text).not.toMatch(/[\n\t]/);
          expect([...hiddenCharacters(check.text)]).toEqual([]);
          expect(check.text.length).toBeLessThan(500);
          expect(check.line ?? 1).toBeGreaterThan(0);
          expect(check.line ?? 1).toBeLessThanOrEqual(after.split(/\r\n|\n|\r/).length);
        }
        const kinds = await checksOf(after, after, path === 'SKILL.md' ? {} : { path });
        expect(
          kinds.filter(({ kind }) => kind !== 'tokens' && kind !== 'size'),
          'nothing new in the same text',
        ).toEqual([]);
      },
    ),
    { numRuns: 50 },
  );
});
