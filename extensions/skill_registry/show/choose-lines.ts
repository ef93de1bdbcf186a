import type { Skill } from '../skill/skill.ts';
import { type CatalogFormat, onceFor } from './formats.ts';
import type { CatalogChoice } from './thread-choices.ts';

/** Counts the tokens of lines, and remembers the counts. */
export interface LineCounter {
  /** Tokens of a line and its line end. */
  line(line: string): number;
  /** Tokens of a text, counted line by line: one or two more than it has, because the line ends between its parts are counted apart. */
  text(text: string): number;
  /** Whether lines have at most `room` tokens together; stops counting when they have more. */
  fits(lines: readonly string[], room: number): boolean;
}

export interface ChooseLinesOptions {
  readonly skills: readonly Skill[];
  /** Best first. */
  readonly ranked: readonly Skill[];
  /** Whether skills that are not in `ranked` follow, in order of the catalog. */
  readonly fills: boolean;
  /** The skills that a later turn of the thread may add, best first. */
  readonly fitting: readonly Skill[];
  readonly format: CatalogFormat;
  readonly counter: LineCounter;
  /** Tokens for the lines. */
  readonly room: number;
  /** The choice of earlier turns of the thread. */
  readonly before: CatalogChoice | undefined;
}

export interface ChosenLines {
  readonly lines: readonly string[];
  /** The choice to store for the thread. */
  readonly choice: Omit<CatalogChoice, 'provisional'>;
}

/** Characters of a description when all skills are named. */
const SHORT = 80;
/** Characters of a description when some skills are left out. */
const MEDIUM = 120;
/** Characters of a description when pinned skills would not fit with longer ones. */
const SHORTEST = 40;
/** The part of the room for the first turn of a thread; the rest is for lines that later turns add. */
const FIRST_SHARE = 0.75;
/** A later turn adds at most this many skills, so that the room is enough for the whole thread. */
const MAX_ADDED = 5;
/** Number of lines whose tokens are remembered. */
const MAX_KNOWN = 20_000;
const knownTokens = new Map<string, number>();

export function createLineCounter(count: (text: string) => number): LineCounter {
  const line = (text: string): number => {
    const before = knownTokens.get(text);
    if (before !== undefined) return before;
    const tokens = count(`${text}\n`);
    if (knownTokens.size >= MAX_KNOWN) knownTokens.clear();
    knownTokens.set(text, tokens);
    return tokens;
  };
  return {
    line,
    text: (text) => text.split('\n').reduce((sum, one) => sum + line(one), 0),
    fits(lines, room) {
      let used = 0;
      for (const one of lines) {
        if (used > room) return false;
        used += line(one);
      }
      return used <= room;
    },
  };
}

/** The skill with an id among those of a catalog. */
export function skillWithId(skills: readonly Skill[], id: string): Skill | undefined {
  const place = placesOf(skills).get(id);
  return place === undefined ? undefined : skills[place];
}

/** A line for every skill. The most relevant skills have a description, as many as fit. */
export function describeSome(choosing: ChooseLinesOptions): ChosenLines {
  const { skills, format, counter, room, before } = choosing;
  const cost = (lines: ReadonlyMap<string, string>): number =>
    skills.reduce((sum, skill) => sum + counter.line(lines.get(skill.id) ?? format.name(skill)), 0);
  let lines = remembered(before, 'described', skills, format);
  if (!lines || cost(lines) > room) {
    const chosen = new Map<string, string>();
    let used = cost(chosen);
    for (const skill of inOrder(choosing)) {
      const line = format.entry(skill, SHORT);
      used += counter.line(line) - counter.line(format.name(skill));
      if (used > room) break;
      chosen.set(skill.id, line);
    }
    lines = chosen;
  }
  const shown = lines;
  return {
    lines: skills.map((skill) => shown.get(skill.id) ?? format.name(skill)),
    choice: { kind: 'described', lines: shown },
  };
}

/**
 * Lines of the most relevant skills, as many as fit, in order of the catalog. In a thread they follow the lines of the turns before.
 *
 * @param choosing.pinned - The number of skills at the start of `ranked` that are left out only when their names do not fit.
 * @param choosing.inThread - Later turns will add lines.
 */
export function chooseLines(
  choosing: ChooseLinesOptions & { readonly pinned: number; readonly inThread: boolean },
): ChosenLines {
  const { skills, fitting, format, counter, room, inThread } = choosing;
  const before = remembered(choosing.before, 'chosen', skills, format);
  const lines =
    before && counter.fits([...before.values()], room)
      ? new Map(before)
      : firstChoice(choosing, inThread ? Math.floor(room * FIRST_SHARE) : room);
  if (before) {
    let used = [...lines.values()].reduce((sum, line) => sum + counter.line(line), 0);
    for (const skill of fitting.slice(0, MAX_ADDED).filter(({ id }) => !lines.has(id))) {
      const line = format.entry(skill, MEDIUM);
      used += counter.line(line);
      if (used > room) break;
      lines.set(skill.id, line);
    }
  }
  return { lines: [...lines.values()], choice: { kind: 'chosen', lines } };
}

// --- internal ---

const placesOf = onceFor((skills): ReadonlyMap<string, number> => new Map(skills.map(({ id }, at) => [id, at])));

/** The choice of earlier turns, unless one of its skills was removed or its line has changed. */
function remembered(
  before: CatalogChoice | undefined,
  kind: CatalogChoice['kind'],
  skills: readonly Skill[],
  format: CatalogFormat,
): CatalogChoice['lines'] | undefined {
  if (before?.kind !== kind) return undefined;
  for (const [id, line] of before.lines) {
    const skill = skillWithId(skills, id);
    if (!skill) return undefined;
    const same = [MEDIUM, SHORT, SHORTEST].some((length) => format.entry(skill, length) === line);
    if (!same && format.name(skill) !== line) return undefined;
  }
  return before.lines;
}

function firstChoice(choosing: ChooseLinesOptions & { readonly pinned: number }, share: number): Map<string, string> {
  const { skills, ranked, format, counter, pinned, room } = choosing;
  const kept = ranked.slice(0, pinned);
  const cost = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + counter.line(line), 0);
  const length = [MEDIUM, SHORT, SHORTEST].find((one) => cost(kept.map((skill) => format.entry(skill, one))) <= room);
  const chosen = new Map<Skill, string>();
  let used = 0;
  for (const skill of inOrder(choosing)) {
    const isPinned = chosen.size < pinned;
    if (!isPinned && length === undefined) break;
    const line = length === undefined ? format.name(skill) : format.entry(skill, length);
    used += counter.line(line);
    // Names of very many pinned skills may be more than there is room for.
    if (used > (isPinned ? room : share)) break;
    chosen.set(skill, line);
  }
  const places = placesOf(skills);
  const place = ({ id }: Skill): number => places.get(id) as number;
  const inCatalog = [...chosen].sort(([a], [b]) => place(a) - place(b));
  return new Map(inCatalog.map(([{ id }, line]) => [id, line]));
}

function* inOrder({ ranked, skills, fills }: ChooseLinesOptions): Generator<Skill> {
  yield* ranked;
  if (!fills) return;
  const had = new Set(ranked);
  for (const skill of skills) if (!had.has(skill)) yield skill;
}
