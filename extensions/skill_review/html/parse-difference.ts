import { diffWordsWithSpace } from 'diff';
import { showHidden } from '../../../lib/text/index.ts';

/** One row of a difference. */
export interface DiffRow {
  readonly kind: 'file' | 'hunk' | 'same' | 'del' | 'add' | 'note';
  /** 1-based line number in the old and in the new text; absent where the line is not in that text. */
  readonly old?: number;
  readonly next?: number;
  /** With hidden characters made visible. */
  readonly text: string;
  /** The same text in parts, when only some of its words have changed. */
  readonly parts?: readonly { readonly text: string; readonly changed: boolean }[];
}

/** The part of a difference that is shown. */
export interface ShownDifference {
  readonly rows: readonly DiffRow[];
  /** The number of lines that are left out because the page would be too long. */
  readonly leftOut: number;
  /** Whether some line is cut. */
  readonly cut: boolean;
}

/** Lines that a page shows. */
const MAX_ROWS = 4_000;
/** Characters of a line that a page shows. */
const MAX_CHARACTERS = 4_000;

/**
 * Reads a unified diff of any number of files, as the registry writes it. The counts of a hunk say which lines are in it, so a removed
 * line that begins with `--` is not read as a header.
 */
export function parseDifference(diff: string): ShownDifference {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rows: DiffRow[] = [];
  let cut = false;
  // The position of the next line of a hunk, and the numbers of lines that are left.
  let [old, next, oldLeft, nextLeft] = [0, 0, 0, 0];
  for (const line of lines.slice(0, MAX_ROWS)) {
    if (line.length > MAX_CHARACTERS) cut = true;
    const text = shownLine(line);
    const sign = line[0];
    if (sign === '\\') rows.push({ kind: 'note', text: text.slice(1).trim() });
    else if (oldLeft + nextLeft > 0 && (sign === ' ' || sign === '-' || sign === '+')) {
      if (sign === ' ') rows.push({ kind: 'same', old, next, text: text.slice(1) });
      else if (sign === '-') rows.push({ kind: 'del', old, text: text.slice(1) });
      else rows.push({ kind: 'add', next, text: text.slice(1) });
      if (sign !== '+') [old, oldLeft] = [old + 1, oldLeft - 1];
      if (sign !== '-') [next, nextLeft] = [next + 1, nextLeft - 1];
    } else {
      const [, oldAt, oldCount = '1', nextAt, nextCount = '1'] = HUNK.exec(line) ?? [];
      if (oldAt !== undefined) {
        [old, next, oldLeft, nextLeft] = [oldAt, nextAt, oldCount, nextCount].map(Number) as [
          number,
          number,
          number,
          number,
        ];
        rows.push({ kind: 'hunk', text });
      } else rows.push({ kind: /^(?:---|\+\+\+) /.test(line) ? 'file' : 'note', text });
    }
  }
  return { rows: markWords(rows), leftOut: Math.max(0, lines.length - MAX_ROWS), cut };
}

// --- internal ---

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Lines whose words are compared, and the longest of them. */
const MAX_COMPARED = 200;
const LONGEST_COMPARED = 1_500;
/** Lines with more edits than this are treated as different lines. */
const MAX_EDITS = 200;

function shownLine(line: string): string {
  if (line.length <= MAX_CHARACTERS) return showHidden(line);
  return `${showHidden(line.slice(0, MAX_CHARACTERS))} … (${line.length - MAX_CHARACTERS} more characters)`;
}

/** Marks the changed words of removed lines that are followed by as many added ones. */
function markWords(rows: readonly DiffRow[]): readonly DiffRow[] {
  const marked = [...rows];
  let compared = 0;
  for (let at = 0; at < rows.length; at++) {
    const removed = runOf(rows, at, 'del');
    if (removed === 0) continue;
    const added = runOf(rows, at + removed, 'add');
    for (let pair = 0; pair < Math.min(removed, added) && compared < MAX_COMPARED; pair++, compared++) {
      const [del, add] = [rows[at + pair], rows[at + removed + pair]];
      const both = del && add && changedWords(del.text, add.text);
      if (!both) continue;
      marked[at + pair] = { ...del, parts: both.before };
      marked[at + removed + pair] = { ...add, parts: both.after };
    }
    at += removed + added - 1;
  }
  return marked;
}

function runOf(rows: readonly DiffRow[], from: number, kind: DiffRow['kind']): number {
  let to = from;
  while (rows[to]?.kind === kind) to++;
  return to - from;
}

/** Undefined when the lines have too few words in common. */
function changedWords(
  before: string,
  after: string,
): Record<'before' | 'after', Required<DiffRow>['parts']> | undefined {
  if (before.length > LONGEST_COMPARED || after.length > LONGEST_COMPARED) return undefined;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS });
  if (!changes) return undefined;
  const same = changes.filter(({ added, removed }) => !added && !removed);
  const kept = same.reduce((sum, { value }) => sum + value.trim().length, 0);
  if (kept * 4 < Math.min(before.length, after.length)) return undefined;
  return {
    before: changes.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: removed })),
    after: changes.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: added })),
  };
}
