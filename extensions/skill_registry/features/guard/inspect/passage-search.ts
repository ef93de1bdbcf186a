import { matchesOf } from '../../../../../lib/text/index.ts';
import { countWhile } from './lines.ts';
import type { Match, Passage, Pattern, Span, Stance } from './rule.ts';
import { type Start, startsOf } from './starts.ts';

export interface PassageSearch {
  /** Whether the expression may match: a fast test. */
  mayHave(expression: RegExp): boolean;
  spans(expression: RegExp): readonly Span[];
}

/** One walk over a text finds where each expression (no flags, lower case) may match; it is tried only there. */
export function createPassageSearch(expressions: Iterable<RegExp>): (text: string) => PassageSearch {
  const known = new Map<RegExp, Known>();
  const bySource = new Map<string, Known>();
  const starts: KnownStarts = new Map();
  for (const expression of expressions) {
    const { source } = expression;
    const one = bySource.get(source) ?? knownOf(source, bySource.size, starts);
    bySource.set(source, one);
    known.set(expression, one);
  }
  const offsetsIn = createStartSearch(starts, bySource.size);
  return (text) => {
    const offsets = offsetsIn(text);
    const found: (readonly Span[])[] = [];
    return {
      mayHave(expression) {
        const { index, tellsStart } = known.get(expression) as Known;
        return !tellsStart || offsets[index] !== undefined;
      },
      spans(expression) {
        const { index, tellsStart, search } = known.get(expression) as Known;
        found[index] ??= tellsStart ? spansAt(text, search, offsets[index] ?? []) : spansIn(text, search);
        return found[index] as readonly Span[];
      },
    };
  };
}

/** Finds where all expressions match near each other. A negated match hides no other one. Takes linear time. */
export function* matchesIn(
  { text, shown, lineAt }: Passage,
  search: PassageSearch,
  expressions: readonly RegExp[],
  { within = 160, ordered = true, sentence }: Pattern,
  stanceAt: (span: Span) => Stance,
): Generator<Match> {
  const found: (readonly Span[])[] = [];
  for (const expression of expressions) {
    const list = search.spans(expression);
    if (list.length === 0) return;
    found.push(list);
  }
  const [heads = [], ...lists] = found;
  let after = -1;
  for (const head of heads) {
    if (head.start < after) continue;
    const span = ordered ? chain(head, lists, within) : group(head, lists, within);
    if (!span || (sentence && ENDS.test(text.slice(span.start, span.end)))) continue;
    const stance = stanceAt(span);
    if (!stance) after = span.end;
    yield { line: lineAt(span.start), words: shown.slice(span.start, span.end), stance };
  }
}

// --- internal ---

interface Known {
  readonly index: number;
  /** Whether the expression tells how a match begins. */
  readonly tellsStart: boolean;
  readonly search: RegExp;
}

/** By their characters, the indexes of the expressions that begin with it. */
type KnownStarts = Map<string, Start & { readonly indexes: Set<number> }>;

function knownOf(source: string, index: number, all: KnownStarts): Known {
  const starts = startsOf(source);
  for (const start of starts ?? []) {
    const key = `${start.atWord} ${start.text}`;
    if (!all.has(key)) all.set(key, { ...start, indexes: new Set() });
    all.get(key)?.indexes.add(index);
  }
  return { index, tellsStart: starts !== undefined, search: new RegExp(source, starts ? 'y' : 'g') };
}

const ENDS = /[.!?;](?=\s)|[。！？](?=.)|\n/;

function chain(head: Span, lists: readonly (readonly Span[])[], within: number): Span | undefined {
  let end = head.end;
  for (const list of lists) {
    const next = list[firstAt(list, end)];
    if (!next || next.start - end > within) return undefined;
    end = next.end;
  }
  return { start: head.start, end };
}

function group(head: Span, lists: readonly (readonly Span[])[], within: number): Span | undefined {
  let { start, end } = head;
  for (const list of lists) {
    const at = firstAt(list, head.start);
    const [before, next] = [list[at - 1], list[at]];
    if (next && next.start - head.end <= within) end = Math.max(end, next.end);
    else if (before && head.start - before.end <= within) start = Math.min(start, before.start);
    else return undefined;
  }
  return { start, end };
}

function firstAt(list: readonly Span[], offset: number): number {
  return countWhile(list, ({ start }) => start < offset);
}

/** For each index the offsets of its starts in order; undefined for none. */
type Offsets = readonly (readonly number[] | undefined)[];

/** Nodes of a tree of all starts: 0 is none, and these are its roots for places inside a word and for others. */
const IN_WORD = 1;
const AT_WORD = 2;
/** Columns of a node, by character: none, white space, four for all beyond ASCII, `a-z0-9_`, and others of starts. */
const BLANK = 1;
const BEYOND = 2;
const FIRST_OF_WORDS = 6;
const OTHERS = FIRST_OF_WORDS + 37;
/** They are 21,000. */
const NODES = 22_000;
const WHITE_SPACE =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

function columnsOf(starts: KnownStarts) {
  const columns = new Uint8Array(65_536);
  for (let code = 128; code < columns.length; code++) columns[code] = BEYOND + (code % 4);
  for (const char of WHITE_SPACE) columns[char.charCodeAt(0)] = BLANK;
  for (const [at, char] of [...'abcdefghijklmnopqrstuvwxyz0123456789_'].entries())
    columns[char.charCodeAt(0)] = FIRST_OF_WORDS + at;
  let width = OTHERS;
  for (const { text } of starts.values()) {
    for (let at = 0; at < text.length; at++) columns[text.charCodeAt(at)] ||= width++;
  }
  return { columns, width };
}

function createStartSearch(starts: KnownStarts, indexes: number): (text: string) => Offsets {
  const { columns, width } = columnsOf(starts);
  let nodes = new Uint16Array(NODES * width);
  const endingAt: (number[] | undefined)[] = [undefined, undefined, undefined];
  for (const start of starts.values()) {
    for (const root of start.atWord ? [AT_WORD] : [IN_WORD, AT_WORD]) {
      let node = root;
      for (let at = 0; at < start.text.length; at++) {
        const place = node * width + (columns[start.text.charCodeAt(at)] as number);
        nodes[place] ||= endingAt.push(undefined) - 1;
        node = nodes[place] as number;
        if ((node + 1) * width < nodes.length) continue;
        const more = new Uint16Array(2 * nodes.length);
        more.set(nodes);
        nodes = more;
      }
      endingAt[node] = [...(endingAt[node] ?? []), ...start.indexes];
    }
  }
  return (text) => searchTree({ nodes, width, endingAt }, text, columns, new Array(indexes).fill(undefined));
}

interface StartTree {
  /** For each node and column the next node. */
  readonly nodes: Uint16Array;
  readonly width: number;
  /** By node, the indexes of expressions. */
  readonly endingAt: readonly (readonly number[] | undefined)[];
}

/** Looks at one character after another only as far as a start goes on. */
function searchTree(
  { nodes, width, endingAt }: StartTree,
  text: string,
  columns: Uint8Array,
  found: (number[] | undefined)[],
): Offsets {
  const written = new Uint8Array(text.length + 1);
  for (let at = 0; at < text.length; at++) written[at] = columns[text.charCodeAt(at)] as number;
  let root = AT_WORD * width;
  for (let at = 0; at < text.length; at++) {
    const column = written[at] as number;
    let node = nodes[root + column] as number;
    root = (column >= FIRST_OF_WORDS && column < OTHERS ? IN_WORD : AT_WORD) * width;
    for (let ahead = at + 1; node !== 0; ahead++) {
      const ending = endingAt[node];
      if (ending) noteStart(ending, at, found);
      node = nodes[node * width + (written[ahead] as number)] as number;
    }
  }
  return found;
}

function noteStart(indexes: readonly number[], at: number, found: (number[] | undefined)[]): void {
  for (const index of indexes) {
    const offsets = found[index];
    if (!offsets) found[index] = [at];
    else if (offsets[offsets.length - 1] !== at) offsets.push(at);
  }
}

function spansIn(text: string, search: RegExp): readonly Span[] {
  return matchesOf(text, search).map(({ 0: { length }, index: start }) => ({ start, end: start + length }));
}

function spansAt(text: string, sticky: RegExp, offsets: readonly number[]): readonly Span[] {
  const found: Span[] = [];
  let after = 0;
  for (const start of offsets) {
    if (start < after) continue;
    sticky.lastIndex = start;
    if (!sticky.test(text)) continue;
    after = sticky.lastIndex;
    found.push({ start, end: after });
  }
  return found;
}
