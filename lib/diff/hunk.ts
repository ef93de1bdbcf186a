import type { LineEnd } from './line-text.ts';

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
