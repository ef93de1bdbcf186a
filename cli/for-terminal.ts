import { styleText } from 'node:util';
import wrapAnsi from 'wrap-ansi';
import type { Terminal } from './terminal.ts';

/**
 * A described change as a terminal shows it: added and removed lines and findings in colour unless NO_COLOR is set, indented words
 * wrapped. It has to be safe for a terminal already.
 *
 * @param isTerminal - Whether what it is written to is a terminal; otherwise it stays as it is.
 */
export function forTerminal(
  text: string,
  { columns, environment }: Pick<Terminal, 'columns' | 'environment'>,
  isTerminal: boolean,
): string {
  if (!isTerminal) return text;
  let part: 'difference' | 'checks' | 'words' = 'words';
  const shown = text.split('\n').map((line) => {
    // What an author wrote is indented wherever it is no line of a difference, so it begins no part.
    if (line.startsWith('--- ')) part = 'difference';
    else if (line === 'Checks') part = 'checks';
    else if (line === '') part = 'words';
    const style = environment.NO_COLOR ? undefined : STYLES[part].find(([begins]) => begins.test(line))?.[1];
    const lines = part === 'difference' ? line : wrapped(line, columns);
    return style === undefined ? lines : styleText(style, lines, { validateStream: false });
  });
  return shown.join('\n');
}

// --- internal ---

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<'difference' | 'checks' | 'words', readonly (readonly [RegExp, Style])[]>> = {
  difference: [
    [/^(?:---|\+\+\+) /, 'bold'],
    [/^\+/, 'green'],
    [/^-/, 'red'],
    [/^@@/, 'cyan'],
  ],
  checks: [
    [/^ {2}!! /, ['red', 'bold']],
    [/^ {2}! /, 'yellow'],
  ],
  words: [[/^\S+$/, 'bold']],
};

/** Wraps at words; what follows is indented as the line is. */
function wrapped(line: string, columns = Number.POSITIVE_INFINITY): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const width = columns - indent.length;
  if (line.length <= columns || width < 20) return line;
  return wrapAnsi(line.slice(indent.length), width, { hard: true }).replace(/^/gm, indent);
}
