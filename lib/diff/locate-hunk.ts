import { type Likeness, MAX_PLACES, type PlaceFinder } from './find-places.ts';
import { type Hunk, type HunkLine, oldSide, outerContext } from './hunk.ts';

/** A hunk where it fits. */
export interface Placed {
  /** 0-based line of the file where the first line of `lines` belongs. */
  readonly start: number;
  /** The hunk's lines that count: without outer ones that were let go, and indented as the file is. */
  readonly lines: readonly HunkLine[];
  /** What was overlooked, in words that end in "in hunk 1"; see `applyDiff`. */
  readonly notes: readonly string[];
}

export type Location =
  | { readonly kind: 'placed'; readonly placed: Placed }
  /** All places, ascending, up to `MAX_PLACES`. */
  | { readonly kind: 'many'; readonly places: readonly Placed[] }
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
export function locateHunk(finder: PlaceFinder, hunk: Hunk, name: string): Location {
  const readings: readonly Hunk[] = hunk.looseTail
    ? [hunk, { ...hunk, lines: hunk.lines.slice(0, -hunk.looseTail) }]
    : [hunk];
  for (const locate of [locateWhole, locateWithoutOuterLines]) {
    for (const reading of readings) {
      const location = locate(finder, reading, name);
      if (location.kind === 'placed' && reading !== hunk) {
        const notes = [...location.placed.notes, `the text after ${name} was taken for prose`];
        return { kind: 'placed', placed: { ...location.placed, notes } };
      }
      if (location.kind !== 'none') return location;
    }
  }
  return { kind: 'none' };
}

// --- internal ---

const MAX_DROPPED = 2;

function locateWhole(finder: PlaceFinder, hunk: Hunk, name: string): Location {
  const { lines } = hunk;
  const old = oldSide(lines);
  const inRange = (start: number): boolean => !hunk.atEnd || start + old.length === finder.texts.length;
  const settle = (starts: readonly number[], notes: readonly string[], kept = lines): Location =>
    decide(finder, hunk, name, starts.filter(inRange), (start) => ({ start, lines: kept, notes }));

  if (old.length === 0) {
    const onlyPlace = finder.texts.length === 0 || hunk.atEnd === true;
    return onlyPlace ? settle([finder.texts.length], []) : { kind: 'none' };
  }
  const exact = settle(search(finder, old, 'exact'), []);
  if (exact.kind !== 'none') return exact;
  const trimmed = settle(search(finder, old, 'end'), [`blanks at the ends of lines were ignored in ${name}`]);
  if (trimmed.kind !== 'none') return trimmed;
  const unsigned = settle(search(finder, old, 'end', true), [
    `unchanged lines without their leading blank were taken as they are in ${name}`,
  ]);
  if (unsigned.kind !== 'none') return unsigned;
  const shifted = atShift(finder, lines, name).filter(({ start }) => inRange(start));
  if (shifted.length > 0) {
    const byStart = new Map(shifted.map((placed) => [placed.start, placed]));
    return decide(finder, hunk, name, [...byStart.keys()], (start) => byStart.get(start) as Placed);
  }
  return { kind: 'none' };
}

function search(
  finder: PlaceFinder,
  lines: readonly HunkLine[],
  likeness: Likeness,
  unsigned = false,
): readonly number[] {
  const run = lines.map((line) => (unsigned && line.unsigned !== undefined ? [line.text, line.unsigned] : [line.text]));
  return finder.places(run, likeness);
}

function decide(
  finder: PlaceFinder,
  hunk: Hunk,
  name: string,
  starts: readonly number[],
  place: (start: number) => Placed,
): Location {
  const [first, ...others] = starts;
  if (first === undefined) return { kind: 'none' };
  if (others.length === 0) return { kind: 'placed', placed: place(first) };
  // Of a list that was cut, nobody knows how many are in the section.
  const isWhole = starts.length < MAX_PLACES;
  const section = isWhole && hunk.heading !== undefined ? finder.section(hunk.heading) : undefined;
  const below = section ? starts.filter((start) => start >= section.from && start < section.to) : [];
  const [only] = below;
  if (only === undefined || below.length > 1) return { kind: 'many', places: starts.map(place) };
  const placed = place(only);
  const note = `of ${starts.length} places for ${name} the one under "${hunk.heading}" was taken`;
  return { kind: 'placed', placed: { ...placed, notes: [...placed.notes, note] } };
}

function atShift(finder: PlaceFinder, lines: readonly HunkLine[], name: string): readonly Placed[] {
  const old = oldSide(lines);
  const telling = old.filter(({ text }) => text.trim() !== '');
  if (telling.length < 2 || !telling.some(({ kind }) => kind === '-')) return [];
  const placed: Placed[] = [];
  for (const start of search(finder, old, 'both')) {
    const shift = shiftBetween(old, finder.texts, start);
    const shifted = shift && shiftLines(lines, shift);
    if (shifted) placed.push({ start, lines: shifted, notes: [`${name} was indented as the file is`] });
  }
  return placed;
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

function locateWithoutOuterLines(finder: PlaceFinder, hunk: Hunk, name: string): Location {
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
    const found = new Map<number, Placed>();
    for (let above = Math.max(0, dropped - maxBottom); above <= Math.min(maxTop, dropped); above++) {
      const kept = lines.slice(above, lines.length - (dropped - above));
      const old = oldSide(kept);
      if (old.filter(({ text }) => text.trim() !== '').length < 2 || old.length <= dropped) continue;
      for (const start of search(finder, old, 'end', true)) {
        if (hunk.atEnd && start + old.length !== finder.texts.length) continue;
        found.set(start + top - above, { start, lines: kept, notes });
      }
    }
    if (found.size > 0) {
      return decide(finder, hunk, name, [...found.keys()], (at) => found.get(at) as Placed);
    }
  }
  return { kind: 'none' };
}
