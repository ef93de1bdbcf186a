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
import {
  BULLETS,
  type CatalogFormat,
  isShort,
  type NamedTools,
  omissionLine,
  provisionalLine,
  withShortLines,
} from './formats.ts';
import { choiceToKeep, type ThreadChoice } from './thread-choices.ts';

export interface CatalogTextOptions {
  readonly budgetTokens: number;
  /** Best first. Called only when not all skills fit. */
  readonly rank: () => readonly Skill[] | Promise<readonly Skill[]>;
  /** `rank` is for a prompt: while skills are missing, no other skill takes their place. Default: false. */
  readonly hasPrompt?: boolean;
  /** Number of skills that are not inspected yet. Default: 0. */
  readonly pending?: number;
  /** Number of skills that are in no index yet, so that `rank` left them out. Default: 0. */
  readonly unranked?: () => number | Promise<number>;
  /** The first skills of `rank`, which keep a line as far as their names fit. Default: 0. */
  readonly pinned?: number;
  /** Skills of `rank` that a later turn of a thread may add, best first. Default: none. */
  readonly fitting?: () => readonly Skill[] | Promise<readonly Skill[]>;
  /** Default: the turn is not part of a thread. */
  readonly thread?: ThreadChoice | undefined;
  /** Default: bullets. */
  readonly format?: CatalogFormat;
  readonly tools: NamedTools;
  /** Gets the skills that have a line, before the text is returned. */
  readonly onListed?: ((skills: readonly Skill[]) => void) | undefined;
}

/** Characters of all descriptions, tried in this order. */
const LENGTHS = [400, 300, 240, 200, 160, 130, 100, 80, 60, 40];
/** Every entry has at least this many tokens: without counting, many skills do not fit. */
const LEAST_TOKENS = 3;

/**
 * The catalog as an agent reads it (L1); null without skills. The same skills, budget, tools and ranking give the same
 * text. No line has more than 120 tokens.
 *
 * Over the budget, all descriptions are cut to one length; then the least relevant skills keep only their names; then
 * they are left out. A line says so. In a thread, the first turn fills three quarters of the budget; later turns add
 * skills for their prompt below, so that a text begins with the lines of the turn before. When a listed skill has
 * changed or was removed, all lines are chosen again.
 */
export async function catalogText(skills: readonly Skill[], options: CatalogTextOptions): Promise<string | null> {
  const { format: whole = BULLETS, tools, budgetTokens, pending = 0 } = options;
  if (skills.length + pending === 0) return null;
  const frame = { tools, total: skills.length + pending, missing: pending };
  // While most skills are missing, the first ones get only their share of the budget without being ranked.
  const share = options.hasPrompt && pending > skills.length ? skills.length / (skills.length + pending) : 1;
  const unrankedBudget = budgetTokens * share;
  const few = skills.length * LEAST_TOKENS <= unrankedBudget;
  if (few) {
    const lines = skills.map((skill) => whole.entry(skill));
    const text = layOut({ ...frame, format: whole }, lines);
    // A token has at least one byte: a short text needs no tokenizer.
    if (lines.every(isShort) && Buffer.byteLength(text) <= unrankedBudget) {
      options.onListed?.(skills);
      return text;
    }
  }
  const count = await loadTokenCounter();
  const counter = createLineCounter(count);
  const format = withShortLines(whole, count);
  const listed = format.listed(skills);
  const even = few ? evenly(listed, unrankedBudget, { ...frame, format, counter }) : undefined;
  if (even !== undefined) {
    options.onListed?.(listed);
    return even;
  }
  const all = await options.rank();
  const ranked = all.filter(format.has);
  const pinned = all.slice(0, options.pinned).filter(format.has).length;
  const missing = pending + ((await options.unranked?.()) ?? 0);
  const layout: Layout = { ...frame, format, counter, missing };
  const before = choiceToKeep(options.thread, missing === 0);
  const provisional = before?.provisional ?? missing > 0;
  const fills = !(provisional && options.hasPrompt);
  const fitting = before ? (await (options.fitting?.() ?? [])).filter(format.has) : [];
  let budget = budgetTokens;
  for (;;) {
    const room = budget - frameOf(layout);
    const choosing = { skills: listed, ranked, fills, fitting, format, counter, room, before };
    const { lines, choice } = chosen({ ...options, pinned, share }, choosing);
    const text = layOut(layout, lines, true);
    // Lines were counted one by one; the whole text may have a few tokens more.
    const over = counter.text(text) - budgetTokens;
    if (over <= 0 || budget <= 0) {
      options.thread?.set({ ...choice, provisional });
      const withLine = (): readonly Skill[] => [...choice.lines.keys()].flatMap((id) => skillWithId(listed, id) ?? []);
      options.onListed?.(choice.kind === 'chosen' ? withLine() : listed);
      return text;
    }
    budget -= over;
  }
}

// --- internal ---

interface Frame {
  readonly format: CatalogFormat;
  readonly tools: NamedTools;
  /** With those without a line. */
  readonly total: number;
  /** Not inspected yet, or not ranked yet. */
  readonly missing: number;
}

interface Layout extends Frame {
  readonly counter: LineCounter;
}

/** All descriptions whole, or cut to one length; undefined when they do not fit. */
function evenly(skills: readonly Skill[], budget: number, layout: Layout): string | undefined {
  const { format, counter } = layout;
  const whole = skills.map((skill) => format.entry(skill));
  const plain = layOut(layout, whole);
  const frame = counter.text(layOut(layout, [], false, whole.length));
  if (counter.fits(whole, budget - frame) && counter.text(plain) <= budget) return plain;
  const room = budget - frameOf(layout);
  for (const length of LENGTHS) {
    const lines = skills.map((skill) => format.entry(skill, length));
    if (!counter.fits(lines, room)) continue;
    const text = layOut(layout, lines, true);
    if (counter.text(text) <= budget) return text;
  }
  return undefined;
}

function chosen(
  { pinned = 0, thread, share }: CatalogTextOptions & { readonly share: number },
  choosing: ChooseLinesOptions,
): ChosenLines {
  const { skills, format, counter } = choosing;
  const room = choosing.room * share;
  const few = skills.length * LEAST_TOKENS <= room;
  const allNamed =
    few &&
    counter.fits(
      skills.map((skill) => format.name(skill)),
      room,
    );
  return allNamed ? describeSome(choosing) : chooseLines({ ...choosing, pinned, inThread: thread !== undefined });
}

function frameOf(layout: Layout): number {
  const { total, counter } = layout;
  return Math.max(...[total - 1, total].map((shown) => counter.text(layOut(layout, [], true, shown))));
}

function layOut(
  { format, tools, total, missing }: Frame,
  lines: readonly string[],
  isCut = false,
  shown = lines.length,
): string {
  const list = [format.header, ...lines, ...(format.end === undefined ? [] : [format.end])].join('\n');
  const loss = isCut || shown < total ? omissionLine(shown, total, tools) : undefined;
  const below = [format.footer(tools), loss, missing > 0 ? provisionalLine(missing, tools) : undefined].filter(
    (text) => text !== undefined,
  );
  return below.length === 0 ? list : `${list}\n\n${below.join('\n')}`;
}
