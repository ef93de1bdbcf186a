import { createRequire } from 'node:module';
import type stringWidthOf from 'string-width';
import type wrapAnsiOf from 'wrap-ansi';
import { HIDDEN, isJoining } from './line.ts';
import { FLAG_EMOJI, isFlagEmoji } from './without-hidden.ts';

/**
 * Text that is safe to write to a terminal: control characters other than line feed and tab are written as `\xNN`, other characters
 * that are invisible or change the direction of the text as `\u{NNNN}`. Joiners and emoji selectors that join, and the flags of
 * `withoutHidden`, stay.
 */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(FLAG_OR_HIDDEN, (found, at: number, whole: string) => {
    const code = found.codePointAt(0) ?? 0;
    const isShown = found === '\n' || found === '\t' || isFlagEmoji(found) || isJoining(whole, at, found);
    if (isShown) return found;
    return code < 0x100 && code !== 0xad ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** An estimate of tokens for a table: English text and code have about four characters for each. */
export function estimateTokens(characters: number): string {
  return `~${Math.ceil(characters / 4)}`;
}

/** `6 running, 2 off`: how often each word is there, the most frequent first. */
export function countedWords(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

/**
 * Rows in aligned columns, two spaces apart. Columns of numbers and estimates are aligned to the right.
 *
 * @param width - Width of the terminal in characters: the last column is cut to fit, down to 20 characters, then the others, the widest
 *   one first, down to 8 each, and then the first one; numbers are never cut. Default: nothing is cut.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  width?: number,
): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => cellText(String(cell))));
  const numeric = header.map((_, column) => rows.length > 0 && rows.every((row) => isNumeric(row[column])));
  const last = header.length - 1;
  // The last column needs no padding.
  const widths = header.slice(0, last).map((_, column) => widest(cells, column));
  const before = (): number => widths.reduce((sum, columnWidth) => sum + columnWidth + 2, 0);
  if (width !== undefined) {
    const least = Math.min(LEAST_LAST, widest(cells, last));
    for (let over = before() + least - width; over > 0; over--) {
      const words = widths.map((columnWidth, column) => (numeric[column] ? 0 : columnWidth));
      // The first column is what a person gives to another command, so it is cut last.
      const [first = 0, ...others] = words;
      const most = Math.max(0, ...others);
      if (most > LEAST_OTHER) widths[others.indexOf(most) + 1] = most - 1;
      else if (first > LEAST_OTHER) widths[0] = first - 1;
      else break;
    }
  }
  const lastWidth = width === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST_OTHER, width - before());
  return cells
    .map((row) =>
      row
        .map((whole, column) => {
          if (column === last) return lastWidth === Number.POSITIVE_INFINITY ? whole : cut(whole, lastWidth);
          const columnWidth = widths[column] ?? 0;
          const cell = width === undefined ? whole : cut(whole, columnWidth);
          const padding = ' '.repeat(columnWidth - stringWidth(cell));
          return numeric[column] ? padding + cell : cell + padding;
        })
        .join('  '),
    )
    .join('\n');
}

/**
 * Text with its lines wrapped at words, never in one: addresses are copied. What follows is indented as the line is. With less
 * than 20 characters beside the indentation a line stays as it is.
 */
export function wrapWords(text: string, width: number = Number.POSITIVE_INFINITY): string {
  return text
    .split('\n')
    .map((line) => foldedLine(line, width))
    .join('\n');
}

/** A word as a POSIX shell reads it: in single quotes where it would read something else. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// --- internal ---

let wrapAnsi: typeof wrapAnsiOf | undefined;

/** The package is loaded for the first line that is too long. */
function foldedLine(line: string, columns: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const width = columns - indent.length;
  if (line.length <= columns || width < 20) return line;
  wrapAnsi ??= (createRequire(import.meta.url)('wrap-ansi') as { readonly default: typeof wrapAnsiOf }).default;
  return wrapAnsi(line.slice(indent.length), width).replace(/^/gm, indent);
}

/** Characters that are left of the last column, and of each of the others, in a narrow terminal. */
const LEAST_LAST = 20;
const LEAST_OTHER = 8;

const FLAG_OR_HIDDEN = new RegExp(`${FLAG_EMOJI}|${HIDDEN.source}`, 'gu');

/** A cell on one line. Fast for plain words, because a table may have very many cells. */
function cellText(cell: string): string {
  return /^(?:[\x21-\x7e]| (?! ))*$/.test(cell) ? cell : printable(cell).replace(/\s+/g, ' ');
}

function isNumeric(cell: string | number | undefined): boolean {
  return typeof cell === 'number' || cell === '-' || (cell !== undefined && /^~\d+$/.test(cell));
}

function widest(cells: readonly (readonly string[])[], column: number): number {
  return cells.reduce((most, row) => Math.max(most, stringWidth(row[column] ?? '')), 0);
}

let loaded: typeof stringWidthOf | undefined;

/** Width on a terminal, in characters. The package is only loaded for text beyond ASCII, because that takes long. */
function stringWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  loaded ??= (createRequire(import.meta.url)('string-width') as { readonly default: typeof stringWidthOf }).default;
  return loaded(text);
}

function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const char of text) {
    used += stringWidth(char);
    if (used > width) break;
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}
