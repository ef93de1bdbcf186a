import { quoteLine, SHOWN } from './lines.ts';
import type { Hunk, HunkLine } from './read-hunks.ts';
import { type Likeness, type LineSearch, MAX_FOUND } from './search-lines.ts';

/** A hunk where it fits. */
export interface Fit {
  /** 0-based line of the file where the first line of `lines` belongs. */
  readonly start: number;
  /** The hunk's lines that count: without outer ones that were let go, and indented as the file is. */
  readonly lines: readonly HunkLine[];
  /** What was overlooked, in words that end in "in hunk 1". */
  readonly notes: readonly string[];
}

/**
 * Looks for the one place where a hunk fits, from the exact text to ever more lenient comparisons. The first comparison that
 * fits anywhere decides: where it fits more than once, the hunk is ambiguous, unless one place alone is below its heading.
 *
 * 1. As written.
 * 2. Blanks at the ends of lines ignored.
 * 3. Unchanged lines may lack the blank that marks them.
 * 4. All lines indented by the same blanks more, or less, than in the file; added lines are then shifted alike. At least two
 *    lines must agree on it, a removed one among them: it is written the way the added ones are.
 * 5. Up to two outer unchanged lines on each side let go, the fewest first. Those next to a change must fit, and of the whole
 *    hunk more must fit than is let go.
 *
 * @returns Where it fits: nowhere, in one place, or in several, of which there may be more where they are `MAX_FOUND`.
 */
export function fitHunk(search: LineSearch, hunk: Hunk, number: number): readonly Fit[] {
  const name = `hunk ${number}`;
  const readings = [hunk.lines, ...(hunk.looseTail > 0 ? [hunk.lines.slice(0, -hunk.looseTail)] : [])];
  for (const fitReading of [fitWhole, fitWithoutOuterLines]) {
    for (const lines of readings) {
      for (const found of fitReading(search, lines, hunk.atEnd === true, name)) {
        let fits = [...found];
        if (fits.length === 0) continue;
        const notes: string[] = [];
        // Of a list that was cut, nobody knows how many are in the section.
        const isWhole = fits.length > 1 && fits.length < MAX_FOUND;
        const section = isWhole && hunk.heading !== undefined ? search.section(hunk.heading) : undefined;
        const below = section ? fits.filter(([at]) => at >= section.from && at < section.to) : [];
        if (below.length === 1) {
          notes.push(`of ${fits.length} places for ${name} the one under "${hunk.heading}" was taken`);
          fits = below;
        }
        if (lines !== hunk.lines) notes.push(`the text after ${name} was taken for prose`);
        return fits.map(([, fit]) => ({ ...fit, notes: [...fit.notes, ...notes] }));
      }
    }
  }
  return [];
}

/** Why a hunk that fits more than once is not applied. */
export function whyAmbiguous({ oldStart }: Hunk, number: number, fits: readonly Fit[]): string {
  const count = fits.length >= MAX_FOUND ? `${MAX_FOUND} or more` : fits.length;
  const more = fits.length > MAX_SHOWN ? ', ...' : '';
  const lines = fits.slice(0, MAX_SHOWN).map(({ start }) => start + 1);
  const stated = oldStart === undefined ? '' : ' Line numbers do not decide, because they are often wrong.';
  return `Hunk ${number} fits ${count} places (from lines ${lines.join(', ')}${more}): add more unchanged lines before and after the change, up to a heading or another line that is there only once.${stated}`;
}

/** Why a hunk that fits nowhere is not applied: it has been, it has nothing to go by, or what the file has instead. */
export function whyNowhere({ lines }: Hunk, number: number, search: LineSearch, creates: boolean): string {
  const old = oldSide(lines);
  if (old.length === 0 && creates) {
    return 'The diff creates the file, but the file is there and has text: make a diff against its present text.';
  }
  if (old.length === 0) {
    return `Hunk ${number} only adds lines, with no unchanged line around them, so that nothing says where they belong: add the lines before and after the place, each with a blank before it.`;
  }
  if (search.texts.length === 0) return `Hunk ${number} expects lines, but the file is empty: only add lines.`;
  const { top, bottom } = outerContext(lines);
  const left = lines.filter(({ kind }) => kind !== '-');
  // What only removes is told by the lines around it, which now are neighbours.
  const tells = left.some(({ kind, text }) => kind === '+' && text.trim() !== '') || (top > 0 && bottom > 0);
  const [applied] = tells ? findRun(search, left, 'end') : [];
  if (applied !== undefined) {
    return `Hunk ${number} seems to be applied already: what it leaves behind stands in the file from line ${applied + 1}. Leave it out.`;
  }
  return `Hunk ${number} does not fit anywhere. ${nearest(old, search)} Read the file again and copy its lines exactly, with a blank before each unchanged one.`;
}

/** How many unchanged lines a hunk begins and ends with. */
export function outerContext(lines: readonly HunkLine[]): { readonly top: number; readonly bottom: number } {
  const top = lines.findIndex(({ kind }) => kind !== ' ');
  const last = lines.findLastIndex(({ kind }) => kind !== ' ');
  return top === -1 ? { top: lines.length, bottom: 0 } : { top, bottom: lines.length - 1 - last };
}

// --- internal ---

/** Outer unchanged lines on each side. */
const MAX_DROPPED = 2;
/** Lines named in a message. */
const MAX_SHOWN = 8;
/** A line that is there more often tells little about the place. */
const MAX_VOTES = 50;
const MAX_VOTERS = 2000;
/** Of a line in a message, before the first character that differs. */
const BEFORE_DIFFERENCE = 40;

/** The lines a hunk expects in the file. */
function oldSide(lines: readonly HunkLine[]): readonly HunkLine[] {
  return lines.filter(({ kind }) => kind !== '+');
}

/** Fits by the line of the file that tells whether they are below the heading of the hunk; one map for each comparison. */
type Comparisons = Generator<ReadonlyMap<number, Fit>>;

function* fitWhole(search: LineSearch, lines: readonly HunkLine[], atEnd: boolean, name: string): Comparisons {
  const old = oldSide(lines);
  const at = (starts: readonly number[], ...notes: readonly string[]): ReadonlyMap<number, Fit> =>
    new Map(starts.map((start) => [start, { start, lines, notes }]));
  if (old.length === 0) {
    if (search.texts.length === 0 || atEnd) yield at([search.texts.length]);
    return;
  }
  yield at(findRun(search, old, 'exact', atEnd));
  yield at(findRun(search, old, 'end', atEnd), `blanks at the ends of lines were ignored in ${name}`);
  yield at(
    findRun(search, old, 'unsigned', atEnd),
    `unchanged lines without their leading blank were taken as they are in ${name}`,
  );
  const telling = old.filter(({ text }) => text.trim() !== '');
  if (telling.length < 2 || !telling.some(({ kind }) => kind === '-')) return;
  const shifted = new Map<number, Fit>();
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
    // By the line of the file where the change is: two ways to let lines go may lead to the same place.
    const found = new Map<number, Fit>();
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

/** @param likeness - `unsigned`: as `end`, and unchanged lines may lack the blank that marks them. */
function findRun(
  search: LineSearch,
  lines: readonly HunkLine[],
  likeness: Likeness | 'unsigned',
  atEnd = false,
): readonly number[] {
  const isUnsigned = likeness === 'unsigned';
  const run = lines.map(({ text, unsigned }) => (isUnsigned && unsigned !== undefined ? [text, unsigned] : [text]));
  const found = search.find(run, isUnsigned ? 'end' : likeness);
  return atEnd ? found.filter((start) => start + lines.length === search.texts.length) : found;
}

/**
 * The lines of a hunk with as many blanks more, or less, at the beginning of added ones as all lines of the file have there;
 * undefined where these do not agree on it.
 */
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

/** The place where most lines fit, and the first line that does not. */
function nearest(old: readonly HunkLine[], { texts, linesLike }: LineSearch): string {
  const votes = new Map<number, number>();
  for (const [at, { text }] of old.slice(0, MAX_VOTERS).entries()) {
    const positions = text.trim() === '' ? [] : linesLike(text, MAX_VOTES + 1);
    if (positions.length > MAX_VOTES) continue;
    for (const position of positions) votes.set(position - at, (votes.get(position - at) ?? 0) + 1);
  }
  let [start, most]: [number | undefined, number] = [undefined, 0];
  for (const [at, count] of votes) if (count > most) [start, most] = [at, count];
  if (start === undefined) {
    const line = old.find(({ text }) => text.trim() !== '' && linesLike(text, 1).length === 0);
    return line ? `The file has no line like ${quoteLine(line.text)}.` : 'Its lines stand nowhere in this order.';
  }
  const differ = old.flatMap(({ text }, at) => (texts[start + at]?.trimEnd() === text.trimEnd() ? [] : [at]));
  const where = `The nearest place is line ${Math.max(0, start) + 1}, where ${old.length - differ.length} of its ${old.length} unchanged and removed lines fit`;
  const [wrong] = differ;
  if (wrong === undefined) return `${where}.`;
  const [expected, there] = [(old[wrong] as HunkLine).text, texts[start + wrong]];
  if (there === undefined) return `${where}: where the diff has ${quoteLine(expected)}, the file has no line.`;
  let same = 0;
  while (same < expected.length && expected[same] === there[same]) same++;
  // Cut so that the first difference shows.
  const from = Math.max(expected.length, there.length) <= SHOWN ? 0 : Math.max(0, same - BEFORE_DIFFERENCE);
  return `${where}: where the diff has ${quoteLine(expected, from)}, the file has ${quoteLine(there, from)} (line ${start + wrong + 1}).`;
}
