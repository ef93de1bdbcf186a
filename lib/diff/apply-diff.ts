import { placeFinder } from './find-places.ts';
import type { HunkLine } from './hunk.ts';
import { endOf, joinLines, type LinedText, type LineEnd, splitLines, textOf, usualEnd } from './line-text.ts';
import { type NamedPlace, placeHunks } from './place-hunks.ts';
import { readDiff } from './read-diff.ts';

/** Larger diffs are refused unread. */
export const MAX_DIFF_BYTES: number = 262_144;

/** What came of a diff. */
export type DiffOutcome =
  | {
      readonly applied: true;
      /** The whole new text; BOM, line ends and the missing or present last line end are those of the current one. */
      readonly text: string;
      /** What was overlooked or is not where the diff says: "hunk 2 was found 4 lines further down". */
      readonly notes: readonly string[];
    }
  | {
      readonly applied: false;
      /** In words a model can act on. */
      readonly reason: string;
    };

/**
 * Applies a unified diff as models write it, where nothing in it leaves a choice; see `locateHunk` for what is overlooked and
 * `placeHunks` for what is not.
 *
 * Unchanged lines keep the bytes of the file. Added lines end as most lines of the file do. Whether the last line has an end
 * changes only where the diff says so, with `\ No newline at end of file` on one of its two sides.
 *
 * @param path - Of the file the diff is meant for, relative to the skill.
 * @param skillId - Of the skill: headers may name the file by a longer path that ends with its folder. Default: they may not.
 */
export function applyDiff(current: string, diff: string, path: string, skillId?: string): DiffOutcome {
  const bytes = diff.length > MAX_DIFF_BYTES ? diff.length : Buffer.byteLength(diff);
  if (bytes > MAX_DIFF_BYTES) {
    return refuse([
      `The diff is too large: ${MAX_DIFF_BYTES} bytes are allowed, it has ${bytes}. Propose less at a time.`,
    ]);
  }
  const read = readDiff(diff, path, skillId);
  if ('reason' in read) return refuse([read.reason]);
  const { bom, lines } = splitLines(current);
  const placement = placeHunks(placeFinder(lines.map(textOf)), read.hunks, read.creates);
  if ('reasons' in placement) return refuse(placement.reasons);
  const edits = collectEdits(placement.places);
  if ('reason' in edits) return refuse([edits.reason]);
  const end = usualEnd(lines) ?? '\n';
  const edited = editLines(lines, edits, (line) => line.text + (line.end ?? read.addedEnd ?? end));
  const last = lastEnd({ lines }, edits);
  const newBom = { added: '\ufeff', removed: '', kept: bom }[read.bom ?? 'kept'];
  const text = joinLines(newBom, closeLines(edited, last, end));
  if (text === current) return refuse(['The diff changes nothing: the text it leads to is the present one.']);
  return { applied: true, text, notes: [...placement.notes, ...orderNotes(placement.places)] };
}

// --- internal ---

function refuse(reasons: readonly string[]): DiffOutcome {
  return { applied: false, reason: reasons.join(' ') };
}

/** By 0-based line of the file. */
interface Edits {
  readonly removed: ReadonlySet<number>;
  /** Before the line; after the last one, its number is that of a line more. */
  readonly added: ReadonlyMap<number, readonly HunkLine[]>;
  /** Lines the diff says are the last and have no end, in the file and in what it becomes. */
  readonly unended: { readonly old: ReadonlySet<number>; readonly new: ReadonlySet<HunkLine | number> };
}

function collectEdits(places: readonly NamedPlace[]): Edits | { readonly reason: string } {
  const removedBy = new Map<number, string>();
  const shownBy = new Map<number, string>();
  const addedBy = new Map<number, string>();
  const added = new Map<number, HunkLine[]>();
  const unended = { old: new Set<number>(), new: new Set<HunkLine | number>() };
  for (const { start, lines, name } of places) {
    let at = start;
    for (const line of lines) {
      if (line.noNewline && line.kind !== '+') unended.old.add(at);
      if (line.noNewline && line.kind !== '-') unended.new.add(line.kind === '+' ? line : at);
      const owner = line.kind === '+' ? addedBy : removedBy;
      const other = owner.get(at) ?? (line.kind === '-' ? shownBy.get(at) : undefined);
      if (other !== undefined && other !== name) return { reason: overlap(other, name, at, line.kind) };
      (line.kind === ' ' ? shownBy : owner).set(at, name);
      if (line.kind !== '+') at++;
      else if (!added.get(at)?.push(line)) added.set(at, [line]);
    }
  }
  return { removed: new Set(removedBy.keys()), added, unended };
}

function overlap(one: string, other: string, at: number, kind: HunkLine['kind']): string {
  const what = kind === '+' ? `add lines before line ${at + 1}` : `are about line ${at + 1}, which one of them removes`;
  return `Both ${one} and ${other} ${what}: make one hunk of them.`;
}

function editLines(
  lines: readonly string[],
  { removed, added }: Edits,
  write: (line: HunkLine) => string,
): readonly string[] {
  const edited: string[] = [];
  for (let at = 0; at <= lines.length; at++) {
    for (const line of added.get(at) ?? []) edited.push(write(line));
    if (at < lines.length && !removed.has(at)) edited.push(lines[at] as string);
  }
  return edited;
}

/** Whether the last line shall have an end. A claim that both texts lack one changes nothing, be it true or not. */
function lastEnd({ lines }: Pick<LinedText, 'lines'>, { removed, added, unended }: Edits): boolean {
  const has = lines.length === 0 || endOf(lines.at(-1) as string) !== '';
  const oldLast = lines.length - 1;
  const newLast = added.get(lines.length)?.at(-1) ?? lastKept(oldLast, removed, added);
  const lackedIt = unended.old.has(oldLast);
  const lacksIt = unended.new.has(newLast);
  return lackedIt === lacksIt ? has : !lacksIt;
}

/** What the last line becomes when lines at the end go: an added line, or the number of one that stays. */
function lastKept(
  from: number,
  removed: ReadonlySet<number>,
  added: ReadonlyMap<number, readonly HunkLine[]>,
): HunkLine | number {
  let at = from;
  while (at >= 0 && removed.has(at)) {
    const line = added.get(at)?.at(-1);
    if (line) return line;
    at--;
  }
  return at;
}

/** Every line but the last gets an end if it has none; the last one has one if it shall. */
function closeLines(lines: readonly string[], last: boolean, end: LineEnd): readonly string[] {
  return lines.map((line, at) => {
    if (at === lines.length - 1 && !last) return textOf(line);
    return endOf(line) === '' ? line + end : line;
  });
}

function orderNotes(places: readonly NamedPlace[]): readonly string[] {
  const late = places.find((place, at) => at > 0 && place.start < (places[at - 1] as NamedPlace).start);
  return late ? [`the hunks are not in the order of the file: ${late.name} comes earlier`] : [];
}
