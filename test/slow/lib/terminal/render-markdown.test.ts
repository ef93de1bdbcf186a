import { expect, it } from 'vitest';
import { runCli } from '../../../../cli/run-cli.ts';
import { renderMarkdown } from '../../../../lib/terminal/index.ts';
import { skillMd, tempFolder } from '../../../helpers/temp-folder.ts';

const ESC = String.fromCharCode(27);
const rendered = async (text: string, width: number): Promise<string> => (await renderMarkdown(text, width)) ?? '';
const plain = (text: string): string => text.replace(new RegExp(`${ESC}\\[[0-9;]*m`, 'g'), '');

it('folds text at the width, marks lists, and writes out where a link leads', async () => {
  const markdown =
    '# Tea\n\nBoil *fresh* water,\nthen wait. [Times](https://tea.example/t)\n\n1. one\n2. two\n   - `three`\n\n> Said.\n';
  expect(plain(await rendered(markdown, 30))).toBe(
    'Tea\n\nBoil fresh water, then wait.\nTimes (https://tea.example/t)\n\n1. one\n2. two\n   • three\n\n│ Said.',
  );
});

it('sets a table in columns where it fits, and its rows one after the other where not', async () => {
  const markdown = '| Tea | Minutes |\n|---|---|\n| green | 2 |\n| black, strong and with milk | 4 |\n';
  expect(plain(await rendered(markdown, 80))).toBe(
    'Tea                          Minutes\ngreen                        2\nblack, strong and with milk  4',
  );
  expect(plain(await rendered(markdown, 30))).toBe(
    '• Tea: green\n  Minutes: 2\n• Tea: black, strong and with\n  milk\n  Minutes: 4',
  );
});

it('lets nothing an author wrote command the terminal, however it is encoded', async () => {
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
    const shown = plain(await rendered(text, 60));
    for (const hidden of [ESC, '\u202e', '\u0007']) expect(shown, text).not.toContain(hidden);
  }
});

it('gives up on a text that takes long to read, or is nested deeply', async () => {
  for (const text of ['*__a'.repeat(4_000), '>'.repeat(16_000), `${'- '.repeat(200)}x`, `${'>'.repeat(200)} x`])
    expect(await renderMarkdown(text, 80), text.slice(0, 10)).toBeUndefined();
});

it('does not fold a word without end', async () => {
  const word = '字'.repeat(60_000);
  expect(plain(await rendered(`Tea ${word}`, 80))).toBe(`Tea ${word}`);
  expect(plain(await rendered(`| Tea |\n|---|\n| ${word} |\n`, 80))).toBe(`• Tea: ${word}`);
});

it('shows such a text, and a very long one, as it is', async () => {
  const texts = { slow: '*__a'.repeat(4_000), long: `# Long\n\n${'tea '.repeat(40_000)}` };
  const files = Object.entries(texts).map(([id, text]) => [`skills/${id}/SKILL.md`, skillMd({ name: id }, text)]);
  const root = tempFolder(Object.fromEntries(files));
  for (const [id, text] of Object.entries(texts)) {
    let stdout = '';
    const status = await runCli(['show', id, '--trust', '--root', root], {
      ...{ cwd: root, environment: {}, terminal: true, columns: 80, progress: false },
      input: async () => Buffer.from(''),
      out: (data) => {
        stdout += Buffer.from(data).toString();
      },
      err: () => {},
    });
    expect([status, stdout.trim() === text.trim()], stdout.slice(0, 200)).toEqual([0, true]);
  }
});
