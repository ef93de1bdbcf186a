import {
  endOf,
  joinLines,
  LineSearch,
  MAX_FOUND,
  splitLines,
  usualEnd,
  withoutLineEnd,
} from '../../../../../lib/diff/index.ts';
import { fitHunk, type HunkFit, outerContext, whyAmbiguous, whyNowhere } from './fit-hunk.ts';
import { type Hunk, type HunkLine, type ParsedDiff, parseDiff } from './parse-diff.ts';

export const MAX_DIFF_BYTES: number = 262_144;

export type DiffOutcome =
  | {
      readonly applied: true;
      /** Keeps the byte order mark and the line ends of the current text. */
      readonly text: string;
      /** Accepted mistakes of the diff: "hunk 2 was found 4 lines further down". */
      readonly notes: readonly string[];
    }
  | ({ readonly applied: false } & Refused);

/**
 * Applies a unified diff as models write it, when it can be applied in exactly one way. `fitHunk` says which mistakes
 * are accepted. Unchanged lines keep their bytes; added lines end as most lines of the file do. Whether the last line
 * has an end changes only with `\ No newline at end of file` on one side of the diff.
 *
 * @param path - Relative to the skill.
 * @param skillId - With it, headers may also name a longer path that ends in `<skillId>/<path>`.
 */
export function applyDiff(current: string, diff: string, path: string, skillId?: string): DiffOutcome {
  const refused = (reason: string): DiffOutcome => ({ applied: false, reason });
  const bytes = diff.length > MAX_DIFF_BYTES ? diff.length : Buffer.byteLength(diff);
  if (bytes > MAX_DIFF_BYTES)
    return refused(
      `The diff is too large: ${MAX_DIFF_BYTES} bytes are allowed, it has ${bytes}. Propose less at a time.`,
    );
  const read = parseDiff(diff, path, skillId);
  if ('reason' in read) return refused(read.reason);
  const { bom, lines } = splitLines(current);
  const fitted = fitHunks(new LineSearch(lines.map(withoutLineEnd)), read);
  if ('reason' in fitted) return refused(fitted.reason);
  const edited = editLines(lines, fitted.fits, read.addedEnd);
  if ('reason' in edited) return refused(edited.reason);
  const newBom = { added: '\ufeff', removed: '', kept: bom }[read.bom ?? 'kept'];
  const text = joinLines(newBom, edited.lines);
  if (text === current) return refused('The diff changes nothing: the file already has this text.');
  return { applied: true, text, notes: fitted.notes };
}

// --- internal ---

type NumberedFit = HunkFit & { readonly number: number };

type Refused = { readonly reason: string };

const MAX_REASONS = 4;
const TOO_MUCH =
  'The diff could fit at so many positions that the search was stopped: use fewer hunks, with unchanged lines that occur only once in the file.';

/**
 * Each hunk must fit at exactly one position. Line numbers never decide: models count badly, and where lines repeat, a
 * wrong position looks right. Equal hunks that fit at one position are one hunk written several times. Equal hunks that
 * fit at as many positions as there are hunks are used once each, when their line numbers differ.
 */
function fitHunks(
  search: LineSearch,
  { hunks, creates }: ParsedDiff,
): { readonly fits: readonly NumberedFit[]; readonly notes: readonly string[] } | Refused {
  const fits: NumberedFit[] = [];
  const notes: string[] = [];
  const reasons: string[] = [];
  const groups = new Map<string, [hunk: Hunk, number: number][]>();
  for (const [at, hunk] of hunks.entries()) {
    const key = JSON.stringify([hunk.heading, hunk.atEnd, hunk.lines]);
    if (!groups.get(key)?.push([hunk, at + 1])) groups.set(key, [[hunk, at + 1]]);
  }
  for (const equal of groups.values()) {
    if (reasons.length >= MAX_REASONS) return { reason: [...reasons, 'There may be more.'].join(' ') };
    const [[hunk, number], ...others] = equal as [[Hunk, number], ...[Hunk, number][]];
    const found = fitHunk(search, hunk, number);
    if (search.exhausted()) return { reason: TOO_MUCH };
    const stated = equal.flatMap(([{ oldStart }]) => oldStart ?? []);
    const isOneForEach = found.length === equal.length && new Set(stated).size === stated.length;
    const [only] = found.length === 1 ? found : [];
    if (found.length === 0) reasons.push(whyNowhere(hunk, number, search, creates));
    else if (!only && !(isOneForEach && found.length < MAX_FOUND)) reasons.push(whyAmbiguous(hunk, number, found));
    else {
      for (const [at, fit] of found.entries()) {
        const [own, ownNumber] = equal[at] as [Hunk, number];
        fits.push({ ...fit, number: ownNumber });
        notes.push(...fit.notes, ...notesOn(own, ownNumber, fit));
      }
    }
    if (!only) continue;
    const names = others.map(([, other]) => `hunk ${other}`).join(', ');
    const present = firstAddedAlready(search, only);
    if (present !== undefined) {
      reasons.push(
        `The lines that hunk ${number} adds are already in the file, from line ${present + 1}. Leave the hunk out; if the file should have them twice, show the unchanged lines before and after them.`,
      );
    } else if (others.some(([other]) => other.oldStart !== hunk.oldStart)) {
      reasons.push(`Hunk ${number} and ${names} are equal, but fit at one position only: write it once.`);
    }
    if (others.length > 0) notes.push(`${names} repeated hunk ${number} and was left out`);
  }
  if (reasons.length > 0) return { reason: reasons.join(' ') };
  const late = fits.find(({ start }, at) => start < (fits[at - 1]?.start ?? 0));
  if (late) notes.push(`the hunks are not in the order of the file: hunk ${late.number} comes earlier`);
  return { fits, notes };
}

function notesOn({ oldStart, lines, miscounted }: Hunk, number: number, fit: HunkFit): readonly string[] {
  const notes = miscounted ? [`hunk ${number} has more or fewer lines than its "@@" line says`] : [];
  const dropped = Math.max(0, lines.indexOf(fit.lines[0] as HunkLine));
  const drift = oldStart ? fit.start - dropped + 1 - oldStart : 0;
  const count = Math.abs(drift);
  if (count === 0) return notes;
  const where = `${count} line${count > 1 ? 's' : ''} further ${drift > 0 ? 'down' : 'up'}`;
  return [...notes, `hunk ${number} was found ${where}`];
}

/** A hunk with unchanged lines on one side only fits again after it was applied: looks for its added lines there. */
function firstAddedAlready(search: LineSearch, { start, lines }: HunkFit): number | undefined {
  const { top, bottom } = outerContext(lines);
  const added = lines.slice(top, lines.length - bottom);
  if (added.length === 0 || added.some(({ kind }) => kind !== '+') || top > 0 === bottom > 0) return undefined;
  const from = top > 0 ? start + top : start - added.length;
  const present = added.every(({ text }, at) => search.texts[from + at]?.trimEnd() === text.trimEnd());
  return present ? from : undefined;
}

/** @param addedEnd - For added lines without their own line end. Default: the end that most lines have. */
function editLines(
  lines: readonly string[],
  fits: readonly NumberedFit[],
  addedEnd: string | undefined,
): { readonly lines: readonly string[] } | Refused {
  // By 0-based line of the file, before which the lines are added; the number of lines stands for the end.
  const added = new Map<number, HunkLine[]>();
  const addedBy = new Map<number, number>();
  const removedBy = new Map<number, number>();
  const shownBy = new Map<number, number>();
  // Lines without a line end according to the diff.
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
  const oldLacksEnd = unended.old.has(lines.length - 1);
  const newLacksEnd = unended.new.has(edited.at(-1));
  // A diff that says that both texts lack the last line end changes nothing there, even if that is wrong.
  const isEnded =
    oldLacksEnd === newLacksEnd ? lines.length === 0 || endOf(lines.at(-1) as string) !== '' : oldLacksEnd;
  const usual = usualEnd(lines) ?? '\n';
  const written = edited.map((from, at) => {
    const line = typeof from === 'number' ? (lines[from] as string) : from.text + (from.end ?? addedEnd ?? usual);
    if (at === edited.length - 1 && !isEnded) return withoutLineEnd(line);
    return endOf(line) === '' ? line + usual : line;
  });
  return { lines: written };
}
