import { loadTokenCounter } from '../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import {
  type ChooseLinesOptions,
  type ChosenLines,
  chooseLines,
  createLineCounter,
  describeSome,
  type LineCounter,
  skillWithId,
} from './choose-lines.ts';
import { BULLETS, type CatalogFormat, isShort, type NamedTools, omissionLine, withShortLines } from './formats.ts';
import type { ThreadChoice } from './thread-choices.ts';

export interface CatalogTextOptions {
  readonly budgetTokens: number;
  /** Returns the skills that are most relevant to the prompt, best first. Called only when not all skills fit. */
  readonly rank: () => readonly Skill[] | Promise<readonly Skill[]>;
  /** How many of the first skills of `rank` are pinned: shortened rather than left out, as far as their names fit. Default: 0. */
  readonly pinned?: number;
  /** Returns the skills of `rank` that a later turn of a thread may add, best first. Default: none. */
  readonly fitting?: () => readonly Skill[] | Promise<readonly Skill[]>;
  /** The choice of earlier turns of the thread. Default: the turn is not part of a thread. */
  readonly thread?: ThreadChoice | undefined;
  /** Default: bullets. */
  readonly format?: CatalogFormat;
  /** The tools of the agent. */
  readonly tools: NamedTools;
  /** Called with the skills that have a line in the text, before it is returned. */
  readonly onListed?: ((skills: readonly Skill[]) => void) | undefined;
}

/** Lengths of descriptions in characters, tried in this order when all are cut. */
const LENGTHS = [400, 300, 240, 200, 160, 130, 100, 80, 60, 40];
/** Every entry has at least this many tokens, so many skills are known not to fit without counting. */
const LEAST_TOKENS = 3;

/**
 * The catalog as an agent reads it (L1), within a budget; null for no skills. The same skills, budget, tools and ranking give
 * the same text. No line has more than 120 tokens; a skill whose id alone has more
 * is left out.
 *
 * Over the budget, these steps follow: all descriptions are cut to one length, at a word; the least relevant skills keep only their
 * name; the least relevant skills are left out. After each of these steps a line says so.
 *
 * In a thread the first turn fills three quarters of the budget. Later turns add skills for their prompt below, until the budget is
 * full: the text of a turn begins with the lines of the turn before. When a skill in the text has changed or was removed, the turn
 * chooses all lines again.
 */
export async function catalogText(skills: readonly Skill[], options: CatalogTextOptions): Promise<string | null> {
  if (skills.length === 0) return null;
  const { format: whole = BULLETS, tools, budgetTokens } = options;
  const few = skills.length * LEAST_TOKENS <= budgetTokens;
  if (few) {
    const lines = skills.map((skill) => whole.entry(skill));
    const text = layOut(whole, tools, lines);
    // A token is at least one byte, so a text that is short enough needs no tokenizer.
    if (lines.every(isShort) && Buffer.byteLength(text) <= budgetTokens) {
      options.onListed?.(skills);
      return text;
    }
  }
  const count = await loadTokenCounter();
  const counter = createLineCounter(count);
  const format = withShortLines(whole, count);
  const listed = format.listed(skills);
  const layout: Layout = { format, tools, counter, total: skills.length };
  const even = few ? evenly(listed, budgetTokens, layout) : undefined;
  if (even !== undefined) {
    options.onListed?.(listed);
    return even;
  }
  const all = await options.rank();
  const ranked = all.filter(format.has);
  const pinned = all.slice(0, options.pinned).filter(format.has).length;
  const before = options.thread?.get();
  const fitting = before ? (await (options.fitting?.() ?? [])).filter(format.has) : [];
  let budget = budgetTokens;
  for (;;) {
    const room = budget - frameOf(layout);
    const choosing = { skills: listed, ranked, fitting, format, counter, room, before };
    const { lines, choice } = chosen({ ...options, pinned }, choosing);
    const text = layOut(format, tools, lines, omissionLine(lines.length, skills.length, tools));
    // Lines are counted one by one; the whole text may have a few tokens more.
    const over = counter.text(text) - budgetTokens;
    if (over <= 0 || budget <= 0) {
      options.thread?.set(choice);
      const withLine = (): readonly Skill[] => [...choice.lines.keys()].flatMap((id) => skillWithId(listed, id) ?? []);
      options.onListed?.(choice.kind === 'chosen' ? withLine() : listed);
      return text;
    }
    budget -= over;
  }
}

// --- internal ---

interface Layout {
  readonly format: CatalogFormat;
  readonly tools: NamedTools;
  readonly counter: LineCounter;
  /** How many skills there are, also those without a line. */
  readonly total: number;
}

/** All skills with whole descriptions, or with all descriptions cut to one length; undefined when they do not fit. */
function evenly(skills: readonly Skill[], budget: number, layout: Layout): string | undefined {
  const { format, tools, counter, total } = layout;
  const whole = skills.map((skill) => format.entry(skill));
  const missing = skills.length < total ? omissionLine(skills.length, total, tools) : undefined;
  const plain = layOut(format, tools, whole, missing);
  if (counter.fits(whole, budget - counter.text(layOut(format, tools, [], missing))) && counter.text(plain) <= budget)
    return plain;
  const room = budget - frameOf(layout);
  for (const length of LENGTHS) {
    const lines = skills.map((skill) => format.entry(skill, length));
    if (!counter.fits(lines, room)) continue;
    const text = layOut(format, tools, lines, omissionLine(lines.length, total, tools));
    if (counter.text(text) <= budget) return text;
  }
  return undefined;
}

/** All names with some descriptions, or only some skills. */
function chosen({ pinned = 0, thread }: CatalogTextOptions, choosing: ChooseLinesOptions): ChosenLines {
  const { skills, format, counter, room } = choosing;
  const few = skills.length * LEAST_TOKENS <= room;
  const allNamed =
    few &&
    counter.fits(
      skills.map((skill) => format.name(skill)),
      room,
    );
  return allNamed ? describeSome(choosing) : chooseLines({ ...choosing, pinned, inThread: thread !== undefined });
}

/** Tokens of the text without the lines. */
function frameOf({ format, tools, counter, total }: Layout): number {
  const losses = [omissionLine(total - 1, total, tools), omissionLine(total, total, tools)];
  return Math.max(...losses.map((loss) => counter.text(layOut(format, tools, [], loss))));
}

function layOut(format: CatalogFormat, tools: NamedTools, lines: readonly string[], loss?: string): string {
  const list = [format.header, ...lines, ...(format.end === undefined ? [] : [format.end])].join('\n');
  const below = [format.footer(tools), loss].filter((text) => text !== undefined);
  return below.length === 0 ? list : `${list}\n\n${below.join('\n')}`;
}
