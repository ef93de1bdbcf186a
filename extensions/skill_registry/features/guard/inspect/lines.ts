/** LF, CRLF and CR end a line. `start` is an offset in UTF-16 units. */
export function* rawLines(
  text: string,
): Generator<{ readonly raw: string; readonly line: number; readonly start: number }> {
  let line = 0;
  for (const { 0: whole, 1: raw = '', index } of text.matchAll(/([^\r\n]*)(?:\r\n|\n|\r|$)/g)) {
    // Behind the last line end.
    if (whole === '') return;
    line++;
    yield { raw, line, start: index };
  }
}

/** How many items at the beginning of a sorted list the condition holds for. */
export function countWhile<T>(sorted: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
