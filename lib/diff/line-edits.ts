import { diffArrays } from 'diff';

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

/** For every line of `after` that was in `before`: where it was. */
export function matchLines(before: readonly string[], after: readonly string[]): ReadonlyMap<number, number> {
  const matches = new Map<number, number>();
  let [oldAt, newAt] = [0, 0];
  const end = { oldStart: before.length, oldEnd: before.length, newStart: after.length, newEnd: after.length };
  for (const edit of [...lineEdits(before, after), end]) {
    while (newAt < edit.newStart) matches.set(newAt++, oldAt++);
    [oldAt, newAt] = [edit.oldEnd, edit.newEnd];
  }
  return matches;
}

// --- internal ---

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
