import { LINE_ENDS } from './hunk.ts';
import {
  endOf,
  type LinedText,
  type LineEdit,
  type LineEnd,
  lineEdits,
  splitLines,
  textOf,
  usualEnd,
} from './lines.ts';
import { createLineSearch, type LineSearch } from './search-lines.ts';

/**
 * The unified diff that `applyDiff` makes into `after` again, byte for byte: `--- a/<path>`, `+++ b/<path>`, lines ended by LF,
 * `\ No newline at end of file` where due. Empty for equal texts.
 *
 * - Context is 3 lines, and more where 3 would fit in several places: a reader may rely on the text and ignore the numbers.
 * - What a diff with LF lines cannot carry is said in words: `added lines end with CRLF` above it, when that is not what most
 *   lines of `before` do; `\ Line ends with CR` below a line that differs even from that; `byte order mark added|removed`.
 *
 * Larger texts may give more than `MAX_DIFF_BYTES`, which `applyDiff` refuses.
 *
 * @param before - `null` when the file is not there. So is `after`: `applyDiff` refuses that diff, for it deletes the file.
 */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const old = splitLines(before ?? '');
  const next = splitLines(after ?? '');
  const edits = lineEdits(old.lines, next.lines);
  const ends = endsOfAdded(old, next, edits);
  const rows = [
    ...(old.bom === next.bom ? [] : [`byte order mark ${next.bom === '' ? 'removed' : 'added'}`]),
    ...(ends.stated === undefined ? [] : [`added lines end with ${nameOf(ends.stated)}`]),
    `--- ${before === null ? '/dev/null' : writeName(`a/${path}`)}`,
    `+++ ${after === null ? '/dev/null' : writeName(`b/${path}`)}`,
  ];
  for (const group of groupEdits(old.lines, edits)) pushHunk(rows, group, old.lines, next.lines, ends.assumed);
  return `${rows.join('\n')}\n`;
}

// --- internal ---

const CONTEXT = 3;

/** Edits that share a hunk, and the lines of `before` it shows. */
interface Group {
  readonly edits: readonly LineEdit[];
  /** 0-based, the end exclusive. */
  readonly from: number;
  readonly to: number;
}

/** The end that lines without a remark get, and the one to state because it is not the usual one. */
function endsOfAdded(
  old: LinedText,
  next: LinedText,
  edits: readonly LineEdit[],
): { readonly assumed: LineEnd; readonly stated?: LineEnd } {
  const byDefault = usualEnd(old.lines) ?? '\n';
  const added = edits.flatMap(({ newStart, newEnd }) => next.lines.slice(newStart, newEnd));
  const assumed = usualEnd(added) ?? byDefault;
  return assumed === byDefault ? { assumed } : { assumed, stated: assumed };
}

function nameOf(end: LineEnd): string {
  return Object.keys(LINE_ENDS).find((name) => LINE_ENDS[name] === end) as string;
}

/** Hunks whose lines of `before` are there only once. */
function groupEdits(before: readonly string[], edits: readonly LineEdit[]): readonly Group[] {
  const texts = before.map(textOf);
  const search = createLineSearch(texts);
  const contexts = edits.map(() => CONTEXT);
  for (;;) {
    const groups = mergeNear(edits, contexts, before.length);
    const ambiguous = groups.filter((group) => !isOnlyOne(group, texts, search));
    if (ambiguous.length === 0) return groups;
    if (search.exhausted()) return [{ edits, from: 0, to: before.length }];
    const grow = new Set(ambiguous.flatMap((group) => group.edits));
    for (const [at, edit] of edits.entries()) if (grow.has(edit)) contexts[at] = 2 * (contexts[at] as number);
  }
}

function isOnlyOne({ from, to }: Group, texts: readonly string[], search: LineSearch): boolean {
  if (to - from === texts.length) return true;
  const run = texts.slice(from, to).map((text) => [text]);
  return search.find(run, 'exact').length === 1;
}

function mergeNear(edits: readonly LineEdit[], contexts: readonly number[], length: number): readonly Group[] {
  const groups: { edits: LineEdit[]; from: number; to: number }[] = [];
  for (const [at, edit] of edits.entries()) {
    const context = contexts[at] as number;
    let group = {
      edits: [edit],
      from: Math.max(0, edit.oldStart - context),
      to: Math.min(length, edit.oldEnd + context),
    };
    for (let last = groups.at(-1); last && group.from <= last.to; last = groups.at(-1)) {
      last.edits.push(...group.edits);
      group = { edits: last.edits, from: Math.min(last.from, group.from), to: Math.max(last.to, group.to) };
      groups.pop();
    }
    groups.push(group);
  }
  return groups;
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
  const newFrom = first.newStart - (first.oldStart - from);
  const newTo = last.newEnd + (to - last.oldEnd);
  rows.push(`@@ -${range(from, to)} +${range(newFrom, newTo)} @@`);
  const push = (sign: ' ' | '-' | '+', line: string): void => {
    const end = endOf(line);
    rows.push(sign + textOf(line));
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

/** Lines of a text as a `@@` line has them: 1-based, with their number; of none, the line before. */
function range(from: number, to: number): string {
  if (to === from) return `${from},0`;
  return to - from === 1 ? `${to}` : `${from + 1},${to - from}`;
}

/** The name as a header of ours has it: in quotes when it would not be one line. */
function writeName(name: string): string {
  return /[\p{Cc}"\\]|^\s|\s$| {2}/u.test(name) ? JSON.stringify(name) : name;
}
