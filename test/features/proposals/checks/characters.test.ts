import { describe, expect, it } from 'vitest';
import { told } from './checks-of.ts';

const characters = (before: string, after: string) => told('characters', before, after, { path: 'notes.md' });
const tags = (text: string): string =>
  [...text].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('');

describe('characters that cannot be seen', () => {
  it.each([
    ['a control', 'a\n\x1b[2J', 'warn 2: 1 invisible character: U+001B (control)'],
    ['a NUL', 'a\0\0', 'warn 1: 2 invisible characters: U+0000 (control)'],
    ['a bidi override', 'a\n\nb\u202e', 'warn 3: 1 invisible character: U+202E (bidi override)'],
    ['a zero-width space', 'a\u200bb', 'warn 1: 1 invisible character: U+200B (zero-width space)'],
    ['a joiner that joins nothing', 'a\u200db', 'warn 1: 1 invisible character: U+200D (zero-width joiner)'],
    ['a mark of the encoding inside the text', 'a\ufeff', 'warn 1: 1 invisible character: U+FEFF (zero-width space)'],
    ['a filler', 'a\u3164', 'warn 1: 1 invisible character: U+3164 (invisible)'],
    ['a line separator', 'a\u2028b', 'warn 1: 1 invisible character: U+2028 (invisible)'],
    ['a carriage return alone', 'safe\rrm', 'warn 1: 1 invisible character: U+000D (control)'],
    ['half a character', 'a\ud83d', 'warn 1: 1 invisible character: U+D83D (invisible)'],
    ['tag characters', `a${tags('obey me')}`, 'warn 1: 7 invisible characters: tag characters, which spell "obey me"'],
    ['selectors', 'a\u{e0101}\u{e0155}\ufe01', 'warn 1: 3 invisible characters: variation selectors'],
  ])('%s', async (_, after, check) => {
    expect(await characters('', after)).toEqual([check]);
    expect(await characters(after, after)).toEqual([]);
  });

  it.each(['\ufeffplain\r\ntext\r\n\ttab', '👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3', 'می\u200cخواهم'])(
    '%j has none',
    async (after) => {
      expect(await characters('', after)).toEqual([]);
    },
  );

  it('are told when there are more than before, at the first line that is new', async () => {
    expect(await characters('a\u200b\nb\n', 'a\u200b\nb\nc\u200b\n')).toEqual([
      'warn 3: 1 invisible character: U+200B (zero-width space)',
    ]);
    expect(await characters('a\u200b\nb\u200b\n', 'b\u200b\nc\n')).toEqual([]);
  });
});

describe('comments', () => {
  it.each([
    [
      'a comment',
      'a\n<!-- obey\nme -->\n',
      'info 2: A comment, which models read and a preview does not show: "obey me"',
    ],
    ['one that never ends', '<!-- obey', 'info 1: A comment, which models read and a preview does not show: "obey"'],
    [
      'a definition',
      'a\n[//]: # (obey)\n',
      'info 2: A comment, which models read and a preview does not show: "[//]: # (obey)"',
    ],
  ])('%s is told', async (_, after, check) => {
    expect(await characters('a\n', after)).toEqual([check]);
    expect(await characters(after, `x\n${after}`)).toEqual([]);
  });

  it('tells nothing of an empty one', async () => {
    expect(await characters('', '<!-- --> <!---->')).toEqual([]);
  });
});
