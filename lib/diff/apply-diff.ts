import { capital, type Fit, fitHunk, standsAlready, whyAmbiguous, whyNowhere } from './fit-hunk.ts';
import type { Hunk, HunkLine } from './hunk.ts';
import { endOf, joinLines, type LineEnd, splitLines, textOf, usualEnd } from './lines.ts';
import { readDiff } from './read-diff.ts';
import { createLineSearch, type LineSearch, MAX_FOUND } from './search-lines.ts';

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
 * Applies a unified diff as models write it, where nothing in it leaves a choice; see `fitHunk` for what is overlooked and
 * `fitHunks` for what is not.
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
  const fitted = fitHunks(createLineSearch(lines.map(textOf)), read.hunks, read.creates);
  if ('reasons' in fitted) return refuse(fitted.reasons);
  const edits = collectEdits(fitted.fits);
  if ('reason' in edits) return refuse([edits.reason]);
  const end = usualEnd(lines) ?? '\n';
  const edited = editLines(lines, edits, (line) => line.text + (line.end ?? read.addedEnd ?? end));
  const last = lastEnd(lines, edits);
  const newBom = { added: '\ufeff', removed: '', kept: bom }[read.bom ?? 'kept'];
  const text = joinLines(newBom, closeLines(edited, last, end));
  if (text === current) return refuse(['The diff changes nothing: the text it leads to is the present one.']);
  return { applied: true, text, notes: [...fitted.notes, ...orderNotes(fitted.fits)] };
}

// --- internal ---

function refuse(reasons: readonly string[]): DiffOutcome {
  return { applied: false, reason: reasons.join(' ') };
}

/** A hunk where it belongs, with the name it has in messages. */
interface NamedFit extends Fit {
  readonly name: string;
}

type FitsOrReasons =
  | { readonly fits: readonly NamedFit[]; readonly notes: readonly string[] }
  /** One for every hunk that does not fit, of the first that do not, in words a model can act on. */
  | { readonly reasons: readonly string[] };

/**
 * Finds the place of every hunk. The numbers in a diff never decide: models count badly, and a wrong guess looks like a right
 * one where lines repeat. Each hunk must fit in one place only. Hunks that are all alike are one hunk written twice if there is
 * one place for them, and one for each if there are as many places and their numbers are not the same.
 */
function fitHunks(search: LineSearch, hunks: readonly Hunk[], creates: boolean): FitsOrReasons {
  const fits: NamedFit[] = [];
  const notes: string[] = [];
  const reasons: string[] = [];
  for (const alike of groupAlike(hunks)) {
    if (reasons.length >= MAX_REASONS) return { reasons: [...reasons, 'There may be more.'] };
    const [{ hunk, name }] = alike as [NamedHunk, ...NamedHunk[]];
    const found = fitHunk(search, hunk, name);
    if (search.exhausted()) return { reasons: [TOO_MUCH] };
    if (found.kind === 'none') reasons.push(whyNowhere(name, hunk, search, creates));
    else if (found.kind === 'many' && isOneForEach(found.fits, alike)) {
      const named = found.fits.map((fit, at) => ({ ...fit, name: (alike[at] as NamedHunk).name }));
      fits.push(...named);
      notes.push(...named.flatMap((fit, at) => notesOn((alike[at] as NamedHunk).hunk, fit)));
    } else if (found.kind === 'many') {
      const starts = found.fits.map(({ start }) => start);
      reasons.push(whyAmbiguous(name, starts, hunk));
    } else {
      const { fit } = found;
      const stands = standsAlready(search, fit);
      const others = alike.slice(1).map((other) => other.name);
      if (stands !== undefined) reasons.push(whyStands(name, stands));
      else if (alike.some((other) => other.hunk.oldStart !== hunk.oldStart)) {
        reasons.push(`${capital(name)} and ${others.join(', ')} are alike, but fit in one place only: write it once.`);
      }
      fits.push({ ...fit, name });
      notes.push(...notesOn(hunk, { ...fit, name }));
      if (others.length > 0) notes.push(`${others.join(', ')} repeated ${name} and was left out`);
    }
  }
  return reasons.length > 0 ? { reasons } : { fits, notes };
}

interface NamedHunk {
  readonly hunk: Hunk;
  readonly name: string;
}

/** More at once help nobody. */
const MAX_REASONS = 4;
const TOO_MUCH =
  'The diff could fit in so many places that the search was given up: use fewer hunks, with unchanged lines that are there only once.';

function groupAlike(hunks: readonly Hunk[]): readonly (readonly NamedHunk[])[] {
  const groups = new Map<string, NamedHunk[]>();
  for (const [at, hunk] of hunks.entries()) {
    const key = JSON.stringify([hunk.heading, hunk.atEnd, hunk.lines]);
    const group = groups.get(key) ?? [];
    group.push({ hunk, name: `hunk ${at + 1}` });
    groups.set(key, group);
  }
  return [...groups.values()];
}

function isOneForEach(fits: readonly Fit[], alike: readonly NamedHunk[]): boolean {
  if (fits.length !== alike.length || fits.length >= MAX_FOUND) return false;
  const stated = alike.map(({ hunk }) => hunk.oldStart).filter((start) => start !== undefined);
  // Where the numbers are alike, too, somebody wrote one hunk more than once.
  return new Set(stated).size === stated.length;
}

function notesOn({ oldStart, lines, miscounted }: Hunk, fit: NamedFit): readonly string[] {
  const notes = [...fit.notes];
  if (miscounted) notes.push(`${fit.name} has more or fewer lines than its "@@" line says`);
  const dropped = Math.max(0, lines.indexOf(fit.lines[0] as HunkLine));
  const drift = oldStart ? fit.start - dropped + 1 - oldStart : 0;
  const count = Math.abs(drift);
  if (count === 0) return notes;
  const where = `${count} line${count > 1 ? 's' : ''} further ${drift > 0 ? 'down' : 'up'}`;
  return [...notes, `${fit.name} was found ${where}`];
}

function whyStands(name: string, stands: number): string {
  return `The lines that ${name} adds stand in the file already, from line ${stands + 1}. Leave it out; if they should be there twice, show the unchanged lines on both sides of the place.`;
}

/** By 0-based line of the file. */
interface Edits {
  readonly removed: ReadonlySet<number>;
  /** Before the line; after the last one, its number is that of a line more. */
  readonly added: ReadonlyMap<number, readonly HunkLine[]>;
  /** Lines the diff says are the last and have no end, in the file and in what it becomes. */
  readonly unended: { readonly old: ReadonlySet<number>; readonly new: ReadonlySet<HunkLine | number> };
}

function collectEdits(fits: readonly NamedFit[]): Edits | { readonly reason: string } {
  const removedBy = new Map<number, string>();
  const shownBy = new Map<number, string>();
  const addedBy = new Map<number, string>();
  const added = new Map<number, HunkLine[]>();
  const unended = { old: new Set<number>(), new: new Set<HunkLine | number>() };
  for (const { start, lines, name } of fits) {
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
function lastEnd(lines: readonly string[], { removed, added, unended }: Edits): boolean {
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

function orderNotes(fits: readonly NamedFit[]): readonly string[] {
  const late = fits.find((fit, at) => at > 0 && fit.start < (fits[at - 1] as NamedFit).start);
  return late ? [`the hunks are not in the order of the file: ${late.name} comes earlier`] : [];
}
