// Only this file of the package: every command loads it.
import { diffArrays } from 'diff/lib/diff/array.js';

export type LineEnd = '\n' | '\r\n' | '\r';

/** `bom + lines.join('')` is the text. */
export interface LinedText {
  readonly bom: '' | '\ufeff';
  /** With their line ends; the last line may have none. Empty for an empty text. */
  readonly lines: readonly string[];
}

export const LINE_ENDS: Readonly<Record<string, LineEnd>> = { LF: '\n', CRLF: '\r\n', CR: '\r' };

export function splitLines(text: string): LinedText {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const lines: string[] = [];
  let start = bom.length;
  // Only the ends are matched: over a line of megabytes, an expression for lines can need more memory than it may use.
  for (const ends = /\r\n?|\n/g; ends.test(text); start = ends.lastIndex) lines.push(text.slice(start, ends.lastIndex));
  if (start < text.length) lines.push(text.slice(start));
  return { bom, lines };
}

/** An empty line after a line that ends with CR gets CR: its LF would become part of the line before. */
export function joinLines(bom: string, lines: readonly string[]): string {
  return bom + lines.map((line, at) => (line === '\n' && lines[at - 1]?.endsWith('\r') ? '\r' : line)).join('');
}

export function withoutLineEnd(line: string): string {
  return line.slice(0, line.length - endOf(line).length);
}

export function endOf(line: string): LineEnd | '' {
  if (line.endsWith('\r\n')) return '\r\n';
  if (line.endsWith('\n')) return '\n';
  return line.endsWith('\r') ? '\r' : '';
}

/** Undefined when no line has an end. When two are equally frequent: LF, then CRLF. */
export function usualEnd(lines: readonly string[]): LineEnd | undefined {
  const counts = { '\n': 0, '\r\n': 0, '\r': 0 };
  for (const line of lines) {
    const end = endOf(line);
    if (end !== '') counts[end]++;
  }
  const most = Math.max(...Object.values(counts));
  return most === 0 ? undefined : (['\n', '\r\n', '\r'] as const).find((end) => counts[end] === most);
}

/**
 * The proposed text with the byte order mark and the line ends of `current`. Unchanged lines keep their bytes. New
 * lines get the line end that most lines have, or keep their own when `current` has none.
 *
 * The last line has a line end when it has one in either text: models lose it by accident, because tools that read
 * files trim it. A diff can remove it, with `\ No newline at end of file`.
 */
export function adoptLineEndings(current: string, proposed: string): string {
  const now = splitLines(current);
  const next = splitLines(proposed);
  const usual = usualEnd(now.lines);
  const mayLackEnd = endOf(now.lines.at(-1) ?? '') === '';
  const edits = lineEdits(now.lines.map(withoutLineEnd), next.lines.map(withoutLineEnd));
  let edit = 0;
  const adopted = next.lines.map((line, at) => {
    while ((edits[edit]?.newEnd ?? Number.POSITIVE_INFINITY) <= at) edit++;
    const own = endOf(line);
    if (at === next.lines.length - 1 && own === '' && mayLackEnd) return line;
    const isNew = at >= (edits[edit]?.newStart ?? Number.POSITIVE_INFINITY);
    const before = edits[edit - 1];
    const kept = isNew ? '' : endOf(now.lines[at + (before ? before.oldEnd - before.newEnd : 0)] ?? '');
    return withoutLineEnd(line) + (kept || usual || own);
  });
  return joinLines(now.bom, adopted);
}

/** 0-based; the ends are exclusive. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Largest edit distance: the work grows with its square. */
const MAX_DISTANCE = 2000;
/** Largest product of distance and number of lines: limits the work when lines repeat. */
const MAX_WORK = 100_000_000;

/** Ascending and as few as possible; one edit for everything when that would take too long. */
export function lineEdits(before: readonly string[], after: readonly string[]): readonly LineEdit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (oldEnd > head && newEnd > head && before[oldEnd - 1] === after[newEnd - 1])
    [oldEnd, newEnd] = [oldEnd - 1, newEnd - 1];
  // Compares numbers, because comparing long equal texts is slow. Lines that only one list has are left out: they never
  // match, and without them the edit distance of most texts is small.
  const ids = new Map<string, number>();
  const oldIds = before.slice(head, oldEnd).map((line) => {
    const known = ids.get(line);
    if (known === undefined) ids.set(line, ids.size);
    return known ?? ids.size - 1;
  });
  const nextIds = after.slice(head, newEnd).map((line) => ids.get(line) ?? -1);
  const shared = new Set(nextIds);
  shared.delete(-1);
  const [old, next] = [placesOf(oldIds, shared), placesOf(nextIds, shared)];
  const maxEditLength = Math.min(MAX_DISTANCE, Math.ceil(MAX_WORK / (old.length + next.length + 1)));
  const edits: LineEdit[] = [];
  let [oldStart, newStart] = [head, head];
  const endEdit = (oldStop: number, newStop: number): void => {
    if (oldStop > oldStart || newStop > newStart) edits.push({ oldStart, oldEnd: oldStop, newStart, newEnd: newStop });
    [oldStart, newStart] = [oldStop + 1, newStop + 1];
  };
  const [oldLines, nextLines] = [old.map((at) => oldIds[at]), next.map((at) => nextIds[at])];
  let [oldAt, newAt] = [0, 0];
  for (const { added, removed, count } of diffArrays(oldLines, nextLines, { maxEditLength }) ?? []) {
    for (let step = 0; step < count; step++) {
      if (!added && !removed) endEdit(head + (old[oldAt] as number), head + (next[newAt] as number));
      if (!added) oldAt++;
      if (!removed) newAt++;
    }
  }
  endEdit(oldEnd, newEnd);
  return edits;
}

// --- internal ---

/** A list of numbers, because one of millions of objects takes many times as long. */
function placesOf(ids: readonly number[], wanted: ReadonlySet<number>): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at < ids.length; at++) if (wanted.has(ids[at] as number)) places.push(at);
  return places;
}
