import type { PlaceFinder } from './find-places.ts';
import { type Hunk, isChange, newSide, outerContext } from './hunk.ts';
import type { Placed } from './locate-hunk.ts';

/** Where a hunk that fits nowhere stands as it would leave the file, 0-based. */
export function findApplied(finder: PlaceFinder, { lines }: Hunk): number | undefined {
  const after = newSide(lines);
  const { top, bottom } = outerContext(lines);
  const adds = after.some(({ kind, text }) => kind === '+' && text.trim() !== '');
  // What only removes is told by the lines around it, which now are neighbours.
  if (!adds && (top === 0 || bottom === 0)) return undefined;
  const run = after.map(({ text }) => [text]);
  return finder.places(run, 'end')[0];
}

/**
 * Where the lines stand that a hunk would add at one of its own ends, 0-based. It fits as well when it has been applied: with
 * unchanged lines on one side only, nothing in it says what comes next.
 */
export function standsAlready(finder: PlaceFinder, { start, lines }: Placed): number | undefined {
  const { top, bottom } = outerContext(lines);
  const added = lines.filter(isChange);
  if (added.length === 0 || added.some(({ kind }) => kind === '-')) return undefined;
  if (top + bottom + added.length !== lines.length || top > 0 === bottom > 0) return undefined;
  const from = top > 0 ? start + top : start - added.length;
  const stands = added.every(({ text }, at) => finder.texts[from + at]?.trimEnd() === text.trimEnd());
  return stands ? from : undefined;
}
