import type { LineEnd } from './lines.ts';

export interface HunkLine {
  /** Unchanged, removed or added. */
  readonly kind: ' ' | '-' | '+';
  /** Without sign and line end. */
  readonly text: string;
  /** Of an unchanged line: the line with the leading blank, should that be part of it and no sign. */
  readonly unsigned?: string;
  /** `\ No newline at end of file` follows. */
  readonly noNewline?: boolean;
  /** `\ Line ends with CRLF` follows. */
  readonly end?: LineEnd;
}

export interface Hunk {
  readonly lines: readonly HunkLine[];
  /** 1-based, as its `@@` line claims. Told in notes, never relied upon. */
  readonly oldStart?: number;
  /** Its `@@` line gives other numbers of lines than it has. */
  readonly miscounted?: boolean;
  /** What its `@@` line says beside the numbers. */
  readonly heading?: string;
  /** `*** End of File` follows: it belongs at the end of the file. */
  readonly atEnd?: boolean;
  /** So many lines at its end may be words that follow the diff. */
  readonly looseTail?: number;
}

/** Names of line ends in a diff. */
export const LINE_ENDS: Readonly<Record<string, LineEnd>> = { LF: '\n', CRLF: '\r\n', CR: '\r' };

/** The lines a hunk expects in the file. */
export function oldSide(lines: readonly HunkLine[]): readonly HunkLine[] {
  return lines.filter(({ kind }) => kind !== '+');
}

/** The lines a hunk leaves behind. */
export function newSide(lines: readonly HunkLine[]): readonly HunkLine[] {
  return lines.filter(({ kind }) => kind !== '-');
}

/** How many unchanged lines a hunk begins and ends with. */
export function outerContext(lines: readonly HunkLine[]): { readonly top: number; readonly bottom: number } {
  const top = lines.findIndex(({ kind }) => kind !== ' ');
  const last = lines.findLastIndex(({ kind }) => kind !== ' ');
  return top === -1 ? { top: lines.length, bottom: 0 } : { top, bottom: lines.length - 1 - last };
}

export function isChange({ kind }: HunkLine): boolean {
  return kind !== ' ';
}

/** What a `@@` line says. */
export interface HunkHeader {
  readonly oldStart?: number;
  readonly heading?: string;
  /** Only where the line is as the format wants it. */
  readonly counts?: { readonly old: number; readonly new: number };
}

/** Also `@@`, `@@ ... @@ heading`, `@@ heading` and numbers with gaps. */
export function readHunkHeader(row: string): HunkHeader {
  const close = row.indexOf('@@', 2);
  const inner = close === -1 ? row.slice(2) : row.slice(2, close);
  const after = close === -1 ? '' : row.slice(close + 2).trim();
  const numbers = /(?:^|\s)-\s?(\d{1,9})/.exec(inner.slice(0, 100));
  const heading = after || (numbers ? '' : inner.trim().replace(/^\.+$|^…$/, ''));
  const [standard, , old = '1', , added = '1'] = STANDARD.exec(row) ?? [];
  return {
    ...(numbers ? { oldStart: Number(numbers[1]) } : {}),
    ...(heading === '' ? {} : { heading }),
    ...(standard === undefined ? {} : { counts: { old: Number(old), new: Number(added) } }),
  };
}

export interface HunkBody {
  readonly lines: readonly HunkLine[];
  /** How many of the last lines bear no sign, from a blank one on: they may be words after the diff. */
  readonly looseTail: number;
}

/**
 * The lines of a hunk from its rows. A row without a sign is an unchanged line that lost its blank; so is `---` or `+++`
 * alone, which is a fence of frontmatter far more often than a change of `--`.
 *
 * @param exact - Take the signs as they are: the counts of the hunk say so.
 */
export function readHunkBody(rows: readonly string[], exact: boolean): HunkBody {
  const lines: HunkLine[] = [];
  let looseFrom = 0;
  let signedUntil = 0;
  for (const row of rows) {
    const sign = row[0];
    if (sign === '\\' && annotate(lines, row)) continue;
    if (row === '') {
      if (looseFrom <= signedUntil) looseFrom = lines.length + 1;
      lines.push({ kind: ' ', text: '' });
    } else if (sign === ' ') lines.push({ kind: ' ', text: row.slice(1), unsigned: row });
    else if ((sign === '+' || sign === '-') && (exact || !/^(?:---|\+\+\+)$/.test(row))) {
      lines.push({ kind: sign, text: row.slice(1) });
    } else {
      lines.push({ kind: ' ', text: row });
      continue;
    }
    if (row !== '') signedUntil = lines.length;
  }
  if (exact) return { lines, looseTail: 0 };
  while (lines.length > signedUntil && lines.at(-1)?.text === '') lines.pop();
  const looseTail = looseFrom > signedUntil && looseFrom <= lines.length ? lines.length - looseFrom + 1 : 0;
  return { lines, looseTail };
}

// --- internal ---

const STANDARD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** Takes a row such as `\ No newline at end of file` to the line before it; false when the row is none such. */
function annotate(lines: HunkLine[], row: string): boolean {
  const end = LINE_ENDS[/^\\ Line ends with (LF|CRLF|CR)$/.exec(row)?.[1] ?? ''];
  const noNewline = /^\\ ?(?:no newline|no new line)/i.test(row);
  if (!end && !noNewline) return row.startsWith('\\ ') && lines.length > 0;
  const last = lines.pop();
  if (last) lines.push({ ...last, ...(end ? { end } : { noNewline: true }) });
  return true;
}
