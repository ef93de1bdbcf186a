import { diffWordsWithSpace } from 'diff';
import { showHidden } from '../text/index.ts';

export interface DiffRow {
  readonly kind: 'file' | 'hunk' | 'same' | 'del' | 'add' | 'note';
  /** 1-based line numbers in the old and new text; absent when the line is not in that text. */
  readonly old?: number;
  readonly next?: number;
  /** Hidden characters are visible. */
  readonly text: string;
  /** Set when only some words changed. */
  readonly parts?: readonly { readonly text: string; readonly changed: boolean }[];
}

export interface ShownDifference {
  readonly rows: readonly DiffRow[];
  /** Number of lines that are not shown. */
  readonly leftOut: number;
  readonly cut: boolean;
}

const MAX_ROWS = 4_000;
/** Per line. */
const MAX_CHARACTERS = 4_000;

/**
 * Reads a unified diff of any number of files, as the registry writes it. It counts the lines of each hunk, so that it
 * reads no removed line that begins with `--` as a header.
 */
export function parseDifference(diff: string): ShownDifference {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const rows: DiffRow[] = [];
  let cut = false;
  // Numbers of the next lines, and how many lines of the hunk are left.
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
        [old, next] = [Number(oldAt), Number(nextAt)];
        [oldLeft, nextLeft] = [Number(oldCount), Number(nextCount)];
        rows.push({ kind: 'hunk', text });
      } else rows.push({ kind: /^(?:---|\+\+\+) /.test(line) ? 'file' : 'note', text });
    }
  }
  return { rows: markWords(rows), leftOut: Math.max(0, lines.length - MAX_ROWS), cut };
}

// --- internal ---

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Limits for comparing words: number of line pairs, and characters of a line. */
const MAX_COMPARED = 200;
const LONGEST_COMPARED = 1_500;
/** With more edits, two lines count as different. */
const MAX_EDITS = 200;

function shownLine(line: string): string {
  if (line.length <= MAX_CHARACTERS) return showHidden(line);
  return `${showHidden(line.slice(0, MAX_CHARACTERS))} … (${line.length - MAX_CHARACTERS} more characters)`;
}

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
