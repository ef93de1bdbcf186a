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
  /** The first so many lines that are like this one but for blanks at both ends: 0-based, ascending. */
  linesLike(text: string, most: number): readonly number[];
  /**
   * The section under a Markdown heading: from its line to the next heading as high, 0-based, the end exclusive. Undefined unless
   * it is there once.
   */
  section(heading: string): { readonly from: number; readonly to: number } | undefined;
  /** True when the work it may do is done; `find` then finds nothing more. */
  exhausted(): boolean;
}

/** Positions of one run. */
export const MAX_FOUND = 1000;
/** Comparisons of two lines. */
const MAX_STEPS = 20_000_000;

export function createLineSearch(texts: readonly string[]): LineSearch {
  const indexes: Partial<Record<Likeness, LineIndex>> = {};
  let steps = MAX_STEPS;
  const indexFor = (likeness: Likeness): LineIndex => {
    indexes[likeness] ??= indexLines(texts, KEY[likeness]);
    return indexes[likeness];
  };
  // Kept, because many hunks may name the same heading of a long text.
  const sections = new Map<string, ReturnType<LineSearch['section']>>();
  return {
    texts,
    exhausted: () => steps <= 0,
    linesLike(text, most) {
      const { idOf, first, next } = indexFor('both');
      const found: number[] = [];
      let at = first[idOf.get(KEY.both(text)) ?? -1] ?? -1;
      for (; at !== -1 && found.length < most; at = next[at] as number) found.push(at);
      return found;
    },
    section(heading) {
      if (sections.has(heading)) return sections.get(heading);
      const level = /^#{1,6}(?=\s)/.exec(heading)?.[0].length ?? 0;
      const [from, another] = this.linesLike(heading, 2);
      const isOne = level > 0 && from !== undefined && another === undefined;
      const isNext = new RegExp(`^#{1,${level || 1}}\\s`);
      const to = isOne ? texts.findIndex((text, at) => at > from && isNext.test(text)) : -1;
      const found = isOne ? { from, to: to === -1 ? texts.length : to } : undefined;
      sections.set(heading, found);
      return found;
    },
    find(run, likeness) {
      const { ids, idOf, first, next, counts } = indexFor(likeness);
      const wanted = run.map((choices) => choices.map((text) => idOf.get(KEY[likeness](text)) ?? -1));
      steps -= run.length;
      // Only where the rarest line of the run stands can the run stand.
      let rarest: number | undefined;
      let fewest = Number.POSITIVE_INFINITY;
      for (const [at, choices] of wanted.entries()) {
        const count = choices.reduce((sum, id) => sum + (counts[id] ?? 0), 0);
        if (count < fewest) [fewest, rarest] = [count, at];
        if (count === 0) return [];
      }
      if (rarest === undefined) return [];
      const found = new Set<number>();
      for (const choice of new Set(wanted[rarest])) {
        for (let at = first[choice] ?? -1; at !== -1; at = next[at] as number) {
          const start = at - rarest;
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

/** Lines that are alike have one number. By line, in arrays of numbers: a list for each would not fit for millions of lines. */
interface LineIndex {
  readonly ids: Int32Array;
  /** The next line with the same number; -1 after the last one. */
  readonly next: Int32Array;
  readonly idOf: ReadonlyMap<string, number>;
  /** By number: the first line that has it, and how many do. */
  readonly first: readonly number[];
  readonly counts: readonly number[];
}

function indexLines(texts: readonly string[], keyOf: (text: string) => string): LineIndex {
  const idOf = new Map<string, number>();
  const [ids, next] = [new Int32Array(texts.length), new Int32Array(texts.length)];
  const first: number[] = [];
  const counts: number[] = [];
  for (let at = texts.length - 1; at >= 0; at--) {
    const key = keyOf(texts[at] as string);
    const id = idOf.get(key) ?? idOf.size;
    idOf.set(key, id);
    ids[at] = id;
    next[at] = first[id] ?? -1;
    first[id] = at;
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return { ids, next, idOf, first, counts };
}
