import { loadTokenCounter } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import { BULLETS, type CatalogFormat } from './formats.ts';

export interface CatalogTextOptions {
  readonly budgetTokens: number;
  /** Which skills matter most to the prompt, best first; asked only when not all can stay. */
  readonly rank: () => readonly Skill[];
  /** How many of the first of `rank` are pinned: shortened if need be, never left out. Default: none. */
  readonly pinned?: number;
  /** Default: bullets. */
  readonly format?: CatalogFormat;
}

/** Lengths descriptions are evenly cut to, tried in turn. */
const LENGTHS = [400, 300, 240, 200, 160, 130, 100, 80, 60, 40];
/** Descriptions of this length go with the most relevant skills when not all can have one. */
const SHORT = 80;
/** Relevant skills are worth more words once the rest is gone. */
const MEDIUM = 160;
/** What is pinned gives up words before it gives up its place. */
const SHORTEST = 40;

/**
 * The catalog as an agent reads it (L1), within a budget; null for no skills. The same skills, budget and ranking give the
 * same text.
 *
 * Over budget, in this order: descriptions are evenly cut at a word; the least relevant skills keep only their name; the
 * least relevant are left out. From the first step that loses anything, a line says how many are shown.
 */
export async function catalogText(skills: readonly Skill[], options: CatalogTextOptions): Promise<string | null> {
  if (skills.length === 0) return null;
  const { format = BULLETS } = options;
  const whole = layOut(
    format,
    skills.map((skill) => format.entry(skill)),
  );
  // A token is at least one byte, so a text that is short enough needs no tokenizer.
  if (Buffer.byteLength(whole) <= options.budgetTokens) return whole;
  const count = await loadTokenCounter();
  let budgetTokens = options.budgetTokens;
  for (;;) {
    const text = fitted(skills, { ...options, budgetTokens }, count);
    // Lines are counted one by one; the tokenizer may cut the whole in other places, and count a few tokens more.
    const over = count(text) - options.budgetTokens;
    if (over <= 0 || budgetTokens <= 0) return text;
    budgetTokens -= over;
  }
}

// --- internal ---

function fitted(skills: readonly Skill[], options: CatalogTextOptions, count: (text: string) => number): string {
  const { format = BULLETS } = options;
  const frame = count(layOut(format, [], skills.length, skills.length));
  /** Stops at the first line too many: most of a large catalog is never looked at. */
  const fits = (lineOf: LineOf, fixed = frame): boolean => {
    let used = fixed;
    return skills.every((skill) => {
      const line = lineOf(skill);
      if (line !== undefined) used += count(`${line}\n`);
      return used <= options.budgetTokens;
    });
  };
  const write = (lineOf: LineOf, lossy = true): string => {
    const lines = skills.map(lineOf).filter((line) => line !== undefined);
    return lossy ? layOut(format, lines, lines.length, skills.length) : layOut(format, lines);
  };
  const whole: LineOf = (skill) => format.entry(skill);

  if (fits(whole, count(layOut(format, [])))) return write(whole, false);
  if (fits(format.name)) {
    for (const length of LENGTHS) {
      const evenly: LineOf = (skill) => format.entry(skill, length);
      if (fits(evenly)) return write(evenly);
    }
    const ranked = rankedFirst(skills, options.rank());
    const described = (most: number): LineOf => {
      const chosen = new Set(ranked.slice(0, most));
      return (skill) => (chosen.has(skill) ? format.entry(skill, SHORT) : format.name(skill));
    };
    return write(described(largest(skills.length, (n) => fits(described(n)))));
  }

  const ranked = rankedFirst(skills, options.rank());
  const relevant = (most: number, length = MEDIUM): LineOf => {
    const chosen = new Set(ranked.slice(0, most));
    return (skill) => (chosen.has(skill) ? format.entry(skill, length) : undefined);
  };
  const { pinned = 0 } = options;
  const length = [MEDIUM, SHORT, SHORTEST].find((one) => fits(relevant(pinned, one)));
  if (length === undefined) {
    const kept = new Set(ranked.slice(0, pinned));
    return write((skill) => (kept.has(skill) ? format.name(skill) : undefined));
  }
  // A line has more than one token, so no more than the budget can be shown.
  const most = Math.min(skills.length, options.budgetTokens);
  const shown = largest(most, (n) => n <= pinned || fits(relevant(n, length)));
  return write(relevant(Math.max(shown, pinned), length));
}

/** The line of a skill; undefined leaves it out. */
type LineOf = (skill: Skill) => string | undefined;

function layOut(format: CatalogFormat, lines: readonly string[], shown?: number, of?: number): string {
  const note = of === undefined ? [] : [`${shown} of ${of} skills shown; list_skills(query) finds the rest.`];
  return [format.header, ...lines, format.footer, ...note].join('\n');
}

function rankedFirst(skills: readonly Skill[], ranked: readonly Skill[]): readonly Skill[] {
  const here = new Set(skills);
  return [...new Set([...ranked.filter((skill) => here.has(skill)), ...skills])];
}

/** The largest n from 0 to `most` for which `holds`, which is false from some n on. */
function largest(most: number, holds: (n: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
