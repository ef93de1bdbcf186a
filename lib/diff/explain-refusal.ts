import { findApplied } from './already-applied.ts';
import { MAX_PLACES, type PlaceFinder } from './find-places.ts';
import { type Hunk, oldSide } from './hunk.ts';
import { quoteDifferent, quoteLine } from './quote-line.ts';

/** Why a hunk that fits more than once is not applied. @param starts - 0-based. */
export function whyAmbiguous(name: string, starts: readonly number[], hunk: Hunk): string {
  const count = starts.length >= MAX_PLACES ? `${MAX_PLACES} or more` : starts.length;
  const more = starts.length > MAX_SHOWN ? ', ...' : '';
  const lines = starts.slice(0, MAX_SHOWN).map((start) => start + 1);
  const stated = hunk.oldStart === undefined ? '' : ' Line numbers do not decide, because they are often wrong.';
  return `${capital(name)} fits ${count} places (from lines ${lines.join(', ')}${more}): add more unchanged lines before and after the change, up to a heading or another line that is there only once.${stated}`;
}

/** Why a hunk that fits nowhere is not applied: it has been, it has nothing to go by, or what the file has instead. */
export function whyNowhere(name: string, hunk: Hunk, finder: PlaceFinder, creates: boolean): string {
  const old = oldSide(hunk.lines);
  const Name = capital(name);
  if (old.length === 0 && creates) {
    return 'The diff creates the file, but the file is there and has text: make a diff against its present text.';
  }
  if (old.length === 0) {
    return `${Name} only adds lines, with no unchanged line around them, so that nothing says where they belong: add the lines before and after the place, each with a blank before it.`;
  }
  if (finder.texts.length === 0) return `${Name} expects lines, but the file is empty: only add lines.`;
  const applied = findApplied(finder, hunk);
  if (applied !== undefined) {
    return `${Name} seems to be applied already: what it leaves behind stands in the file from line ${applied + 1}. Leave it out.`;
  }
  return `${Name} does not fit anywhere. ${nearest(hunk, finder)} Read the file again and copy its lines exactly, with a blank before each unchanged one.`;
}

/** The name of a hunk at the beginning of a sentence. */
export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

// --- internal ---

const MAX_SHOWN = 8;
/** A line that is there more often tells little about the place. */
const MAX_VOTES = 50;
const MAX_VOTERS = 2000;

/** The place where most lines fit, and the first line that does not. */
function nearest(hunk: Hunk, finder: PlaceFinder): string {
  const old = oldSide(hunk.lines);
  const votes = new Map<number, number>();
  for (const [at, { text }] of old.slice(0, MAX_VOTERS).entries()) {
    if (text.trim() === '') continue;
    const positions = finder.positions(text, 'both');
    if (positions.length > MAX_VOTES) continue;
    for (const position of Array.from(positions)) votes.set(position - at, (votes.get(position - at) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [start, count] of votes) if (best === undefined || count > (votes.get(best) as number)) best = start;
  if (best === undefined) {
    const line = old.find(({ text }) => text.trim() !== '' && finder.positions(text, 'both').length === 0);
    return line ? `The file has no line like ${quoteLine(line.text)}.` : 'Its lines stand nowhere in this order.';
  }
  const start = best;
  const fits = ({ text }: { readonly text: string }, at: number): boolean =>
    finder.texts[start + at]?.trimEnd() === text.trimEnd();
  const matching = old.filter(fits).length;
  const wrong = old.findIndex((line, at) => !fits(line, at));
  const where = `The nearest place is line ${Math.max(0, start) + 1}, where ${matching} of its ${old.length} unchanged and removed lines fit`;
  const expected = old[wrong]?.text;
  if (expected === undefined) return `${where}.`;
  const there = finder.texts[start + wrong];
  if (there === undefined) return `${where}: where the diff has ${quoteLine(expected)}, the file has no line.`;
  const [inDiff, inFile] = quoteDifferent(expected, there);
  return `${where}: where the diff has ${inDiff}, the file has ${inFile} (line ${start + wrong + 1}).`;
}
