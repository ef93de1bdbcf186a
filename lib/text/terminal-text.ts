import { createRequire } from 'node:module';
import type stringWidthOf from 'string-width';
import type wrapAnsiOf from 'wrap-ansi';
import { HIDDEN, isJoining } from './line.ts';
import { FLAG_EMOJI, isFlagEmoji } from './without-hidden.ts';

/**
 * Safe for a terminal: controls other than line feed and tab become `\xNN`, other invisible or bidi characters
 * `\u{NNNN}`. Joiners and emoji selectors that join, and the flags of `withoutHidden`, stay.
 */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(FLAG_OR_HIDDEN, (found, at: number, whole: string) => {
    const code = found.codePointAt(0) ?? 0;
    if (isFlagEmoji(found) || isJoining(whole, at, found)) return found;
    return code < 0x100 && code !== 0xad ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** English text and code have about four characters for each token. */
export function estimateTokens(characters: number): string {
  return `~${Math.ceil(characters / 4)}`;
}

/** `6 running, 2 off`: the most frequent first. */
export function countedWords(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

/**
 * Columns are two spaces apart; numbers and estimates are aligned to the right.
 *
 * @param width - In characters. Cuts the last column down to 20, then the widest others down to 8, then the first one;
 *   never numbers. Default: nothing is cut.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  width?: number,
): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => cellText(String(cell))));
  const numeric = header.map((_, column) => rows.length > 0 && rows.every((row) => isNumeric(row[column])));
  const last = header.length - 1;
  const widths = header.slice(0, last).map((_, column) => widest(cells, column));
  const before = (): number => widths.reduce((sum, columnWidth) => sum + columnWidth + 2, 0);
  if (width !== undefined) {
    const least = Math.min(LEAST_LAST, widest(cells, last));
    for (let over = before() + least - width; over > 0; over--) {
      const words = widths.map((columnWidth, column) => (numeric[column] ? 0 : columnWidth));
      // Last, because people give the first column to other commands.
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

/** Never inside a word: addresses are copied. Keeps indentation; with less than 20 characters beside it, all stays. */
export function wrapWords(text: string, width: number = Number.POSITIVE_INFINITY): string {
  return text
    .split('\n')
    .map((line) => foldedLine(line, width))
    .join('\n');
}

/** For a POSIX shell: in single quotes when needed. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// --- internal ---

/** Packages that few commands need: loading them takes long. */
const load = createRequire(import.meta.url);

function foldedLine(line: string, columns: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const width = columns - indent.length;
  if (line.length <= columns || width < 20) return line;
  const { default: wrapAnsi } = load('wrap-ansi') as { readonly default: typeof wrapAnsiOf };
  return wrapAnsi(line.slice(indent.length), width).replace(/^/gm, indent);
}

/** Characters that stay of the last column, and of each of the others. */
const LEAST_LAST = 20;
const LEAST_OTHER = 8;

const FLAG_OR_HIDDEN = new RegExp(`${FLAG_EMOJI}|${HIDDEN.source}`, 'gu');

/** Fast for plain words: a table may have very many cells. */
function cellText(cell: string): string {
  return /^(?:[\x21-\x7e]| (?! ))*$/.test(cell) ? cell : printable(cell).replace(/\s+/g, ' ');
}

function isNumeric(cell: string | number | undefined): boolean {
  return typeof cell === 'number' || cell === '-' || (cell !== undefined && /^~\d+$/.test(cell));
}

function widest(cells: readonly (readonly string[])[], column: number): number {
  return cells.reduce((most, row) => Math.max(most, stringWidth(row[column] ?? '')), 0);
}

function stringWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return (load('string-width') as { readonly default: typeof stringWidthOf }).default(text);
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
