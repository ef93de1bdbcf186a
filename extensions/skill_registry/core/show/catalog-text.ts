import { onceFor } from '../../../../lib/recent-map/index.ts';
import { loadTokenCounter } from '../../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';
import {
  BULLETS,
  type CatalogFormat,
  isShort,
  type NamedTools,
  omissionLine,
  provisionalLine,
  type TokenCounter,
  withShortLines,
} from './formats.ts';

export interface Relevance {
  /** Best first, pinned skills before the others. */
  readonly ranked: readonly Skill[];
  /** Skills that a later turn of a thread may add, best first. */
  readonly fitting: readonly Skill[];
  /** Number of skills that are not wholly indexed yet: of them, the header counts in `ranked`. */
  readonly pending: number;
}

export interface CatalogTextOptions {
  readonly budgetTokens: number;
  readonly tools: NamedTools;
  /** Called only when not all skills fit. */
  readonly relevance: () => Promise<Relevance>;
  /** Ids of skills that keep a line as far as their names fit. Default: none. */
  readonly pinned?: readonly string[];
  /** For files that the turn names, in this order. Default: none. */
  readonly forFiles?: (skills: readonly Skill[]) => readonly Skill[];
  /** Default: the turn is not part of a thread. */
  readonly thread?: ThreadChoice | undefined;
  /** Default: bullets. */
  readonly format?: CatalogFormat;
  /** Of tokens. Default: keeps nothing for later processes. */
  readonly count?: TokenCounter;
}

export interface CatalogText {
  readonly text: string | null;
  readonly listed: readonly Skill[];
}

/** Lines that the first turn of a thread chose, and those that later turns added. */
export interface CatalogChoice {
  /** `lines` are: those with a description (every skill is named), all lines, or the ranking (bodies are shown). */
  readonly kind: 'described' | 'chosen' | 'ranked';
  /** By id, in order; empty texts for `ranked`. */
  readonly lines: ReadonlyMap<string, string>;
  /** Tokens of lines that files added. Default: 0. */
  readonly forFiles?: number;
  /** Skills were not indexed yet. When all are, the thread chooses once more. */
  readonly provisional: boolean;
}

export interface ThreadChoice {
  get(): CatalogChoice | undefined;
  set(choice: CatalogChoice): void;
}

/** @param isWhole - All skills are indexed now. */
export function choiceToKeep(thread: ThreadChoice | undefined, isWhole: boolean): CatalogChoice | undefined {
  const before = thread?.get();
  return before?.provisional && isWhole ? undefined : before;
}

/**
 * The catalog as an agent reads it (L1); null without skills. The same skills, budget, tools and ranking give the same
 * text. No line has more than 120 tokens.
 *
 * Over the budget, all descriptions are cut to one length; then the least relevant skills keep only their names; then
 * they are left out. A line says so. In a thread, the first turn fills three quarters of the budget; later turns add
 * skills for their prompt below, so that a text begins with the lines of the turn before. When a listed skill has
 * changed or was removed, all lines are chosen again.
 */
export async function catalogText(skills: readonly Skill[], options: CatalogTextOptions): Promise<CatalogText> {
  const { format: whole = BULLETS, tools, budgetTokens } = options;
  const total = skills.length;
  if (total === 0) return { text: null, listed: [] };
  const frame = { tools, total, pending: 0 };
  const isFew = total * LEAST_TOKENS <= budgetTokens;
  if (isFew) {
    const lines = skills.map((skill) => whole.entry(skill));
    const text = layOut({ ...frame, format: whole }, lines);
    // A token has at least one byte: a short text needs no tokenizer.
    if (lines.every(isShort) && Buffer.byteLength(text) <= budgetTokens) return { text, listed: skills };
  }
  const count = options.count ?? (await loadTokenCounter());
  const format = withShortLines(whole, count);
  const layout = { ...frame, format, counter: createLineCounter(count) };
  const listed = format.listed(skills);
  const even = isFew ? evenly(listed, budgetTokens, layout) : undefined;
  if (even !== undefined) return { text: even, listed };
  return chosenText(listed, options, layout);
}

// --- internal ---

/** Characters of all descriptions, tried in this order. */
const LENGTHS = [400, 300, 240, 200, 160, 130, 100, 80, 60, 40];
/** Every entry has at least this many tokens: without counting, many skills do not fit. */
const LEAST_TOKENS = 3;
/** Characters of a description when all skills are named. */
const SHORT = 80;
/** The same when some are left out. */
const MEDIUM = 120;
/** The same when pinned skills would not fit with more. */
const SHORTEST = 40;
/** For the first turn of a thread; the rest is for lines of later turns. */
const FIRST_SHARE = 0.75;
/** For lines that named files add. */
const FOR_FILES_SHARE = 0.25;
/** By one later turn, so that the room is enough for the whole thread. */
const MAX_ADDED = 5;
const MAX_KNOWN = 20_000;
const knownTokens = onceFor((_: TokenCounter) => new Map<string, number>());

interface LineCounter {
  /** With its line end. */
  line(line: string): number;
  /** Sum of its lines: one or two more than the tokens of the text. */
  text(text: string): number;
  /** Stops counting above `room`. */
  fits(lines: readonly string[], room: number): boolean;
}

function createLineCounter(count: TokenCounter): LineCounter {
  const known = knownTokens(count);
  const line = (text: string): number => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = count(`${text}\n`);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, tokens);
    return tokens;
  };
  return {
    line,
    text: (text) => text.split('\n').reduce((sum, one) => sum + line(one), 0),
    fits(lines, room) {
      let left = room;
      const fits = (one: string): boolean => {
        left -= line(one);
        return left >= 0;
      };
      return left >= 0 && lines.every(fits);
    },
  };
}

interface Frame extends Required<Pick<CatalogTextOptions, 'format' | 'tools'>> {
  /** With those without a line. */
  readonly total: number;
  /** Not wholly indexed yet. */
  readonly pending: number;
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

const placesOf = onceFor((skills: readonly Skill[]) => new Map(skills.map(({ id }, at) => [id, at])));

function skillWithId(skills: readonly Skill[], id: string): Skill | undefined {
  const place = placesOf(skills).get(id);
  return place === undefined ? undefined : skills[place];
}

interface Choosing extends Pick<Layout, 'format' | 'counter'> {
  readonly skills: readonly Skill[];
  /** Best first. */
  readonly ranked: readonly Skill[];
  /** The first skills of `ranked`, which are left out only when their names do not fit. */
  readonly pinned: number;
  /** What a later turn of the thread adds. */
  readonly fitting: readonly Skill[];
  /** Later turns will add lines. */
  readonly inThread: boolean;
  readonly before: CatalogChoice | undefined;
}

type Chosen = Pick<CatalogChoice, 'kind' | 'lines'>;

async function chosenText(
  listed: readonly Skill[],
  { relevance, pinned = [], forFiles, thread, budgetTokens }: CatalogTextOptions,
  frame: Layout,
): Promise<CatalogText> {
  const { format, counter } = frame;
  const found = await relevance();
  const has = (skill: Skill): boolean => skillWithId(listed, skill.id) === skill;
  const { pending } = found;
  const layout = { ...frame, pending };
  const before = choiceToKeep(thread, pending === 0);
  const provisional = before?.provisional ?? pending > 0;
  const ranked = found.ranked.filter(has);
  const others = pinned.length === 0 ? listed : listed.filter(({ id }) => !pinned.includes(id));
  const pins = listed.length - others.length;
  const kept = before && areTrue(before.lines, listed, format) ? before : undefined;
  let spent = kept?.forFiles ?? 0;
  const wanted = (forFiles?.([...ranked.slice(pins), ...others]) ?? []).filter((skill) => {
    const tokens = counter.line(format.entry(skill, MEDIUM));
    const isAdded = !kept?.lines.has(skill.id) && spent + tokens <= budgetTokens * FOR_FILES_SHARE;
    if (isAdded) spent += tokens;
    return isAdded;
  });
  const choosing: Choosing = {
    skills: listed,
    format,
    counter,
    before: kept,
    ranked: wanted.length > 0 ? [...new Set([...ranked.slice(0, pins), ...wanted, ...ranked])] : ranked,
    pinned: pins,
    fitting: [...new Set([...wanted, ...found.fitting.filter(has).slice(0, MAX_ADDED)])],
    inThread: thread !== undefined,
  };
  let budget = budgetTokens;
  for (;;) {
    const { kind, lines } = chosen(choosing, budget - frameOf(layout));
    const isWhole = kind === 'described';
    const whole = (): readonly string[] => listed.map((skill) => lines.get(skill.id) ?? format.name(skill));
    const text = layOut(layout, isWhole ? whole() : [...lines.values()], true);
    // Lines were counted one by one; the whole text may have a few tokens more.
    const over = counter.text(text) - budgetTokens;
    if (over <= 0 || budget <= 0) {
      thread?.set({ kind, lines, forFiles: spent, provisional });
      return { text, listed: isWhole ? listed : [...lines.keys()].flatMap((id) => skillWithId(listed, id) ?? []) };
    }
    budget -= over;
  }
}

function chosen(choosing: Choosing, room: number): Chosen {
  const { skills, format, counter } = choosing;
  const isFew = skills.length * LEAST_TOKENS <= room;
  const names = (): readonly string[] => skills.map((skill) => format.name(skill));
  return isFew && counter.fits(names(), room) ? describeSome(choosing, room) : chooseLines(choosing, room);
}

/** A line for every skill; the most relevant ones have a description. */
function describeSome(choosing: Choosing, room: number): Chosen {
  const { skills, format, counter } = choosing;
  const cost = (lines: ReadonlyMap<string, string>): number =>
    skills.reduce((sum, skill) => sum + counter.line(lines.get(skill.id) ?? format.name(skill)), 0);
  const before = choosing.before?.kind === 'described' ? choosing.before.lines : undefined;
  if (before && cost(before) <= room) return { kind: 'described', lines: before };
  const lines = new Map<string, string>();
  let used = cost(lines);
  for (const skill of inOrder(choosing)) {
    const line = format.entry(skill, SHORT);
    used += counter.line(line) - counter.line(format.name(skill));
    if (used > room) break;
    lines.set(skill.id, line);
  }
  return { kind: 'described', lines };
}

/** The most relevant skills that fit, in catalog order. In a thread they follow the lines of the turns before. */
function chooseLines(choosing: Choosing, room: number): Chosen {
  const { fitting, format, counter } = choosing;
  const before = choosing.before?.kind === 'chosen' ? choosing.before.lines : undefined;
  const lines = before && counter.fits([...before.values()], room) ? new Map(before) : firstChoice(choosing, room);
  if (before) {
    let used = costOf(counter, [...lines.values()]);
    for (const skill of fitting.filter(({ id }) => !lines.has(id))) {
      const line = format.entry(skill, MEDIUM);
      used += counter.line(line);
      if (used > room) break;
      lines.set(skill.id, line);
    }
  }
  return { kind: 'chosen', lines };
}

/** False when a skill was removed or its line has changed. */
function areTrue(lines: CatalogChoice['lines'], skills: readonly Skill[], format: CatalogFormat): boolean {
  return [...lines].every(([id, line]) => {
    const skill = skillWithId(skills, id);
    if (!skill) return false;
    return [MEDIUM, SHORT, SHORTEST].some((one) => format.entry(skill, one) === line) || format.name(skill) === line;
  });
}

function firstChoice(choosing: Choosing, room: number): Map<string, string> {
  const { skills, ranked, format, counter, pinned, inThread } = choosing;
  const share = inThread ? Math.floor(room * FIRST_SHARE) : room;
  const kept = ranked.slice(0, pinned);
  const linesOf = (length: number): readonly string[] => kept.map((skill) => format.entry(skill, length));
  const length = [MEDIUM, SHORT, SHORTEST].find((one) => costOf(counter, linesOf(one)) <= room);
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

function costOf(counter: LineCounter, lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + counter.line(line), 0);
}

function* inOrder({ ranked, skills }: Choosing): Generator<Skill> {
  yield* ranked;
  const had = new Set(ranked);
  for (const skill of skills) if (!had.has(skill)) yield skill;
}

function frameOf(layout: Layout): number {
  const { total, counter } = layout;
  return Math.max(...[total - 1, total].map((shown) => counter.text(layOut(layout, [], true, shown))));
}

function layOut(frame: Frame, lines: readonly string[], isCut = false, shown = lines.length): string {
  const { format, tools, total, pending } = frame;
  const list = [format.header, ...lines, ...(format.end === undefined ? [] : [format.end])].join('\n');
  const loss = isCut || shown < total ? omissionLine(shown, total, tools) : undefined;
  const below = [format.footer(tools), loss, pending > 0 ? provisionalLine(pending, tools) : undefined].filter(
    (text) => text !== undefined,
  );
  return below.length === 0 ? list : `${list}\n\n${below.join('\n')}`;
}
