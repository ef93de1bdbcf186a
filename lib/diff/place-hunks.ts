import { standsAlready } from './already-applied.ts';
import { capital, whyAmbiguous, whyNowhere } from './explain-refusal.ts';
import { MAX_PLACES, type PlaceFinder } from './find-places.ts';
import type { Hunk, HunkLine } from './hunk.ts';
import { locateHunk, type Placed } from './locate-hunk.ts';

/** A hunk where it belongs, with the name it has in messages. */
export interface NamedPlace extends Placed {
  readonly name: string;
}

export type Placement =
  | { readonly places: readonly NamedPlace[]; readonly notes: readonly string[] }
  /** One for every hunk that does not fit, of the first that do not, in words a model can act on. */
  | { readonly reasons: readonly string[] };

/**
 * Finds the place of every hunk. The numbers in a diff never decide: models count badly, and a wrong guess looks like a right
 * one where lines repeat. Each hunk must fit in one place only. Hunks that are all alike are one hunk written twice if there is
 * one place for them, and one for each if there are as many places and their numbers are not the same.
 */
export function placeHunks(finder: PlaceFinder, hunks: readonly Hunk[], creates: boolean): Placement {
  const places: NamedPlace[] = [];
  const notes: string[] = [];
  const reasons: string[] = [];
  for (const alike of groupAlike(hunks)) {
    if (reasons.length >= MAX_REASONS) return { reasons: [...reasons, 'There may be more.'] };
    const [{ hunk, name }] = alike as [NamedHunk, ...NamedHunk[]];
    const location = locateHunk(finder, hunk, name);
    if (finder.exhausted()) return { reasons: [TOO_MUCH] };
    if (location.kind === 'none') reasons.push(whyNowhere(name, hunk, finder, creates));
    else if (location.kind === 'many' && isOneForEach(location.places, alike)) {
      const found = location.places.map((placed, at) => ({ ...placed, name: (alike[at] as NamedHunk).name }));
      places.push(...found);
      notes.push(...found.flatMap((placed, at) => notesOn((alike[at] as NamedHunk).hunk, placed)));
    } else if (location.kind === 'many') {
      const starts = location.places.map(({ start }) => start);
      reasons.push(whyAmbiguous(name, starts, hunk));
    } else {
      const { placed } = location;
      const stands = standsAlready(finder, placed);
      const others = alike.slice(1).map((other) => other.name);
      if (stands !== undefined) reasons.push(whyStands(name, stands));
      else if (alike.some((other) => other.hunk.oldStart !== hunk.oldStart)) {
        reasons.push(`${capital(name)} and ${others.join(', ')} are alike, but fit in one place only: write it once.`);
      }
      places.push({ ...placed, name });
      notes.push(...notesOn(hunk, { ...placed, name }));
      if (others.length > 0) notes.push(`${others.join(', ')} repeated ${name} and was left out`);
    }
  }
  return reasons.length > 0 ? { reasons } : { places, notes };
}

// --- internal ---

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

function isOneForEach(places: readonly Placed[], alike: readonly NamedHunk[]): boolean {
  if (places.length !== alike.length || places.length >= MAX_PLACES) return false;
  const stated = alike.map(({ hunk }) => hunk.oldStart).filter((start) => start !== undefined);
  // Where the numbers are alike, too, somebody wrote one hunk more than once.
  return new Set(stated).size === stated.length;
}

function whyStands(name: string, stands: number): string {
  return `The lines that ${name} adds stand in the file already, from line ${stands + 1}. Leave it out; if they should be there twice, show the unchanged lines on both sides of the place.`;
}

function notesOn({ oldStart, lines, miscounted }: Hunk, placed: NamedPlace): readonly string[] {
  const notes = [...placed.notes];
  if (miscounted) notes.push(`${placed.name} has more or fewer lines than its "@@" line says`);
  const dropped = Math.max(0, lines.indexOf(placed.lines[0] as HunkLine));
  const drift = oldStart ? placed.start - dropped + 1 - oldStart : 0;
  const count = Math.abs(drift);
  if (count === 0) return notes;
  const where = `${count} line${count > 1 ? 's' : ''} further ${drift > 0 ? 'down' : 'up'}`;
  return [...notes, `${placed.name} was found ${where}`];
}
