/** How lines are compared: as they are, without blanks at the end, without blanks at both ends. */
export type Likeness = 'exact' | 'end' | 'both';

/** Finds runs of lines in a text. Everything it does for one text together is bounded. */
export interface LineSearch {
  /** Lines without their ends. */
  readonly texts: readonly string[];
  /**
   * Where the run begins, ascending, 0-based; at most `MAX_FOUND`. None for an empty run.
   *
   * @param run - For every line the texts that will do.
   */
  find(run: readonly (readonly string[])[], likeness: Likeness): readonly number[];
  /** Which lines are like this one: 0-based, ascending. */
  linesLike(text: string, likeness: Likeness): ArrayLike<number>;
  /** The section under a Markdown heading: from its line to the next heading as high. Undefined unless it is there once. */
  section(heading: string): Section | undefined;
  /** True when the work it may do is done; `find` then finds nothing more. */
  exhausted(): boolean;
}

/** 0-based lines, the end exclusive. */
export interface Section {
  readonly from: number;
  readonly to: number;
}

/** Positions of one run. */
export const MAX_FOUND = 1000;
/** Comparisons of two lines. */
const MAX_STEPS = 20_000_000;

export function createLineSearch(texts: readonly string[]): LineSearch {
  const indexes: Partial<Record<Likeness, LineIndex>> = {};
  let steps = MAX_STEPS;
  const indexFor = (likeness: Likeness): LineIndex => {
    indexes[likeness] ??= indexLines(texts, likeness);
    return indexes[likeness];
  };
  // Kept, because many hunks may name the same heading of a long text.
  const sections = new Map<string, Section | undefined>();
  return {
    texts,
    section(heading) {
      if (!sections.has(heading)) sections.set(heading, findSection(texts, heading, this.linesLike(heading, 'both')));
      return sections.get(heading);
    },
    exhausted: () => steps <= 0,
    linesLike: (text, likeness) => indexFor(likeness).positions(KEY[likeness](text)),
    find(run, likeness) {
      const { ids, idOf, positions } = indexFor(likeness);
      const wanted = run.map((choices) => choices.map((text) => idOf(KEY[likeness](text))));
      const rarest = findRarest(run, (text) => positions(KEY[likeness](text)).length);
      steps -= run.length;
      if (rarest === undefined) return [];
      const found = new Set<number>();
      for (const choice of new Set(run[rarest])) {
        for (const position of positions(KEY[likeness](choice))) {
          const start = position - rarest;
          if (start + run.length > texts.length) break;
          if (--steps <= 0) return [];
          if (start < 0) continue;
          let matched = 0;
          while (matched < wanted.length && wanted[matched]?.includes(ids[start + matched] as number)) matched++;
          steps -= matched;
          if (matched === wanted.length) found.add(start);
          if (found.size >= MAX_FOUND) break;
        }
      }
      return [...found].sort((one, other) => one - other);
    },
  };
}

// --- internal ---

const KEY: Readonly<Record<Likeness, (text: string) => string>> = {
  exact: (text) => text,
  end: (text) => text.trimEnd(),
  both: (text) => text.trim(),
};

interface LineIndex {
  /** For every line a number, the same for lines that are alike. */
  readonly ids: Int32Array;
  /** -1 for a line that is not in the text. */
  idOf(key: string): number;
  positions(key: string): Int32Array;
}

const NOWHERE: Int32Array = new Int32Array(0);

function indexLines(texts: readonly string[], likeness: Likeness): LineIndex {
  const idByKey = new Map<string, number>();
  const ids = Int32Array.from(texts, (text) => {
    const key = KEY[likeness](text);
    const id = idByKey.get(key) ?? idByKey.size;
    idByKey.set(key, id);
    return id;
  });
  // All positions in one array, those of one line side by side: a list for each would not fit for millions of lines.
  const starts = new Int32Array(idByKey.size + 1);
  for (const id of ids) starts[id + 1] = (starts[id + 1] as number) + 1;
  for (let id = 0; id < idByKey.size; id++) starts[id + 1] = (starts[id + 1] as number) + (starts[id] as number);
  const sorted = new Int32Array(ids.length);
  const next = starts.slice();
  ids.forEach((id, position) => {
    sorted[next[id] as number] = position;
    next[id] = (next[id] as number) + 1;
  });
  const idOf = (key: string): number => idByKey.get(key) ?? -1;
  return {
    ids,
    idOf,
    positions(key) {
      const id = idOf(key);
      return id === -1 ? NOWHERE : sorted.subarray(starts[id], starts[id + 1]);
    },
  };
}

/** The line of the run with the fewest positions; undefined for an empty run. */
function findRarest(run: readonly (readonly string[])[], countOf: (text: string) => number): number | undefined {
  let fewest = Number.POSITIVE_INFINITY;
  let rarest: number | undefined;
  for (const [at, choices] of run.entries()) {
    const count = choices.reduce((sum, text) => sum + countOf(text), 0);
    if (count < fewest) [fewest, rarest] = [count, at];
    if (count === 0) break;
  }
  return rarest;
}

function findSection(texts: readonly string[], heading: string, positions: ArrayLike<number>): Section | undefined {
  const level = /^#{1,6}(?=\s)/.exec(heading)?.[0].length;
  const from = positions[0];
  if (level === undefined || from === undefined || positions.length > 1) return undefined;
  const next = new RegExp(`^#{1,${level}}\\s`);
  let to = from + 1;
  while (to < texts.length && !next.test(texts[to] as string)) to++;
  return { from, to };
}
