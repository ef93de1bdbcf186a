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
  const tree = createStartTree();
  for (const expression of expressions) {
    const { source } = expression;
    const one = bySource.get(source) ?? knownOf(source, bySource.size, tree);
    bySource.set(source, one);
    known.set(expression, one);
  }
  return (text) => {
    const offsets = searchTree(tree, text, new Array(bySource.size).fill(undefined));
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

function knownOf(source: string, index: number, tree: StartTree): Known {
  const starts = startsOf(source);
  for (const start of starts ?? []) addStart(tree, start, index);
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
/** Of a node, 32 of them for others of starts; there are 30. */
const COLUMNS = OTHERS + 32;
/** They are 21,000. */
const NODES = 22_000;
const WHITE_SPACE =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

interface StartTree {
  /** For each node and column the next node. */
  nodes: Uint16Array;
  /** By code of a character. */
  readonly columns: Uint8Array;
  /** The columns that have a character. */
  width: number;
  /** By node, the indexes of expressions. */
  readonly endingAt: (number[] | undefined)[];
}

function createStartTree(): StartTree {
  const columns = new Uint8Array(65_536);
  for (let code = 128; code < columns.length; code++) columns[code] = BEYOND + (code % 4);
  for (const char of WHITE_SPACE) columns[char.charCodeAt(0)] = BLANK;
  for (const [at, char] of [...'abcdefghijklmnopqrstuvwxyz0123456789_'].entries())
    columns[char.charCodeAt(0)] = FIRST_OF_WORDS + at;
  const endingAt = [undefined, undefined, undefined];
  return { nodes: new Uint16Array(NODES * COLUMNS), columns, width: OTHERS, endingAt };
}

function addStart(tree: StartTree, { text, atWord }: Start, index: number): void {
  const { columns, endingAt } = tree;
  for (const root of atWord ? [AT_WORD] : [IN_WORD, AT_WORD]) {
    let node = root;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      columns[code] ||= tree.width++;
      if (tree.width > COLUMNS) throw new Error('Starts of expressions have more characters than columns.');
      const place = node * COLUMNS + (columns[code] as number);
      tree.nodes[place] ||= endingAt.push(undefined) - 1;
      node = tree.nodes[place] as number;
      if ((node + 1) * COLUMNS < tree.nodes.length) continue;
      const more = new Uint16Array(2 * tree.nodes.length);
      more.set(tree.nodes);
      tree.nodes = more;
    }
    const ending = endingAt[node];
    if (!ending) endingAt[node] = [index];
    else if (ending[ending.length - 1] !== index) ending.push(index);
  }
}

/** Looks at one character after another only as far as a start goes on. */
function searchTree({ nodes, columns, endingAt }: StartTree, text: string, found: (number[] | undefined)[]): Offsets {
  const written = new Uint8Array(text.length + 1);
  for (let at = 0; at < text.length; at++) written[at] = columns[text.charCodeAt(at)] as number;
  let root = AT_WORD * COLUMNS;
  for (let at = 0; at < text.length; at++) {
    const column = written[at] as number;
    let node = nodes[root + column] as number;
    root = (column >= FIRST_OF_WORDS && column < OTHERS ? IN_WORD : AT_WORD) * COLUMNS;
    for (let ahead = at + 1; node !== 0; ahead++) {
      const ending = endingAt[node];
      if (ending) noteStart(ending, at, found);
      node = nodes[node * COLUMNS + (written[ahead] as number)] as number;
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
