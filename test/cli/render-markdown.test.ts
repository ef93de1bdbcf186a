import { expect, it } from 'vitest';
import { renderMarkdown } from '../../cli/render-markdown.ts';

const ESC = String.fromCharCode(27);
const plain = (text: string): string => text.replace(new RegExp(`${ESC}\\[[0-9;]*m`, 'g'), '');

it('folds text at the width, marks lists, and writes out where a link leads', () => {
  const markdown =
    '# Tea\n\nBoil *fresh* water,\nthen wait. [Times](https://tea.example/t)\n\n1. one\n2. two\n   - `three`\n\n> Said.\n';
  expect(plain(renderMarkdown(markdown, 30))).toBe(
    'Tea\n\nBoil fresh water, then wait.\nTimes (https://tea.example/t)\n\n1. one\n2. two\n   • three\n\n│ Said.',
  );
});

it('sets a table in columns where it fits, and its rows one after the other where not', () => {
  const markdown = '| Tea | Minutes |\n|---|---|\n| green | 2 |\n| black, strong and with milk | 4 |\n';
  expect(plain(renderMarkdown(markdown, 80))).toBe(
    'Tea                          Minutes\ngreen                        2\nblack, strong and with milk  4',
  );
  expect(plain(renderMarkdown(markdown, 30))).toBe(
    '• Tea: green\n  Minutes: 2\n• Tea: black, strong and with\n  milk\n  Minutes: 4',
  );
});

it('lets nothing an author wrote command the terminal, however it is encoded', () => {
  const hostile = [
    `${ESC}[2J`,
    '&#27;[2J',
    '&#x1b;]8;;http://x',
    '[a](http://x/&#27;[2J)',
    '`&#27;`',
    '```\n&#27;\n```',
    '<b>&#27;[31m</b>',
    '\u202e',
    '&#x202e;',
    '\u0007',
  ];
  for (const text of hostile) {
    const shown = plain(renderMarkdown(text, 60));
    for (const hidden of [ESC, '\u202e', '\u0007']) expect(shown, text).not.toContain(hidden);
  }
});
