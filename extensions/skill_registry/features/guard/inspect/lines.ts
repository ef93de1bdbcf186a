/** LF, CRLF and CR end a line. `start` is an offset in UTF-16 units. */
export function* rawLines(
  text: string,
): Generator<{ readonly raw: string; readonly line: number; readonly start: number }> {
  let [feed, carriage] = [-1, -1];
  for (let [start, line, next] = [0, 1, 0]; start < text.length; line++, start = next) {
    feed = nextAt(text, '\n', start, feed);
    carriage = nextAt(text, '\r', start, carriage);
    const end = Math.min(feed, carriage);
    next = carriage + 1 === feed ? feed + 1 : end + 1;
    yield { raw: text.slice(start, end), line, start };
  }
}

/** Tells the 1-based line of one offset after another, in their order: counts each LF once. */
export function createLineCount(text: string): (offset: number) => number {
  let [line, next] = [1, text.indexOf('\n')];
  return (offset) => {
    for (; next !== -1 && next < offset; line++) next = text.indexOf('\n', next + 1);
    return line;
  };
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

// --- internal ---

/** `known`: found before. Behind the text when there is none. */
function nextAt(text: string, char: string, from: number, known: number): number {
  if (known >= from) return known;
  const found = text.indexOf(char, from);
  return found === -1 ? text.length : found;
}
