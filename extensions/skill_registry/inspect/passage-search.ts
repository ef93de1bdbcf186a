import { matchesOf } from '../../../lib/text/index.ts';
import type { Pattern, Span, Stance } from './rule.ts';
import { type Start, startsOf } from './starts.ts';

export interface PassageSearch {
  /** Whether the expression may match: a fast test. */
  mayHave(expression: RegExp): boolean;
  spans(expression: RegExp): readonly Span[];
}

/** One walk over a text finds where each expression (no flags, lower case) may match; it is tried only there. */
export function createPassageSearch(expressions: Iterable<RegExp>): (text: string) => PassageSearch {
  const known = new Map<RegExp, Known>();
  const tree = createTree();
  for (const expression of expressions) {
    const starts = startsOf(expression.source);
    for (const start of starts ?? []) tree.add(start, known.size);
    known.set(expression, {
      index: starts && known.size,
      search: new RegExp(expression.source, starts ? 'y' : 'g'),
    });
  }
  return (text) => {
    const offsets = tree.offsetsIn(text);
    return {
      mayHave(expression) {
        const index = known.get(expression)?.index;
        return index === undefined || offsets[index] !== undefined;
      },
      spans(expression) {
        const { index, search } = known.get(expression) as Known;
        return index === undefined ? matchesOf(text, search).map(spanOf) : spansAt(text, search, offsets[index] ?? []);
      },
    };
  };
}

/** Finds where all expressions match near each other. A negated match hides no other one. Takes linear time. */
export function* spansOf(
  text: string,
  search: PassageSearch,
  expressions: readonly RegExp[],
  { within = 160, ordered = true, sentence }: Pick<Pattern, 'within' | 'ordered' | 'sentence'>,
  stanceOf: (span: Span) => Stance,
): Generator<Span & { readonly stance: Stance }> {
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
    const stance = stanceOf(span);
    if (!stance) after = span.end;
    yield { ...span, stance };
  }
}

// --- internal ---

interface Known {
  /** Number in the tree; undefined when the expression does not tell how a match begins. */
  readonly index: number | undefined;
  readonly search: RegExp;
}

function spanOf({ 0: { length }, index }: RegExpExecArray): Span {
  return { start: index, end: index + length };
}

const ENDS = /[.!?;](?=\s)|\n/;

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
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as Span).start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Characters in a row of the table: ASCII; the first also means all others. */
const WIDTH = 128;
/** Only the beginning of a longer text is searched for. */
const MAX_LENGTH = 10;
/** The root nodes: of texts at the beginning of a word, and of texts anywhere. */
const AT_WORD = 1;
const ANYWHERE = 2;

function createTree() {
  /** For each node: the node after the next character; 0 for none. */
  const rows: Uint16Array[] = Array.from({ length: ANYWHERE + 1 }, () => new Uint16Array(WIDTH));
  /** For each node: the indexes of the texts that end there. */
  const endsAt: number[][] = rows.map(() => []);
  /** For two characters: the root nodes from which a text begins with them. */
  const begins = new Uint8Array(WIDTH * WIDTH);
  return {
    add({ text, atWord }: Start, index: number): void {
      const codes = [...text.slice(0, MAX_LENGTH)].map((char) => columnOf(char.charCodeAt(0)));
      const [first = 0, second] = codes;
      let node = atWord ? AT_WORD : ANYWHERE;
      const after = second === undefined ? Array.from({ length: WIDTH }, (_, code) => code) : [second];
      for (const code of after) begins[first * WIDTH + code] = (begins[first * WIDTH + code] ?? 0) | node;
      for (const code of codes) {
        const row = rows[node] as Uint16Array;
        if (row[code] === 0) {
          row[code] = rows.push(new Uint16Array(WIDTH)) - 1;
          endsAt.push([]);
        }
        node = row[code] as number;
      }
      endsAt[node]?.push(index);
    },
    /** For each index, the offsets of its texts in order; undefined for none. */
    offsetsIn(text: string): readonly (readonly number[] | undefined)[] {
      const found: (number[] | undefined)[] = [];
      const walk = (from: number, firstNode: number): void => {
        let node = firstNode;
        for (let at = from; at < text.length; at++) {
          node = (rows[node] as Uint16Array)[columnOf(text.charCodeAt(at))] as number;
          if (node === 0) return;
          for (const index of endsAt[node] as number[]) {
            const offsets = found[index];
            if (!offsets) found[index] = [from];
            else if (offsets[offsets.length - 1] !== from) offsets.push(from);
          }
        }
      };
      let isInWord = false;
      let code = columnOf(text.charCodeAt(0));
      for (let at = 0; at < text.length; at++) {
        const next = columnOf(text.charCodeAt(at + 1));
        const nodes = begins[code * WIDTH + next] as number;
        if ((nodes & AT_WORD) !== 0 && !isInWord) walk(at, AT_WORD);
        if ((nodes & ANYWHERE) !== 0) walk(at, ANYWHERE);
        isInWord = isWord(code);
        code = next;
      }
      return found;
    },
  };
}

/** 0 also for NaN, behind the end. */
function columnOf(code: number): number {
  return code < WIDTH ? code : 0;
}

function isWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95;
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
