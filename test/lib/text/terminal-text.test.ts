import { describe, expect, test } from 'vitest';
import { formatTable, printable } from '../../../lib/text/index.ts';

describe('printable', () => {
  test.each<[what: string, text: string, shown: string]>([
    ['leaves text, lines and tabs', 'a\tb\nc', 'a\tb\nc'],
    ['leaves other scripts and emoji', '技能 é 😀', '技能 é 😀'],
    ['makes line ends plain', 'a\r\nb', 'a\nb'],
    ['shows a carriage return alone', 'a\rb', 'a\\x0db'],
    ['shows an escape sequence', '\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['shows the eight-bit escape', '\u009b31m', '\\x9b31m'],
    ['shows NUL, bell and delete', '\u0000\u0007\u007f', '\\x00\\x07\\x7f'],
    ['shows tag characters and what has no width', 'a\u{e0041}b\u200bc\u00add', 'a\\u{e0041}b\\u{200b}c\\u{ad}d'],
    ['shows a selector after another one', '\u2764\ufe0f\ufe0f', '\u2764\ufe0f\\u{fe0f}'],
    [
      'leaves joiners, selectors and flags',
      '\u0645\u06cc\u200c\u062e \u{1f469}\u200d\u{1f680} \u2764\ufe0f \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
      '\u0645\u06cc\u200c\u062e \u{1f469}\u200d\u{1f680} \u2764\ufe0f \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    ],
    ['shows marks that reorder text', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
  ])('%s', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});

describe('formatTable', () => {
  test('aligns columns, numbers to the right, and leaves no space at the end', () => {
    const rows = [
      ['one', 5, 'first'],
      ['three', 1234, 'second'],
    ];
    expect(formatTable(['ID', 'TOKENS', 'WHAT'], rows).split('\n')).toEqual([
      'ID     TOKENS  WHAT',
      'one         5  first',
      'three    1234  second',
    ]);
  });

  test('counts what a terminal shows: wide characters are two columns', () => {
    expect(
      formatTable(
        ['A', 'B'],
        [
          ['技能', 'x'],
          ['ab', 'y'],
        ],
      ).split('\n'),
    ).toEqual(['A     B', '技能  x', 'ab    y']);
  });

  test('cuts the last column to the width of the terminal', () => {
    expect(formatTable(['A', 'B'], [['id', 'a long description of it']], 16).split('\n')[1]).toBe('id  a long desc…');
  });

  test('keeps eight columns of words, however narrow the terminal is', () => {
    expect(formatTable(['A', 'B'], [['a long name', 'description']], 5).split('\n')[1]).toBe('a long…   descrip…');
  });

  test('cuts the widest of the other columns as well, and never a number', () => {
    const rows = [['a-very-long-id-of-a-skill', 123_456, 'here', 'a description that is longer than the window']];
    const lines = formatTable(['ID', 'TOKENS', 'AT', 'WHAT'], rows, 50).split('\n');
    expect(lines[1]).toMatch(/^a-very-l[\w-]*… +123456 +here +a description[\w ]*…$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(50);
  });

  test('aligns estimates as numbers', () => {
    expect(
      formatTable(
        ['ID', 'TOKENS', 'WHAT'],
        [
          ['a', '~5', 'x'],
          ['b', 1234, 'y'],
        ],
      ).split('\n'),
    ).toEqual(['ID  TOKENS  WHAT', 'a       ~5  x', 'b     1234  y']);
  });

  test('keeps every row on one line', () => {
    expect(formatTable(['A'], [['two\nlines\u001b[2J']])).toBe('A\ntwo lines\\x1b[2J');
  });

  test('is its header where there are no rows', () => {
    expect(formatTable(['ID', 'WHAT'], [])).toBe('ID  WHAT');
  });
});
