/** Which blanks are ignored: none, those at the end, those at both ends. */
export type Comparison = 'exact' | 'end' | 'both';

export const MAX_FOUND = 1000;
/** Comparisons of two lines, for all searches in one text together. */
const MAX_STEPS = 20_000_000;

interface Section {
  /** 0-based; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/** All searches in one text share one limit of work. */
export class LineSearch {
  readonly texts: readonly string[];
  readonly #indexes: Partial<Record<Comparison, LineIndex>> = {};
  // Many hunks may name the same heading of a long text.
  readonly #sections = new Map<string, Section | undefined>();
  #steps = MAX_STEPS;

  constructor(texts: readonly string[]) {
    this.texts = texts;
  }

  /** The limit of work is reached: `find` finds nothing more. */
  exhausted(): boolean {
    return this.#steps <= 0;
  }

  /** Lines that are equal apart from blanks at both ends: 0-based, ascending. */
  linesLike(text: string, most: number): readonly number[] {
    const { idOf, first, next } = this.#indexFor('both');
    const found: number[] = [];
    let at = first[idOf.get(NORMALIZE.both(text)) ?? -1] ?? -1;
    for (; at !== -1 && found.length < most; at = next[at] as number) found.push(at);
    return found;
  }

  /** Up to the next Markdown heading of the same or a higher level. Undefined unless `heading` occurs exactly once. */
  section(heading: string): Section | undefined {
    const { texts } = this;
    if (this.#sections.has(heading)) return this.#sections.get(heading);
    const level = /^#{1,6}(?=\s)/.exec(heading)?.[0].length ?? 0;
    const [from, another] = this.linesLike(heading, 2);
    const isOne = level > 0 && from !== undefined && another === undefined;
    const isNext = new RegExp(`^#{1,${level || 1}}\\s`);
    const to = isOne ? texts.findIndex((text, at) => at > from && isNext.test(text)) : -1;
    const found = isOne ? { from, to: to === -1 ? texts.length : to } : undefined;
    this.#sections.set(heading, found);
    return found;
  }

  /** 0-based, ascending, at most `MAX_FOUND`. @param run - For each line the texts that match it. */
  find(run: readonly (readonly string[])[], comparison: Comparison): readonly number[] {
    const { ids, idOf, first, next, counts } = this.#indexFor(comparison);
    const runIds = run.map((choices) => choices.map((text) => idOf.get(NORMALIZE[comparison](text)) ?? -1));
    this.#steps -= run.length;
    let rarest: number | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [at, choices] of runIds.entries()) {
      const count = choices.reduce((sum, id) => sum + (counts[id] ?? 0), 0);
      if (count < fewest) [fewest, rarest] = [count, at];
      if (count === 0) return [];
    }
    if (rarest === undefined) return [];
    const found = new Set<number>();
    for (const choice of new Set(runIds[rarest])) {
      for (let at = first[choice] ?? -1; at !== -1; at = next[at] as number) {
        const start = at - rarest;
        if (start + run.length > this.texts.length) break;
        if (--this.#steps <= 0) return [];
        if (start < 0) continue;
        let matched = 0;
        while (matched < runIds.length && runIds[matched]?.includes(ids[start + matched] as number)) matched++;
        this.#steps -= matched;
        if (matched === runIds.length) found.add(start);
        if (found.size >= MAX_FOUND) break;
      }
    }
    return [...found].sort((a, b) => a - b);
  }

  #indexFor(comparison: Comparison): LineIndex {
    this.#indexes[comparison] ??= indexLines(this.texts, NORMALIZE[comparison]);
    return this.#indexes[comparison];
  }
}

// --- internal ---

const NORMALIZE: Readonly<Record<Comparison, (text: string) => string>> = {
  exact: (text) => text,
  end: (text) => text.trimEnd(),
  both: (text) => text.trim(),
};

/** Equal lines have the same number. In typed arrays: lists for millions of lines would take too much memory. */
interface LineIndex {
  readonly ids: Int32Array;
  readonly next: Int32Array;
  readonly idOf: ReadonlyMap<string, number>;
  /** By number: the first line that has it, and how many have it. */
  readonly first: readonly number[];
  readonly counts: readonly number[];
}

function indexLines(texts: readonly string[], normalize: (text: string) => string): LineIndex {
  const idOf = new Map<string, number>();
  const [ids, next] = [new Int32Array(texts.length), new Int32Array(texts.length)];
  const first: number[] = [];
  const counts: number[] = [];
  for (let at = texts.length - 1; at >= 0; at--) {
    const key = normalize(texts[at] as string);
    const id = idOf.get(key) ?? idOf.size;
    idOf.set(key, id);
    ids[at] = id;
    next[at] = first[id] ?? -1;
    first[id] = at;
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return { ids, next, idOf, first, counts };
}
