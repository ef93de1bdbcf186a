/** What was made of what, the last time; most often it is asked for in the same order again. */
export interface LastMade<From extends object, Made> {
  find(from: From): Made | undefined;
  /** For the next time. */
  add(from: From, made: Made): void;
  /** What was added is now what is found. */
  turn(): void;
}

/** A map of tens of thousands of objects takes longer to fill than anything it is asked for, so there is none until it is needed. */
export function createLastMade<From extends object, Made>(): LastMade<From, Made> {
  let before: Pairs<From, Made> = { from: [], made: [] };
  let now: Pairs<From, Made> = { from: [], made: [] };
  let byFrom: Map<From, Made> | undefined;
  return {
    find(from) {
      const at = now.from.length;
      if (before.from[at] === from) return before.made[at];
      if (before.from.length === 0) return undefined;
      byFrom ??= new Map(before.from.map((one, index) => [one, before.made[index] as Made]));
      return byFrom.get(from);
    },
    add(from, made) {
      now.from.push(from);
      now.made.push(made);
    },
    turn() {
      [before, now, byFrom] = [now, { from: [], made: [] }, undefined];
    },
  };
}

// --- internal ---

interface Pairs<From, Made> {
  readonly from: From[];
  readonly made: Made[];
}
