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
  const table = createStartTable();
  for (const expression of expressions) {
    const starts = startsOf(expression.source);
    for (const start of starts ?? []) table.add(start, known.size);
    known.set(expression, {
      index: starts && known.size,
      search: new RegExp(expression.source, starts ? 'y' : 'g'),
    });
  }
  return (text) => {
    const offsets = table.offsetsIn(text);
    return {
      mayHave(expression) {
        const index = known.get(expression)?.index;
        return index === undefined || offsets[index] !== undefined;
      },
      spans(expression) {
        const { index, search } = known.get(expression) as Known;
        return index === undefined
          ? matchesOf(text, search).map(({ 0: { length }, index: start }) => ({ start, end: start + length }))
          : spansAt(text, search, offsets[index] ?? []);
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
  /** Undefined when the expression does not tell how a match begins. */
  readonly index: number | undefined;
  readonly search: RegExp;
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

interface KnownStart extends Start {
  /** Of the expressions that begin with it. */
  readonly indexes: number[];
}

/** ASCII; the first also means all other characters. */
const WIDTH = 128;

function createStartTable() {
  const starts = new Map<string, KnownStart>();
  /** By the first two characters. */
  const byPair: (readonly KnownStart[])[] = new Array(WIDTH * WIDTH);
  return {
    add({ text, atWord }: Start, index: number): void {
      const key = `${atWord} ${text}`;
      const known = starts.get(key) ?? { text, atWord, indexes: [] };
      known.indexes.push(index);
      if (starts.has(key)) return;
      starts.set(key, known);
      const first = columnOf(text.charCodeAt(0)) * WIDTH;
      const seconds =
        text.length > 1 ? [columnOf(text.charCodeAt(1))] : Array.from({ length: WIDTH }, (_, code) => code);
      for (const second of seconds) byPair[first + second] = [...(byPair[first + second] ?? []), known];
    },
    /** For each index, the offsets of its starts in order; undefined for none. */
    offsetsIn(text: string): readonly (readonly number[] | undefined)[] {
      const found: (number[] | undefined)[] = [];
      let isInWord = false;
      let code = columnOf(text.charCodeAt(0));
      for (let at = 0; at < text.length; at++) {
        const next = columnOf(text.charCodeAt(at + 1));
        for (const start of byPair[code * WIDTH + next] ?? []) {
          if ((start.atWord && isInWord) || !text.startsWith(start.text, at)) continue;
          for (const index of start.indexes) {
            const offsets = found[index];
            if (!offsets) found[index] = [at];
            else if (offsets[offsets.length - 1] !== at) offsets.push(at);
          }
        }
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
