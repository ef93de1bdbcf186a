import { diffArrays } from 'diff';

export type LineEnd = '\n' | '\r\n' | '\r';

/** A text in lines; `bom + lines.join('')` is the text again. */
export interface LinedText {
  readonly bom: '' | '\ufeff';
  /** Each with its own line end; the last may have none. Empty for an empty text. */
  readonly lines: readonly string[];
}

/** Lines end with LF, CRLF or CR. */
export function splitLines(text: string): LinedText {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const lines: string[] = [];
  let start = bom.length;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 10 && code !== 13) continue;
    if (code === 13 && text.charCodeAt(at + 1) === 10) at++;
    lines.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return { bom, lines };
}

/** A text of lines. A blank line after one that ends with CR ends so, too: its LF would become part of the line before. */
export function joinLines(bom: string, lines: readonly string[]): string {
  const joins = (line: string, at: number): boolean => line === '\n' && lines[at - 1]?.endsWith('\r') === true;
  return bom + lines.map((line, at) => (joins(line, at) ? '\r' : line)).join('');
}

/** A line without its end. */
export function textOf(line: string): string {
  return line.slice(0, line.length - endOf(line).length);
}

export function endOf(line: string): LineEnd | '' {
  if (line.endsWith('\r\n')) return '\r\n';
  if (line.endsWith('\n')) return '\n';
  return line.endsWith('\r') ? '\r' : '';
}

/** The end most lines have; undefined when none has one. Of equally many LF wins, then CRLF. */
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
 * The proposed whole text with BOM and line endings of `current`: an unchanged line keeps its bytes, a new one takes the
 * ending most lines have, or its own where `current` has no line end at all.
 *
 * The final newline is there when either text has one. Whoever writes a whole text loses it by accident, because reading
 * tools trim; nobody leaves it out on purpose. A diff can say it, with `\ No newline at end of file`.
 */
export function adoptLineEndings(current: string, proposed: string): string {
  const now = splitLines(current);
  const next = splitLines(proposed);
  const usual = usualEnd(now.lines);
  const keptFrom = matchLines(now.lines.map(textOf), next.lines.map(textOf));
  const adopted = next.lines.map((line, at) => {
    const own = endOf(line);
    const isLast = at === next.lines.length - 1;
    if (isLast && own === '' && endOf(now.lines.at(-1) ?? '') === '') return line;
    const kept = endOf(now.lines[keptFrom.get(at) ?? -1] ?? '');
    return textOf(line) + (kept || usual || own);
  });
  return joinLines(now.bom, adopted);
}

/** Lines `oldStart` up to `oldEnd` (0-based, exclusive) became lines `newStart` up to `newEnd`. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/**
 * The fewest edits that make one list of lines the other, ascending, with unchanged lines between any two. Where that would
 * take too long, one edit from the first difference to the last.
 */
export function lineEdits(before: readonly string[], after: readonly string[]): readonly LineEdit[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const oldEnd = before.length - tail;
  const newEnd = after.length - tail;
  const common = commonLines(before.slice(head, oldEnd), after.slice(head, newEnd));
  const edits: LineEdit[] = [];
  let [oldAt, newAt] = [head, head];
  for (const [oldNext, newNext] of [...common, [oldEnd - head, newEnd - head] as const]) {
    const [oldStop, newStop] = [oldNext + head, newNext + head];
    if (oldStop > oldAt || newStop > newAt) {
      edits.push({ oldStart: oldAt, oldEnd: oldStop, newStart: newAt, newEnd: newStop });
    }
    [oldAt, newAt] = [oldStop + 1, newStop + 1];
  }
  return edits;
}

/** A line in quotes, at most 80 characters of it; whatever is invisible, the blank excepted, as an escape. */
export function quoteLine(text: string): string {
  return quotePart(text, 0);
}

/** Two lines in quotes, cut so that the first difference shows. */
export function quoteDifferent(one: string, other: string): readonly [string, string] {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const longest = Math.max(one.length, other.length);
  const from = longest <= SHOWN ? 0 : Math.max(0, same - BEFORE_DIFFERENCE);
  return [quotePart(one, from), quotePart(other, from)];
}

// --- internal ---

/** For every line of `after` that was in `before`: where it was. */
function matchLines(before: readonly string[], after: readonly string[]): ReadonlyMap<number, number> {
  const matches = new Map<number, number>();
  let [oldAt, newAt] = [0, 0];
  const end = { oldStart: before.length, oldEnd: before.length, newStart: after.length, newEnd: after.length };
  for (const edit of [...lineEdits(before, after), end]) {
    while (newAt < edit.newStart) matches.set(newAt++, oldAt++);
    [oldAt, newAt] = [edit.oldEnd, edit.newEnd];
  }
  return matches;
}

/** An edit distance over this is not searched for: the work grows with its square. */
const MAX_DISTANCE = 2000;
/** Distance times lines, which bounds the work where lines repeat. */
const MAX_WORK = 100_000_000;

/** Where the longest common part of two lists has its lines, in both; none when that would take too long. */
function commonLines(before: readonly string[], after: readonly string[]): readonly (readonly [number, number])[] {
  // Numbers for lines: to compare long texts that are equal costs their length every time.
  const ids = new Map<string, number>();
  for (const line of before) if (!ids.has(line)) ids.set(line, ids.size);
  const shared = new Set<number>();
  for (const line of after) {
    const id = ids.get(line);
    if (id !== undefined) shared.add(id);
  }
  // Lines that only one list has can have no counterpart; without them most rewritten texts are near each other.
  const candidates = (lines: readonly string[]): { readonly id: number; readonly at: number }[] =>
    lines.flatMap((line, at) => {
      const id = ids.get(line);
      return id !== undefined && shared.has(id) ? [{ id, at }] : [];
    });
  const [old, next] = [candidates(before), candidates(after)];
  const maxEditLength = Math.min(MAX_DISTANCE, Math.ceil(MAX_WORK / (old.length + next.length + 1)));
  const changes = diffArrays(
    old.map(({ id }) => id),
    next.map(({ id }) => id),
    { maxEditLength },
  );
  const pairs: (readonly [number, number])[] = [];
  let [oldAt, newAt] = [0, 0];
  for (const { added, removed, count } of changes ?? []) {
    for (let step = 0; step < count; step++) {
      const [one, other] = [old[oldAt]?.at, next[newAt]?.at];
      if (!added && !removed) pairs.push([one as number, other as number]);
      if (!added) oldAt++;
      if (!removed) newAt++;
    }
  }
  return pairs;
}

const SHOWN = 80;
const BEFORE_DIFFERENCE = 40;

function quotePart(text: string, from: number): string {
  const part = text.slice(from, from + SHOWN);
  const escaped = JSON.stringify(part).replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === ' ' ? char : `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
  return `${from > 0 ? '…' : ''}${escaped}${from + SHOWN < text.length ? '…' : ''}`;
}
