import type { PassageSearch } from './passage-search.ts';
import type { Pattern, Span, Stance } from './rule.ts';

/**
 * Where all expressions of a pattern match near each other. One that the text speaks against does not take the place of another
 * that overlaps with it. Takes linear time in the
 * length of the text and the number of matches.
 */
export function* spansOf(
  text: string,
  search: PassageSearch,
  { all, within = 160, ordered = true, sentence }: Pattern,
  stanceOf: (span: Span) => Stance,
): Generator<Span & { readonly stance: Stance }> {
  const found: (readonly Span[])[] = [];
  for (const expression of all) {
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

const ENDS = /[.!?;](?=\s)|\n/;

/** Each of the lists after the one before. */
function chain(head: Span, lists: readonly (readonly Span[])[], within: number): Span | undefined {
  let end = head.end;
  for (const list of lists) {
    const next = list[firstAt(list, end)];
    if (!next || next.start - end > within) return undefined;
    end = next.end;
  }
  return { start: head.start, end };
}

/** Each of the lists near the head, before or after it. */
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

/** Index of the first span that starts at `offset` or after it. */
function firstAt(list: readonly Span[], offset: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as Span).start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
