/** What callers see of what a turn is shown. No code. */

export interface TokenCounts {
  /** Its line in the catalog; null when it was not counted. */
  readonly l1: number | null;
  /** Its body; null when it was not counted. */
  readonly l2: number | null;
}

/** Tokens that skills take in every system prompt. */
export interface ContextCost {
  readonly tokens: number;
  /** How many of them are the strong wording of `catalog.enforcement`. */
  readonly enforcement: number;
}
