import type { Skill } from '../skill/skill.ts';
import type { CatalogFormat } from './formats.ts';
import type { CatalogChoice } from './thread-choices.ts';

/** Counts tokens of lines that come again and again, each once. */
export interface LineCounter {
  /** Of a line and its end. */
  line(line: string): number;
  text(text: string): number;
  /** Whether lines have at most `room` tokens together; stops at the first one too many. */
  fits(lines: readonly string[], room: number): boolean;
}

export interface Choosing {
  readonly skills: readonly Skill[];
  /** Best first; what is missing follows in order of the catalog. */
  readonly ranked: readonly Skill[];
  /** What a later turn of the thread may add, best first. */
  readonly fitting: readonly Skill[];
  readonly format: CatalogFormat;
  readonly counter: LineCounter;
  /** Tokens for the lines. */
  readonly room: number;
  /** What the thread has been shown. */
  readonly before: CatalogChoice | undefined;
}

export interface ChosenLines {
  readonly lines: readonly string[];
  /** For the thread to remember. */
  readonly choice: CatalogChoice;
}

/** Descriptions of this length go with the most relevant skills when all are named. */
const SHORT = 80;
/** Relevant skills are worth more words once the rest is gone, and more skills are worth more than more words. */
const MEDIUM = 120;
/** What is pinned gives up words before it gives up its place. */
const SHORTEST = 40;
/** The first turn of a thread takes so much of the room; the rest is for what later turns add. */
const FIRST_SHARE = 0.75;
/** The best of a prompt, so many, are added where they are not there yet: the room has to last for the thread. */
const MAX_ADDED = 5;
/** Lines whose tokens are remembered. */
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
    text: count,
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

/** A line for every skill, the most relevant with their description, as many as there is room for. */
export function describeSome({ skills, ranked, format, counter, room, before }: Choosing): ChosenLines {
  const cost = (lines: ReadonlyMap<string, string>): number =>
    skills.reduce((sum, skill) => sum + counter.line(lines.get(skill.id) ?? format.name(skill)), 0);
  let lines = remembered(before, 'described', skills, format);
  if (!lines || cost(lines) > room) {
    const chosen = new Map<string, string>();
    let used = cost(chosen);
    for (const skill of inOrder(ranked, skills)) {
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
 * Lines of the most relevant skills, as many as there is room for, in order of the catalog; in a thread below those that
 * were chosen before.
 *
 * @param choosing.pinned - How many of the first of `ranked` are never left out.
 * @param choosing.inThread - Later turns will add lines.
 */
export function chooseLines(choosing: Choosing & { readonly pinned: number; readonly inThread: boolean }): ChosenLines {
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

/** What the thread was shown, unless one of its skills has gone or reads otherwise now. */
function remembered(
  before: CatalogChoice | undefined,
  kind: CatalogChoice['kind'],
  skills: readonly Skill[],
  format: CatalogFormat,
): CatalogChoice['lines'] | undefined {
  if (before?.kind !== kind) return undefined;
  let found = 0;
  for (const skill of skills) {
    const line = before.lines.get(skill.id);
    if (line === undefined) continue;
    const same = [MEDIUM, SHORT, SHORTEST].some((length) => format.entry(skill, length) === line);
    if (!same && format.name(skill) !== line) return undefined;
    found++;
  }
  return found === before.lines.size ? before.lines : undefined;
}

function firstChoice(
  { skills, ranked, format, counter, pinned, room }: Choosing & { readonly pinned: number },
  share: number,
): Map<string, string> {
  const kept = ranked.slice(0, pinned);
  const cost = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + counter.line(line), 0);
  const length = [MEDIUM, SHORT, SHORTEST].find((one) => cost(kept.map((skill) => format.entry(skill, one))) <= room);
  const chosen = new Map<Skill, string>();
  let used = 0;
  for (const skill of inOrder(ranked, skills)) {
    const isPinned = chosen.size < pinned;
    if (!isPinned && length === undefined) break;
    const line = length === undefined ? format.name(skill) : format.entry(skill, length);
    used += counter.line(line);
    if (!isPinned && used > share) break;
    chosen.set(skill, line);
  }
  const inCatalog = skills.filter((skill) => chosen.has(skill));
  return new Map(inCatalog.map((skill) => [skill.id, chosen.get(skill) as string]));
}

/** The ranked ones, then the others in order of the catalog. */
function* inOrder(ranked: readonly Skill[], skills: readonly Skill[]): Generator<Skill> {
  yield* ranked;
  const had = new Set(ranked);
  for (const skill of skills) if (!had.has(skill)) yield skill;
}
