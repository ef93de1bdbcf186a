import { loadTokenCounter } from '../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import {
  type Choosing,
  type ChosenLines,
  chooseLines,
  createLineCounter,
  describeSome,
  type LineCounter,
} from './choose-lines.ts';
import { BULLETS, type CatalogFormat, isShort, lossOf, type NamedTools, withShortLines } from './formats.ts';
import type { ThreadChoice } from './thread-choices.ts';

export interface CatalogTextOptions {
  readonly budgetTokens: number;
  /** Which of the skills matter most to the prompt, best first; asked only when not all can stay. */
  readonly rank: () => readonly Skill[] | Promise<readonly Skill[]>;
  /** How many of the first of `rank` are pinned: shortened if need be, never left out. Default: none. */
  readonly pinned?: number;
  /** Which of `rank` a later turn of a thread may add, best first. Default: none. */
  readonly fitting?: () => readonly Skill[] | Promise<readonly Skill[]>;
  /** What the thread has been shown. Default: this turn stands alone. */
  readonly thread?: ThreadChoice | undefined;
  /** Default: bullets. */
  readonly format?: CatalogFormat;
  /** What the agent has. */
  readonly tools: NamedTools;
}

/** Lengths descriptions are evenly cut to, tried in turn. */
const LENGTHS = [400, 300, 240, 200, 160, 130, 100, 80, 60, 40];
/** No entry has fewer tokens, so with many skills nothing has to be counted to know that they do not fit. */
const LEAST_TOKENS = 3;

/**
 * The catalog as an agent reads it (L1), within a budget; null for no skills. The same skills, budget, tools and ranking give
 * the same text. No line has more than 120 tokens.
 *
 * Over budget, in this order: descriptions are evenly cut at a word; the least relevant skills keep only their name; the
 * least relevant are left out. From the first step that loses anything, a line says so.
 *
 * In a thread the first turn chooses, for three quarters of the budget, and later ones add below it what fits their prompt
 * until the budget is full: the text of a turn begins with that of the one before, up to the closing lines. When a skill that
 * is shown has changed or gone, the turn chooses anew.
 */
export async function catalogText(skills: readonly Skill[], options: CatalogTextOptions): Promise<string | null> {
  if (skills.length === 0) return null;
  const { format: whole = BULLETS, tools, budgetTokens } = options;
  const few = skills.length * LEAST_TOKENS <= budgetTokens;
  if (few) {
    const lines = skills.map((skill) => whole.entry(skill));
    const text = layOut(whole, tools, lines);
    // A token is at least one byte, so a text that is short enough needs no tokenizer.
    if (lines.every(isShort) && Buffer.byteLength(text) <= budgetTokens) return text;
  }
  const count = await loadTokenCounter();
  const counter = createLineCounter(count);
  const format = withShortLines(whole, count);
  const layout: Layout = { format, tools, counter };
  const even = few ? evenly(skills, budgetTokens, layout) : undefined;
  if (even !== undefined) return even;
  const ranked = await options.rank();
  const before = options.thread?.get();
  const fitting = before ? await (options.fitting?.() ?? []) : [];
  let budget = budgetTokens;
  for (;;) {
    const room = budget - frameOf(skills, layout);
    const { lines, choice } = chosen(options, { skills, ranked, fitting, format, counter, room, before });
    const text = layOut(format, tools, lines, lossOf(lines.length, skills.length, tools));
    // Lines are counted one by one; the tokenizer may cut the whole in other places, and count a few tokens more.
    const over = counter.text(text) - budgetTokens;
    if (over <= 0 || budget <= 0) {
      options.thread?.set(choice);
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
}

/** All skills with their descriptions, whole or evenly cut; undefined when they do not fit. */
function evenly(skills: readonly Skill[], budget: number, layout: Layout): string | undefined {
  const { format, tools, counter } = layout;
  const whole = skills.map((skill) => format.entry(skill));
  const plain = layOut(format, tools, whole);
  if (counter.fits(whole, budget - counter.text(layOut(format, tools, []))) && counter.text(plain) <= budget)
    return plain;
  const room = budget - frameOf(skills, layout);
  for (const length of LENGTHS) {
    const lines = skills.map((skill) => format.entry(skill, length));
    if (!counter.fits(lines, room)) continue;
    const text = layOut(format, tools, lines, lossOf(lines.length, skills.length, tools));
    if (counter.text(text) <= budget) return text;
  }
  return undefined;
}

/** Names for all and descriptions for some, or some alone. */
function chosen({ pinned = 0, thread }: CatalogTextOptions, choosing: Choosing): ChosenLines {
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

/** Tokens of everything but the lines. */
function frameOf({ length }: readonly Skill[], { format, tools, counter }: Layout): number {
  const losses = [lossOf(length - 1, length, tools), lossOf(length, length, tools)];
  return Math.max(...losses.map((loss) => counter.text(layOut(format, tools, [], loss))));
}

function layOut(format: CatalogFormat, tools: NamedTools, lines: readonly string[], loss?: string): string {
  const list = [format.header, ...lines, ...(format.end === undefined ? [] : [format.end])].join('\n');
  const below = [format.footer(tools), loss].filter((text) => text !== undefined);
  return below.length === 0 ? list : `${list}\n\n${below.join('\n')}`;
}
