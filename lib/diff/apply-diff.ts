import { type Fit, fitHunk, outerContext, whyAmbiguous, whyNowhere } from './fit-hunk.ts';
import { endOf, joinLines, splitLines, textOf, usualEnd } from './lines.ts';
import { type ReadDiff, readDiff } from './read-diff.ts';
import type { Hunk, HunkLine } from './read-hunks.ts';
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
    const reason = `The diff is too large: ${MAX_DIFF_BYTES} bytes are allowed, it has ${bytes}. Propose less at a time.`;
    return { applied: false, reason };
  }
  const read = readDiff(diff, path, skillId);
  if ('reason' in read) return { applied: false, reason: read.reason };
  const { bom, lines } = splitLines(current);
  const placed = placeHunks(createLineSearch(lines.map(textOf)), read);
  if ('reason' in placed) return { applied: false, reason: placed.reason };
  const newBom = { added: '\ufeff', removed: '', kept: bom }[read.bom ?? 'kept'];
  const edited = editLines(lines, placed.fits, read.addedEnd);
  if ('reason' in edited) return { applied: false, reason: edited.reason };
  const text = joinLines(newBom, edited.lines);
  if (text !== current) return { applied: true, text, notes: placed.notes };
  return { applied: false, reason: 'The diff changes nothing: the text it leads to is the present one.' };
}

// --- internal ---

/** A hunk where it belongs; the first one of the diff is 1. */
interface NumberedFit extends Fit {
  readonly number: number;
}

interface Refused {
  /** In words a model can act on. */
  readonly reason: string;
}

/** More at once help nobody. */
const MAX_REASONS = 4;
const TOO_MUCH =
  'The diff could fit in so many places that the search was given up: use fewer hunks, with unchanged lines that are there only once.';

/**
 * Finds the place of every hunk. The numbers in a diff never decide: models count badly, and a wrong guess looks like a right
 * one where lines repeat. Each hunk must fit in one place only. Hunks that are all alike are one hunk written twice if there is
 * one place for them, and one for each if there are as many places and their numbers are not the same.
 *
 * @returns The reason is one for every hunk that does not fit, of the first that do not.
 */
function placeHunks(
  search: LineSearch,
  { hunks, creates }: ReadDiff,
): { readonly fits: readonly NumberedFit[]; readonly notes: readonly string[] } | Refused {
  const fits: NumberedFit[] = [];
  const notes: string[] = [];
  const reasons: string[] = [];
  const groups = new Map<string, [hunk: Hunk, number: number][]>();
  for (const [at, hunk] of hunks.entries()) {
    const key = JSON.stringify([hunk.heading, hunk.atEnd, hunk.lines]);
    if (!groups.get(key)?.push([hunk, at + 1])) groups.set(key, [[hunk, at + 1]]);
  }
  for (const alike of groups.values()) {
    if (reasons.length >= MAX_REASONS) return { reason: [...reasons, 'There may be more.'].join(' ') };
    const [[hunk, number], ...others] = alike as [[Hunk, number], ...[Hunk, number][]];
    const found = fitHunk(search, hunk, number);
    if (search.exhausted()) return { reason: TOO_MUCH };
    const stated = alike.flatMap(([{ oldStart }]) => oldStart ?? []);
    // Where the numbers are alike, too, somebody wrote one hunk more than once.
    const isOneForEach = found.length === alike.length && new Set(stated).size === stated.length;
    const [only] = found.length === 1 ? found : [];
    if (found.length === 0) reasons.push(whyNowhere(hunk, number, search, creates));
    else if (!only && !(isOneForEach && found.length < MAX_FOUND)) reasons.push(whyAmbiguous(hunk, number, found));
    else {
      for (const [at, fit] of found.entries()) {
        const [own, ownNumber] = alike[at] as [Hunk, number];
        fits.push({ ...fit, number: ownNumber });
        notes.push(...fit.notes, ...notesOn(own, ownNumber, fit));
      }
    }
    if (!only) continue;
    const names = others.map(([, other]) => `hunk ${other}`).join(', ');
    const stands = standsAlready(search, only);
    if (stands !== undefined) {
      reasons.push(
        `The lines that hunk ${number} adds stand in the file already, from line ${stands + 1}. Leave it out; if they should be there twice, show the unchanged lines on both sides of the place.`,
      );
    } else if (others.some(([other]) => other.oldStart !== hunk.oldStart)) {
      reasons.push(`Hunk ${number} and ${names} are alike, but fit in one place only: write it once.`);
    }
    if (others.length > 0) notes.push(`${names} repeated hunk ${number} and was left out`);
  }
  if (reasons.length > 0) return { reason: reasons.join(' ') };
  const late = fits.find(({ start }, at) => start < (fits[at - 1]?.start ?? 0));
  if (late) notes.push(`the hunks are not in the order of the file: hunk ${late.number} comes earlier`);
  return { fits, notes };
}

function notesOn({ oldStart, lines, miscounted }: Hunk, number: number, fit: Fit): readonly string[] {
  const notes = miscounted ? [`hunk ${number} has more or fewer lines than its "@@" line says`] : [];
  const dropped = Math.max(0, lines.indexOf(fit.lines[0] as HunkLine));
  const drift = oldStart ? fit.start - dropped + 1 - oldStart : 0;
  const count = Math.abs(drift);
  if (count === 0) return notes;
  const where = `${count} line${count > 1 ? 's' : ''} further ${drift > 0 ? 'down' : 'up'}`;
  return [...notes, `hunk ${number} was found ${where}`];
}

/**
 * Where the lines stand that a hunk would add at one of its own ends, 0-based. It fits as well when it has been applied: with
 * unchanged lines on one side only, nothing in it says what comes next.
 */
function standsAlready(search: LineSearch, { start, lines }: Fit): number | undefined {
  const { top, bottom } = outerContext(lines);
  const added = lines.slice(top, lines.length - bottom);
  if (added.length === 0 || added.some(({ kind }) => kind !== '+') || top > 0 === bottom > 0) return undefined;
  const from = top > 0 ? start + top : start - added.length;
  const stands = added.every(({ text }, at) => search.texts[from + at]?.trimEnd() === text.trimEnd());
  return stands ? from : undefined;
}

/**
 * @param addedEnd - Of added lines that say nothing else. Default: the end that most lines have.
 */
function editLines(
  lines: readonly string[],
  fits: readonly NumberedFit[],
  addedEnd: string | undefined,
): { readonly lines: readonly string[] } | Refused {
  // By 0-based line of the file. What is added comes before the line; after the last one, its number is that of a line more.
  const added = new Map<number, HunkLine[]>();
  const [addedBy, removedBy, shownBy] = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
  ];
  // Lines the diff says are the last and have no end, in the file and in what it becomes.
  const unended = { old: new Set<number>(), new: new Set<HunkLine | number | undefined>() };
  for (const { start, lines: rows, number } of fits) {
    let at = start;
    for (const row of rows) {
      const { kind } = row;
      if (row.noNewline && kind !== '+') unended.old.add(at);
      if (row.noNewline && kind !== '-') unended.new.add(kind === '+' ? row : at);
      const owner = kind === '+' ? addedBy : removedBy;
      const other = owner.get(at) ?? (kind === '-' ? shownBy.get(at) : undefined);
      if (other !== undefined && other !== number) {
        const what =
          kind === '+' ? `add lines before line ${at + 1}` : `are about line ${at + 1}, which one of them removes`;
        return { reason: `Both hunk ${other} and hunk ${number} ${what}: make one hunk of them.` };
      }
      (kind === ' ' ? shownBy : owner).set(at, number);
      if (kind !== '+') at++;
      else if (!added.get(at)?.push(row)) added.set(at, [row]);
    }
  }
  const edited: (HunkLine | number)[] = [];
  for (let at = 0; at <= lines.length; at++) {
    for (const row of added.get(at) ?? []) edited.push(row);
    if (at < lines.length && !removedBy.has(at)) edited.push(at);
  }
  const lacked = unended.old.has(lines.length - 1);
  const lacks = unended.new.has(edited.at(-1));
  // A claim that both texts lack the last end changes nothing, be it true or not.
  const isEnded = lacked === lacks ? lines.length === 0 || endOf(lines.at(-1) as string) !== '' : lacked;
  const usual = usualEnd(lines) ?? '\n';
  const written = edited.map((from, at) => {
    const line = typeof from === 'number' ? (lines[from] as string) : from.text + (from.end ?? addedEnd ?? usual);
    if (at === edited.length - 1 && !isEnded) return textOf(line);
    return endOf(line) === '' ? line + usual : line;
  });
  return { lines: written };
}
