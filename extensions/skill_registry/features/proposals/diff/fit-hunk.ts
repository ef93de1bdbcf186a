import { type Comparison, type LineSearch, MAX_FOUND } from '../../../../../lib/diff/index.ts';
import { type Hunk, type HunkLine, quoteLine, SHOWN } from './parse-diff.ts';

export interface HunkFit {
  /** 0-based line of the file where `lines` begin. */
  readonly start: number;
  /** Without ignored outer lines, and indented as the file is. */
  readonly lines: readonly HunkLine[];
  readonly notes: readonly string[];
}

/**
 * Tries comparisons from exact to lenient; the first one that finds a position decides. A hunk that fits more than once
 * is ambiguous, unless exactly one position is in the section that its heading names.
 *
 * 1. As written.
 * 2. Blanks at the ends of lines are ignored.
 * 3. Unchanged lines may lack the blank that marks them.
 * 4. All lines have the same blanks more, or less, at the beginning than in the file; added lines are indented in the
 *    same way. At least two lines must agree, one of them removed: its indentation is that of the added ones.
 * 5. Up to two outer unchanged lines on each side are ignored, as few as possible. Lines next to a change must fit, and
 *    more lines must fit than are ignored.
 *
 * @returns at most `MAX_FOUND` positions.
 */
export function fitHunk(search: LineSearch, hunk: Hunk, number: number): readonly HunkFit[] {
  const name = `hunk ${number}`;
  const readings = [hunk.lines, ...(hunk.looseTail > 0 ? [hunk.lines.slice(0, -hunk.looseTail)] : [])];
  for (const fitReading of [fitWhole, fitWithoutOuterLines]) {
    for (const lines of readings) {
      for (const found of fitReading(search, lines, hunk.atEnd === true, name)) {
        let fits = [...found];
        if (fits.length === 0) continue;
        const notes: string[] = [];
        // A list that was cut may lack positions in the section.
        const isWhole = fits.length > 1 && fits.length < MAX_FOUND;
        const section = isWhole && hunk.heading !== undefined ? search.section(hunk.heading) : undefined;
        const below = section ? fits.filter(([at]) => at >= section.from && at < section.to) : [];
        if (below.length === 1) {
          notes.push(`of ${fits.length} positions for ${name} the one under "${hunk.heading}" was used`);
          fits = below;
        }
        if (lines !== hunk.lines) notes.push(`the text after ${name} was ignored`);
        return fits.map(([, fit]) => ({ ...fit, notes: [...fit.notes, ...notes] }));
      }
    }
  }
  return [];
}

export function whyAmbiguous({ oldStart }: Hunk, number: number, fits: readonly HunkFit[]): string {
  const count = fits.length >= MAX_FOUND ? `${MAX_FOUND} or more` : fits.length;
  const more = fits.length > MAX_SHOWN ? ', ...' : '';
  const lines = fits.slice(0, MAX_SHOWN).map(({ start }) => start + 1);
  const stated = oldStart === undefined ? '' : ' Line numbers are not used, because they are often wrong.';
  return `Hunk ${number} fits at ${count} positions (from lines ${lines.join(', ')}${more}): add more unchanged lines before and after the change, up to a heading or another line that occurs only once.${stated}`;
}

/** It was applied before, it has no unchanged line, or the file has other lines. */
export function whyNowhere({ lines }: Hunk, number: number, search: LineSearch, creates: boolean): string {
  const old = oldSide(lines);
  if (old.length === 0 && creates) {
    return 'The diff creates the file, but the file exists and has text: make a diff against its current text.';
  }
  if (old.length === 0) {
    return `Hunk ${number} only adds lines, with no unchanged line around them, so it does not say where they belong: add the unchanged lines before and after them, each with a blank before it.`;
  }
  if (search.texts.length === 0) return `Hunk ${number} expects lines, but the file is empty: only add lines.`;
  const { top, bottom } = outerContext(lines);
  const left = lines.filter(({ kind }) => kind !== '-');
  // After a hunk that only removes lines, the lines around it are next to each other.
  const isRecognizable = left.some(({ kind, text }) => kind === '+' && text.trim() !== '') || (top > 0 && bottom > 0);
  const [applied] = isRecognizable ? findRun(search, left, 'end') : [];
  if (applied !== undefined) {
    return `Hunk ${number} seems to be applied already: the file has its result from line ${applied + 1}. Leave it out.`;
  }
  return `Hunk ${number} does not fit anywhere. ${nearest(old, search)} Read the file again and copy its lines exactly, with a blank before each unchanged one.`;
}

export function outerContext(lines: readonly HunkLine[]): { readonly top: number; readonly bottom: number } {
  const top = lines.findIndex(({ kind }) => kind !== ' ');
  const last = lines.findLastIndex(({ kind }) => kind !== ' ');
  return top === -1 ? { top: lines.length, bottom: 0 } : { top, bottom: lines.length - 1 - last };
}

// --- internal ---

const MAX_DROPPED = 2;
const MAX_SHOWN = 8;
/** Lines that occur more often do not help to find the nearest position. */
const MAX_OCCURRENCES = 50;
const MAX_COMPARED = 2000;
/** Characters shown before the first one that differs. */
const BEFORE_DIFFERENCE = 40;

function oldSide(lines: readonly HunkLine[]): readonly HunkLine[] {
  return lines.filter(({ kind }) => kind !== '+');
}

/** One map for each comparison. Keys are lines of the file that must be in the section of the heading. */
type Comparisons = Generator<ReadonlyMap<number, HunkFit>>;

function* fitWhole(search: LineSearch, lines: readonly HunkLine[], atEnd: boolean, name: string): Comparisons {
  const old = oldSide(lines);
  const at = (starts: readonly number[], ...notes: readonly string[]): ReadonlyMap<number, HunkFit> =>
    new Map(starts.map((start) => [start, { start, lines, notes }]));
  if (old.length === 0) {
    if (search.texts.length === 0 || atEnd) yield at([search.texts.length]);
    return;
  }
  yield at(findRun(search, old, 'exact', atEnd));
  yield at(findRun(search, old, 'end', atEnd), `blanks at the ends of lines were ignored in ${name}`);
  yield at(
    findRun(search, old, 'unsigned', atEnd),
    `unchanged lines without their leading blank were accepted in ${name}`,
  );
  const notBlank = old.filter(({ text }) => text.trim() !== '');
  if (notBlank.length < 2 || !notBlank.some(({ kind }) => kind === '-')) return;
  const shifted = new Map<number, HunkFit>();
  for (const start of findRun(search, old, 'both', atEnd)) {
    const indented = shiftLines(lines, old, search.texts, start);
    if (indented) shifted.set(start, { start, lines: indented, notes: [`${name} was indented as the file is`] });
  }
  yield shifted;
}

function* fitWithoutOuterLines(
  search: LineSearch,
  lines: readonly HunkLine[],
  atEnd: boolean,
  name: string,
): Comparisons {
  const { top, bottom } = outerContext(lines);
  const maxTop = Math.max(0, Math.min(MAX_DROPPED, top - 1));
  const maxBottom = Math.max(0, Math.min(MAX_DROPPED, bottom - 1));
  for (let dropped = 1; dropped <= maxTop + maxBottom; dropped++) {
    const [many, were] = dropped > 1 ? ['s', 'were'] : ['', 'was'];
    const notes = [`${dropped} outer unchanged line${many} of ${name} did not fit and ${were} ignored`];
    // By the line where the change is: it may be found several times, with different outer lines ignored.
    const found = new Map<number, HunkFit>();
    for (let above = Math.max(0, dropped - maxBottom); above <= Math.min(maxTop, dropped); above++) {
      const kept = lines.slice(above, lines.length - (dropped - above));
      const old = oldSide(kept);
      if (old.filter(({ text }) => text.trim() !== '').length < 2 || old.length <= dropped) continue;
      for (const start of findRun(search, old, 'unsigned', atEnd)) {
        found.set(start + top - above, { start, lines: kept, notes });
      }
    }
    yield found;
  }
}

/** @param comparison - `unsigned`: as `end`, and unchanged lines may lack the blank that marks them. */
function findRun(
  search: LineSearch,
  lines: readonly HunkLine[],
  comparison: Comparison | 'unsigned',
  atEnd = false,
): readonly number[] {
  const isUnsigned = comparison === 'unsigned';
  const run = lines.map(({ text, unsigned }) => (isUnsigned && unsigned !== undefined ? [text, unsigned] : [text]));
  const found = search.find(run, isUnsigned ? 'end' : comparison);
  return atEnd ? found.filter((start) => start + lines.length === search.texts.length) : found;
}

/** Undefined unless the file indents all lines of the hunk by the same blanks more, or less. */
function shiftLines(
  lines: readonly HunkLine[],
  old: readonly HunkLine[],
  texts: readonly string[],
  start: number,
): readonly HunkLine[] | undefined {
  const indents = (text: string): string => text.slice(0, text.length - text.trimStart().length);
  let shift: { readonly more: string; readonly less: string } | undefined;
  for (const [at, { text }] of old.entries()) {
    if (text.trim() === '') continue;
    const [inHunk, inFile] = [indents(text), indents(texts[start + at] ?? '')];
    const more = inFile.endsWith(inHunk) ? inFile.slice(0, inFile.length - inHunk.length) : '';
    const less = inHunk.endsWith(inFile) ? inHunk.slice(0, inHunk.length - inFile.length) : '';
    if (more + inHunk !== less + inFile) return undefined;
    shift ??= { more, less };
    if (shift.more !== more || shift.less !== less) return undefined;
  }
  const { more, less } = shift ?? { more: '', less: '' };
  const isAdded = ({ kind, text }: HunkLine): boolean => kind === '+' && text.trim() !== '';
  if (lines.some((line) => isAdded(line) && !line.text.startsWith(less))) return undefined;
  return lines.map((line) => (isAdded(line) ? { ...line, text: more + line.text.slice(less.length) } : line));
}

function nearest(old: readonly HunkLine[], search: LineSearch): string {
  const { texts } = search;
  const fitting = new Map<number, number>();
  for (const [at, { text }] of old.slice(0, MAX_COMPARED).entries()) {
    const positions = text.trim() === '' ? [] : search.linesLike(text, MAX_OCCURRENCES + 1);
    if (positions.length > MAX_OCCURRENCES) continue;
    for (const position of positions) fitting.set(position - at, (fitting.get(position - at) ?? 0) + 1);
  }
  let [start, most]: [number | undefined, number] = [undefined, 0];
  for (const [at, count] of fitting) if (count > most) [start, most] = [at, count];
  if (start === undefined) {
    const line = old.find(({ text }) => text.trim() !== '' && search.linesLike(text, 1).length === 0);
    return line
      ? `The file has no line like ${quoteLine(line.text)}.`
      : 'The file does not have its lines in this order.';
  }
  const differ = old.flatMap(({ text }, at) => (texts[start + at]?.trimEnd() === text.trimEnd() ? [] : [at]));
  const where = `The nearest position is line ${Math.max(0, start) + 1}, where ${old.length - differ.length} of its ${old.length} unchanged and removed lines fit`;
  const [wrong] = differ;
  if (wrong === undefined) return `${where}.`;
  const [expected, there] = [(old[wrong] as HunkLine).text, texts[start + wrong]];
  if (there === undefined) return `${where}: where the diff has ${quoteLine(expected)}, the file has no line.`;
  let same = 0;
  while (same < expected.length && expected[same] === there[same]) same++;
  // The first difference must be visible.
  const from = Math.max(expected.length, there.length) <= SHOWN ? 0 : Math.max(0, same - BEFORE_DIFFERENCE);
  return `${where}: where the diff has ${quoteLine(expected, from)}, the file has ${quoteLine(there, from)} (line ${start + wrong + 1}).`;
}
