/** Counts tokens of lines that come again and again, each once. */
export interface LineCounter {
  /** Of a line and its end. */
  line(line: string): number;
  text(text: string): number;
  /** Whether lines have at most `room` tokens together; stops at the first one too many. */
  fits(lines: readonly string[], room: number): boolean;
}

const MAX_KNOWN = 20_000;
const known = new Map<string, number>();

export function createLineCounter(count: (text: string) => number): LineCounter {
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
    text: count,
    fits(lines, room) {
      let used = 0;
      for (const one of lines) {
        if (used > room) return false;
        used += line(one);
      }
      return used <= room;
    },
  };
}
