import { diffArrays } from 'diff';

/** Lines `oldStart` up to `oldEnd` (0-based, exclusive) became lines `newStart` up to `newEnd`. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** An edit distance over this is not searched for: the work grows with its square. */
const MAX_DISTANCE = 4000;
/** Distance times lines, which bounds the work where lines repeat. */
const MAX_WORK = 100_000_000;

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
  if (oldEnd === head && newEnd === head) return [];
  const whole = [{ oldStart: head, oldEnd, newStart: head, newEnd }];
  if (oldEnd === head || newEnd === head) return whole;

  const lines = oldEnd + newEnd - 2 * head;
  const maxEditLength = Math.max(16, Math.min(MAX_DISTANCE, Math.floor(MAX_WORK / lines)));
  // Numbers for lines: to compare long texts that are equal costs their length every time.
  const ids = new Map<string, number>();
  const idOf = (line: string): number => {
    const id = ids.get(line) ?? ids.size;
    ids.set(line, id);
    return id;
  };
  const oldIds = before.slice(head, oldEnd).map(idOf);
  const newIds = after.slice(head, newEnd).map(idOf);
  const changes = diffArrays(oldIds, newIds, { maxEditLength });
  return changes ? asEdits(changes, head) : whole;
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

function asEdits(
  changes: readonly { readonly added: boolean; readonly removed: boolean; readonly count: number }[],
  offset: number,
): readonly LineEdit[] {
  const edits: LineEdit[] = [];
  let [oldAt, newAt] = [offset, offset];
  let open = false;
  for (const { added, removed, count } of changes) {
    if (!added && !removed) {
      oldAt += count;
      newAt += count;
      open = false;
      continue;
    }
    const last = open ? edits.pop() : undefined;
    const from = last ?? { oldStart: oldAt, newStart: newAt };
    oldAt += removed ? count : 0;
    newAt += added ? count : 0;
    edits.push({ oldStart: from.oldStart, oldEnd: oldAt, newStart: from.newStart, newEnd: newAt });
    open = true;
  }
  return edits;
}
