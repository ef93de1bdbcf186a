/** Public types of the text of a turn. No code. */

export interface TokenCounts {
  /** Tokens of its line in the catalog; null when not counted. */
  readonly l1: number | null;
  /** Tokens of its body; null when not counted. */
  readonly l2: number | null;
}

/** Tokens that skills take in every system prompt. */
export interface ContextCost {
  readonly tokens: number;
  /** The part of these tokens for the text of `catalog.enforcement`. */
  readonly enforcement: number;
}
