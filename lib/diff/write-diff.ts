import {
  endOf,
  LINE_ENDS,
  type LineEdit,
  type LineEnd,
  lineEdits,
  splitLines,
  usualEnd,
  withoutLineEnd,
} from './lines.ts';
import { LineSearch } from './search-lines.ts';

/**
 * `applyDiff` makes `after` of this diff again, byte for byte. Empty for equal texts. Lines end with LF; context is 3
 * lines, and more when 3 would fit at several positions, so that line numbers are not needed. Extra headers say what
 * the format cannot: see `parseDiff`. Large texts may give more than `MAX_DIFF_BYTES`, which `applyDiff` refuses.
 *
 * @param before - `null` when the file does not exist.
 * @param after - `null` when the file is deleted; `applyDiff` refuses that diff.
 */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const old = splitLines(before ?? '');
  const next = splitLines(after ?? '');
  const edits = lineEdits(old.lines, next.lines);
  const byDefault = usualEnd(old.lines) ?? '\n';
  // Of added lines without a remark; a header names it when it is not the usual one.
  const assumed = usualEnd(edits.flatMap(({ newStart, newEnd }) => next.lines.slice(newStart, newEnd))) ?? byDefault;
  const rows = [
    ...(old.bom === next.bom ? [] : [`byte order mark ${next.bom === '' ? 'removed' : 'added'}`]),
    ...(assumed === byDefault ? [] : [`added lines end with ${nameOf(assumed)}`]),
    `--- ${before === null ? '/dev/null' : quoteName(`a/${path}`)}`,
    `+++ ${after === null ? '/dev/null' : quoteName(`b/${path}`)}`,
  ];
  for (const group of groupEdits(old.lines, edits)) pushHunk(rows, group, old.lines, next.lines, assumed);
  return `${rows.join('\n')}\n`;
}

// --- internal ---

const CONTEXT = 3;

interface Group {
  readonly edits: readonly LineEdit[];
  /** 0-based; the end is exclusive. */
  readonly from: number;
  readonly to: number;
}

function nameOf(end: LineEnd): string {
  return Object.keys(LINE_ENDS).find((name) => LINE_ENDS[name] === end) as string;
}

/** In quotes when the name has control characters, quotes, or blanks that a reader would trim. */
function quoteName(name: string): string {
  return /[\p{Cc}"\\]|^\s|\s$| {2}/u.test(name) ? JSON.stringify(name) : name;
}

/** Groups whose lines of `before` occur only once. */
function groupEdits(before: readonly string[], edits: readonly LineEdit[]): readonly Group[] {
  const texts = before.map(withoutLineEnd);
  const search = new LineSearch(texts);
  const contexts = new Map(edits.map((edit) => [edit, CONTEXT]));
  for (;;) {
    const groups: { edits: LineEdit[]; from: number; to: number }[] = [];
    for (const [edit, context] of contexts) {
      let group = {
        edits: [edit],
        from: Math.max(0, edit.oldStart - context),
        to: Math.min(before.length, edit.oldEnd + context),
      };
      for (let last = groups.at(-1); last && group.from <= last.to; last = groups.at(-1)) {
        last.edits.push(...group.edits);
        group = { edits: last.edits, from: Math.min(last.from, group.from), to: Math.max(last.to, group.to) };
        groups.pop();
      }
      groups.push(group);
    }
    const ambiguous = groups.filter(({ from, to }) => {
      if (to - from === texts.length) return false;
      const run = texts.slice(from, to).map((text) => [text]);
      return search.find(run, 'exact').length !== 1;
    });
    if (ambiguous.length === 0) return groups;
    if (search.exhausted()) return [{ edits, from: 0, to: before.length }];
    for (const edit of ambiguous.flatMap((group) => group.edits))
      contexts.set(edit, 2 * (contexts.get(edit) as number));
  }
}

function pushHunk(
  rows: string[],
  { edits, from, to }: Group,
  before: readonly string[],
  after: readonly string[],
  assumed: LineEnd,
): void {
  const first = edits[0] as LineEdit;
  const last = edits.at(-1) as LineEdit;
  const shown = [
    [from, to],
    [first.newStart - (first.oldStart - from), last.newEnd + (to - last.oldEnd)],
  ] as const;
  // 1-based, with the number of lines; without lines, the line before.
  const [old, next] = shown.map(([start, end]) => {
    if (end === start) return `${start},0`;
    return end - start === 1 ? `${end}` : `${start + 1},${end - start}`;
  });
  rows.push(`@@ -${old} +${next} @@`);
  const push = (sign: ' ' | '-' | '+', line: string): void => {
    const end = endOf(line);
    rows.push(sign + withoutLineEnd(line));
    if (end === '') rows.push('\\ No newline at end of file');
    else if (sign === '+' && end !== assumed) rows.push(`\\ Line ends with ${nameOf(end)}`);
  };
  let at = from;
  for (const { oldStart, oldEnd, newStart, newEnd } of edits) {
    for (; at < oldStart; at++) push(' ', before[at] as string);
    for (; at < oldEnd; at++) push('-', before[at] as string);
    for (let added = newStart; added < newEnd; added++) push('+', after[added] as string);
  }
  for (; at < to; at++) push(' ', before[at] as string);
}
