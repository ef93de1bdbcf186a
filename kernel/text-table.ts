import stringWidth from 'string-width';

/**
 * Text that a terminal shows and does not obey: control characters other than line feed and tab are written as `\xNN`,
 * marks that reorder what stands around them as `\u{NNNN}`.
 */
export function printable(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);
}

/**
 * Rows in aligned columns, two spaces apart. Numbers are set to the right.
 *
 * @param width - Columns of the terminal: the last column is cut to fit. Absent: nothing is cut.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  width?: number,
): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => printable(String(cell)).replace(/\s+/g, ' ')));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))));
  const numeric = header.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  const last = header.length - 1;
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + 2, 0);
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(10, width - before);
  return cells
    .map((row) =>
      row
        .map((cell, column) => {
          if (column === last) return cut(cell, room);
          const padding = ' '.repeat((widths[column] ?? 0) - stringWidth(cell));
          return numeric[column] ? padding + cell : cell + padding;
        })
        .join('  '),
    )
    .join('\n');
}

// --- internal ---

function cut(text: string, room: number): string {
  if (stringWidth(text) <= room) return text;
  let kept = '';
  let used = 1;
  for (const char of text) {
    used += stringWidth(char);
    if (used > room) break;
    kept += char;
  }
  return `${kept.trimEnd()}…`;
}
