import { type Hunk, type HunkLine, isChange, newSide, oldSide, outerContext } from './hunk.ts';
import { quoteDifferent, quoteLine } from './lines.ts';
import { type Likeness, type LineSearch, MAX_FOUND } from './search-lines.ts';

/** A hunk where it fits. */
export interface Fit {
  /** 0-based line of the file where the first line of `lines` belongs. */
  readonly start: number;
  /** The hunk's lines that count: without outer ones that were let go, and indented as the file is. */
  readonly lines: readonly HunkLine[];
  /** What was overlooked, in words that end in "in hunk 1"; see `applyDiff`. */
  readonly notes: readonly string[];
}

export type Fits =
  | { readonly kind: 'one'; readonly fit: Fit }
  /** All of them, ascending, up to `MAX_FOUND`. */
  | { readonly kind: 'many'; readonly fits: readonly Fit[] }
  | { readonly kind: 'none' };

/**
 * Looks for the one place where a hunk fits, from the exact text to ever more lenient comparisons. The first comparison that
 * fits anywhere decides: where it fits more than once, the hunk is ambiguous.
 *
 * 1. As written.
 * 2. Blanks at the ends of lines ignored.
 * 3. Unchanged lines may lack the blank that marks them.
 * 4. All lines indented by the same blanks more, or less, than in the file; added lines are then shifted alike. At least two
 *    lines must agree on it, a removed one among them: it is written the way the added ones are.
 * 5. Up to two outer unchanged lines on each side let go, the fewest first. Those next to a change must fit, and of the whole
 *    hunk more must fit than is let go.
 */
export function fitHunk(search: LineSearch, hunk: Hunk, name: string): Fits {
  const readings: readonly Hunk[] = hunk.looseTail
    ? [hunk, { ...hunk, lines: hunk.lines.slice(0, -hunk.looseTail) }]
    : [hunk];
  for (const fitReading of [fitWhole, fitWithoutOuterLines]) {
    for (const reading of readings) {
      const found = fitReading(search, reading, name);
      if (found.kind === 'one' && reading !== hunk) {
        return { kind: 'one', fit: noted(found.fit, `the text after ${name} was taken for prose`) };
      }
      if (found.kind !== 'none') return found;
    }
  }
  return { kind: 'none' };
}

/**
 * Where the lines stand that a hunk would add at one of its own ends, 0-based. It fits as well when it has been applied: with
 * unchanged lines on one side only, nothing in it says what comes next.
 */
export function standsAlready(search: LineSearch, { start, lines }: Fit): number | undefined {
  const { top, bottom } = outerContext(lines);
  const added = lines.filter(isChange);
  if (added.length === 0 || added.some(({ kind }) => kind === '-')) return undefined;
  if (top + bottom + added.length !== lines.length || top > 0 === bottom > 0) return undefined;
  const from = top > 0 ? start + top : start - added.length;
  const stands = added.every(({ text }, at) => search.texts[from + at]?.trimEnd() === text.trimEnd());
  return stands ? from : undefined;
}

/** Why a hunk that fits more than once is not applied. @param starts - 0-based. */
export function whyAmbiguous(name: string, starts: readonly number[], hunk: Hunk): string {
  const count = starts.length >= MAX_FOUND ? `${MAX_FOUND} or more` : starts.length;
  const more = starts.length > MAX_SHOWN ? ', ...' : '';
  const lines = starts.slice(0, MAX_SHOWN).map((start) => start + 1);
  const stated = hunk.oldStart === undefined ? '' : ' Line numbers do not decide, because they are often wrong.';
  return `${capital(name)} fits ${count} places (from lines ${lines.join(', ')}${more}): add more unchanged lines before and after the change, up to a heading or another line that is there only once.${stated}`;
}

/** Why a hunk that fits nowhere is not applied: it has been, it has nothing to go by, or what the file has instead. */
export function whyNowhere(name: string, hunk: Hunk, search: LineSearch, creates: boolean): string {
  const old = oldSide(hunk.lines);
  const Name = capital(name);
  if (old.length === 0 && creates) {
    return 'The diff creates the file, but the file is there and has text: make a diff against its present text.';
  }
  if (old.length === 0) {
    return `${Name} only adds lines, with no unchanged line around them, so that nothing says where they belong: add the lines before and after the place, each with a blank before it.`;
  }
  if (search.texts.length === 0) return `${Name} expects lines, but the file is empty: only add lines.`;
  const applied = findApplied(search, hunk);
  if (applied !== undefined) {
    return `${Name} seems to be applied already: what it leaves behind stands in the file from line ${applied + 1}. Leave it out.`;
  }
  return `${Name} does not fit anywhere. ${nearest(hunk, search)} Read the file again and copy its lines exactly, with a blank before each unchanged one.`;
}

/** The name of a hunk at the beginning of a sentence. */
export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

// --- internal ---

/** Outer unchanged lines on each side. */
const MAX_DROPPED = 2;
/** Lines named in a message. */
const MAX_SHOWN = 8;
/** A line that is there more often tells little about the place. */
const MAX_VOTES = 50;
const MAX_VOTERS = 2000;

function fitWhole(search: LineSearch, hunk: Hunk, name: string): Fits {
  const { lines } = hunk;
  const old = oldSide(lines);
  const inRange = (start: number): boolean => !hunk.atEnd || start + old.length === search.texts.length;
  const settle = (starts: readonly number[], ...notes: readonly string[]): Fits =>
    decide(search, hunk, name, starts.filter(inRange), (start) => ({ start, lines, notes }));
  if (old.length === 0) {
    const onlyPlace = search.texts.length === 0 || hunk.atEnd === true;
    return onlyPlace ? settle([search.texts.length]) : { kind: 'none' };
  }
  const exact = settle(findRun(search, old, 'exact'));
  if (exact.kind !== 'none') return exact;
  const trimmed = settle(findRun(search, old, 'end'), `blanks at the ends of lines were ignored in ${name}`);
  if (trimmed.kind !== 'none') return trimmed;
  const unsigned = settle(
    findRun(search, old, 'end', true),
    `unchanged lines without their leading blank were taken as they are in ${name}`,
  );
  if (unsigned.kind !== 'none') return unsigned;
  const shifted = atShift(search, lines, name).filter(({ start }) => inRange(start));
  if (shifted.length > 0) {
    const byStart = new Map(shifted.map((fit) => [fit.start, fit]));
    return decide(search, hunk, name, [...byStart.keys()], (start) => byStart.get(start) as Fit);
  }
  return { kind: 'none' };
}

function findRun(
  search: LineSearch,
  lines: readonly HunkLine[],
  likeness: Likeness,
  unsigned = false,
): readonly number[] {
  const run = lines.map((line) => (unsigned && line.unsigned !== undefined ? [line.text, line.unsigned] : [line.text]));
  return search.find(run, likeness);
}

function decide(
  search: LineSearch,
  hunk: Hunk,
  name: string,
  starts: readonly number[],
  fitAt: (start: number) => Fit,
): Fits {
  const [first, ...others] = starts;
  if (first === undefined) return { kind: 'none' };
  if (others.length === 0) return { kind: 'one', fit: fitAt(first) };
  // Of a list that was cut, nobody knows how many are in the section.
  const isWhole = starts.length < MAX_FOUND;
  const section = isWhole && hunk.heading !== undefined ? search.section(hunk.heading) : undefined;
  const below = section ? starts.filter((start) => start >= section.from && start < section.to) : [];
  const [only] = below;
  if (only === undefined || below.length > 1) return { kind: 'many', fits: starts.map(fitAt) };
  const note = `of ${starts.length} places for ${name} the one under "${hunk.heading}" was taken`;
  return { kind: 'one', fit: noted(fitAt(only), note) };
}

function noted(fit: Fit, note: string): Fit {
  return { ...fit, notes: [...fit.notes, note] };
}

function atShift(search: LineSearch, lines: readonly HunkLine[], name: string): readonly Fit[] {
  const old = oldSide(lines);
  const telling = old.filter(({ text }) => text.trim() !== '');
  if (telling.length < 2 || !telling.some(({ kind }) => kind === '-')) return [];
  const found: Fit[] = [];
  for (const start of findRun(search, old, 'both')) {
    const shift = shiftBetween(old, search.texts, start);
    const shifted = shift && shiftLines(lines, shift);
    if (shifted) found.push({ start, lines: shifted, notes: [`${name} was indented as the file is`] });
  }
  return found;
}

/** Blanks the file has more (`add`) or less than the hunk at the beginning of every line. */
interface Shift {
  readonly add: boolean;
  readonly blanks: string;
}

function shiftBetween(old: readonly HunkLine[], texts: readonly string[], start: number): Shift | undefined {
  let shift: Shift | undefined;
  for (const [at, { text }] of old.entries()) {
    if (text.trim() === '') continue;
    const inHunk = indentOf(text);
    const inFile = indentOf(texts[start + at] ?? '');
    const add = inFile.length > inHunk.length;
    const [long, short] = add ? [inFile, inHunk] : [inHunk, inFile];
    if (!long.endsWith(short)) return undefined;
    const blanks = long.slice(0, long.length - short.length);
    if (shift && (shift.add !== add || shift.blanks !== blanks)) return undefined;
    shift = { add, blanks };
  }
  return shift;
}

function shiftLines(lines: readonly HunkLine[], { add, blanks }: Shift): readonly HunkLine[] | undefined {
  const fits = ({ kind, text }: HunkLine): boolean => kind !== '+' || text.trim() === '' || text.startsWith(blanks);
  if (!add && !lines.every(fits)) return undefined;
  return lines.map((line) => {
    if (line.kind !== '+' || line.text.trim() === '') return line;
    return { ...line, text: add ? blanks + line.text : line.text.slice(blanks.length) };
  });
}

function indentOf(text: string): string {
  return text.slice(0, text.length - text.trimStart().length);
}

function fitWithoutOuterLines(search: LineSearch, hunk: Hunk, name: string): Fits {
  const { lines } = hunk;
  const { top, bottom } = outerContext(lines);
  const [maxTop, maxBottom] = [top, bottom].map((count) => Math.max(0, Math.min(MAX_DROPPED, count - 1))) as [
    number,
    number,
  ];
  for (let dropped = 1; dropped <= maxTop + maxBottom; dropped++) {
    const notes = [
      `${dropped} outer unchanged line${dropped > 1 ? 's' : ''} of ${name} did not fit and ${dropped > 1 ? 'were' : 'was'} ignored`,
    ];
    // By the line of the file where the change is: two ways to let lines go may lead to the same place.
    const found = new Map<number, Fit>();
    for (let above = Math.max(0, dropped - maxBottom); above <= Math.min(maxTop, dropped); above++) {
      const kept = lines.slice(above, lines.length - (dropped - above));
      const old = oldSide(kept);
      if (old.filter(({ text }) => text.trim() !== '').length < 2 || old.length <= dropped) continue;
      for (const start of findRun(search, old, 'end', true)) {
        if (hunk.atEnd && start + old.length !== search.texts.length) continue;
        found.set(start + top - above, { start, lines: kept, notes });
      }
    }
    if (found.size > 0) {
      return decide(search, hunk, name, [...found.keys()], (at) => found.get(at) as Fit);
    }
  }
  return { kind: 'none' };
}

/** The place where most lines fit, and the first line that does not. */
function nearest(hunk: Hunk, search: LineSearch): string {
  const old = oldSide(hunk.lines);
  const votes = new Map<number, number>();
  for (const [at, { text }] of old.slice(0, MAX_VOTERS).entries()) {
    if (text.trim() === '') continue;
    const positions = search.linesLike(text, 'both');
    if (positions.length > MAX_VOTES) continue;
    for (const position of Array.from(positions)) votes.set(position - at, (votes.get(position - at) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [start, count] of votes) if (best === undefined || count > (votes.get(best) as number)) best = start;
  if (best === undefined) {
    const line = old.find(({ text }) => text.trim() !== '' && search.linesLike(text, 'both').length === 0);
    return line ? `The file has no line like ${quoteLine(line.text)}.` : 'Its lines stand nowhere in this order.';
  }
  const start = best;
  const fits = ({ text }: { readonly text: string }, at: number): boolean =>
    search.texts[start + at]?.trimEnd() === text.trimEnd();
  const matching = old.filter(fits).length;
  const wrong = old.findIndex((line, at) => !fits(line, at));
  const where = `The nearest place is line ${Math.max(0, start) + 1}, where ${matching} of its ${old.length} unchanged and removed lines fit`;
  const expected = old[wrong]?.text;
  if (expected === undefined) return `${where}.`;
  const there = search.texts[start + wrong];
  if (there === undefined) return `${where}: where the diff has ${quoteLine(expected)}, the file has no line.`;
  const [inDiff, inFile] = quoteDifferent(expected, there);
  return `${where}: where the diff has ${inDiff}, the file has ${inFile} (line ${start + wrong + 1}).`;
}

/** Where a hunk that fits nowhere stands as it would leave the file, 0-based. */
function findApplied(search: LineSearch, { lines }: Hunk): number | undefined {
  const after = newSide(lines);
  const { top, bottom } = outerContext(lines);
  const adds = after.some(({ kind, text }) => kind === '+' && text.trim() !== '');
  // What only removes is told by the lines around it, which now are neighbours.
  if (!adds && (top === 0 || bottom === 0)) return undefined;
  const run = after.map(({ text }) => [text]);
  return search.find(run, 'end')[0];
}
