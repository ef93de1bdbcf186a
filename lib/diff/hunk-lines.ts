import { type HunkLine, LINE_ENDS } from './hunk.ts';

/** What a `@@` line says. */
export interface HunkHeader {
  readonly oldStart?: number;
  readonly heading?: string;
  /** Only where the line is as the format wants it. */
  readonly counts?: { readonly old: number; readonly new: number };
}

const STANDARD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

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

/** Takes a row such as `\ No newline at end of file` to the line before it; false when the row is none such. */
function annotate(lines: HunkLine[], row: string): boolean {
  const end = LINE_ENDS[/^\\ Line ends with (LF|CRLF|CR)$/.exec(row)?.[1] ?? ''];
  const noNewline = /^\\ ?(?:no newline|no new line)/i.test(row);
  if (!end && !noNewline) return row.startsWith('\\ ') && lines.length > 0;
  const last = lines.pop();
  if (last) lines.push({ ...last, ...(end ? { end } : { noNewline: true }) });
  return true;
}
