import type { Skill } from '../skill/skill.ts';
import { type CatalogFormat, onceFor } from './formats.ts';
import type { CatalogChoice } from './thread-choices.ts';

export interface LineCounter {
  /** With its line end. */
  line(line: string): number;
  /** Sum of its lines: one or two more than the tokens of the text. */
  text(text: string): number;
  /** Stops counting above `room`. */
  fits(lines: readonly string[], room: number): boolean;
}

export interface ChooseLinesOptions {
  readonly skills: readonly Skill[];
  /** Best first. */
  readonly ranked: readonly Skill[];
  /** Skills that are not in `ranked` follow, in catalog order. */
  readonly fills: boolean;
  /** For a later turn of the thread, best first. */
  readonly fitting: readonly Skill[];
  readonly format: CatalogFormat;
  readonly counter: LineCounter;
  readonly room: number;
  readonly before: CatalogChoice | undefined;
}

export interface ChosenLines {
  readonly lines: readonly string[];
  /** To store for the thread. */
  readonly choice: Omit<CatalogChoice, 'provisional'>;
}

/** Characters of a description when all skills are named. */
const SHORT = 80;
/** The same when some are left out. */
const MEDIUM = 120;
/** The same when pinned skills would not fit with more. */
const SHORTEST = 40;
/** For the first turn of a thread; the rest is for lines of later turns. */
const FIRST_SHARE = 0.75;
/** By one later turn, so that the room is enough for the whole thread. */
const MAX_ADDED = 5;
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

export function skillWithId(skills: readonly Skill[], id: string): Skill | undefined {
  const place = placesOf(skills).get(id);
  return place === undefined ? undefined : skills[place];
}

/** A line for every skill; the most relevant ones have a description. */
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
 * The most relevant skills that fit, in catalog order. In a thread they follow the lines of the turns before.
 *
 * @param choosing.pinned - The first skills of `ranked`, which are left out only when their names do not fit.
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

/** Undefined when a skill of it was removed or its line has changed. */
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
    // The names of very many pinned skills may not fit either.
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
