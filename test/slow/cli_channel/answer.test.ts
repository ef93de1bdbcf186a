import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { createAnswerWriter } from '../../../extensions/cli_channel/answer.ts';
import { fc } from '../../helpers/properties.ts';

/** What is on the terminal after these parts of an answer, and how much of it was there before the end. */
function shown(parts: readonly string[], columns = 50, isColoured = false) {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const answer = createAnswerWriter({ write, columns: () => columns, isColoured });
  for (const part of parts) answer.add(part);
  const atOnce = text;
  answer.end();
  return { text, atOnce };
}

const ANSWER = `# Tea

Boil *fresh* water, **then wait for it** and read [the times](https://tea.example/t) of \`green tea\`, because 2 * 3 is 6 and snake_case stays.


1. one thing that is long and has to be wrapped at its words
2. two
   - **bold item that is long and must be wrapped, too**

> Said by somebody who knows about tea and talks about it.

\`\`\`ts
const a = 1;

  if (a) return "a line of code is not wrapped, so that it can be copied";
\`\`\`

| Tea | Minutes |
|---|---|
| green | 2 |
Unclosed **bold and \`code.
`;

it('renders an answer for a terminal and wraps it at words, in whatever parts it arrives', () => {
  const { text } = shown([ANSWER]);
  expect(text).toMatchInlineSnapshot(`
    "Tea

    Boil fresh water, then wait for it and read the
    times (https://tea.example/t) of green tea,
    because 2 * 3 is 6 and snake_case stays.

    1. one thing that is long and has to be wrapped at
       its words
    2. two
       • bold item that is long and must be wrapped,
         too

    │ Said by somebody who knows about tea and talks
    │ about it.

        const a = 1;

          if (a) return "a line of code is not wrapped, so that it can be copied";

    Tea    Minutes
    green  2
    Unclosed **bold and \`code.
    "
  `);
  for (const size of [1, 2, 7, 50])
    expect(shown(ANSWER.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).text, `${size}`).toBe(text);
});

it('has colours, except with NO_COLOR', () => {
  expect(shown(['**hot** tea'], 50, true).text).toBe('\x1b[1mhot\x1b[22m tea\n');
  expect(shown(['**hot** tea']).text).toBe('hot tea\n');
});

it.each([
  ['each word when the next one begins', 'Boil fresh wa', 'Boil fresh'],
  ['a mark when it is closed', 'Boil **fresh water', 'Boil'],
  ['what follows a mark', 'Boil **fresh** wa', 'Boil fresh'],
  ['a line of code at its end', '```\na = 1\nb =', '    a = 1\n'],
  ['a writing without blanks', '茶は日本', '茶は日本'],
  ['a mark that nobody closes, after 1,000 characters', `**${'tea '.repeat(260)}`, '**tea tea'],
])('shows %s', (_what, part, expected) => {
  const { atOnce } = shown([part]);
  expect(atOnce.startsWith(expected)).toBe(true);
  expect(atOnce.length > 0 && part.startsWith('**') ? expected : atOnce).toBe(expected);
});

it('gives the terminal no control character of a model, whole, in parts or encoded', () => {
  const hostile =
    'a \x1b[2J b \x1b]8;;http://x\x07c\x1b]8;;\x07 &#27;[31m `&#x1b;` \r \x9b1m \u202e [l](http://x/&#27;[2J) d\n| \x1b[2J |\n|---|\n\n```\n\x1b[2J\n```\n# \x1b[1m h';
  for (const parts of [[hostile], [...hostile]]) {
    const { text } = shown(parts);
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text).toContain('\\x1b[2J');
  }
});

it('loses no word of any text, and shows none twice, in any parts and any window', () => {
  const piece = fc.constantFrom(
    'w',
    '**',
    '*',
    '_',
    '`w',
    '```\n',
    '~~w',
    '[',
    '](',
    ')',
    '|',
    '#',
    '- ',
    '1. ',
    '> ',
    ' ',
    '  ',
    '\n',
    '\n\n',
    '|---|\n',
    '\n|w|w|\n|---|---|\n|w|w|',
    '字',
  );
  const text = fc.array(piece, { maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 20, max: 60 }), (pieces, size, columns) => {
      let count = 0;
      const words = pieces.map((one) => one.replaceAll('w', () => `w${count++}.`)).join('');
      const numbers = (from: string) => from.match(/\d+(?=\.)/g) ?? [];
      const wanted = numbers(words.replace(/(?<!w\d*)\d+\. /g, ''));
      const parts = words.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const seen = shown(parts, columns).text;
      expect(seen.match(/w\d+\./g)?.map((word) => word.slice(1, -1)) ?? []).toEqual(wanted);
    }),
  );
});

it('takes a hostile line, and a word without end, in no time that grows with its square', () => {
  for (const part of ['*__a', '[', '`a', '![[', '字', 'x', '|a'].map((one) => one.repeat(20_000))) {
    const { text, atOnce } = shown([part, '\nend']);
    expect(atOnce.length).toBeGreaterThan(0);
    expect(stripVTControlCharacters(text)).toContain('end\n');
  }
});
