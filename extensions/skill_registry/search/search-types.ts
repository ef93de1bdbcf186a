import type { Problem } from 'skill-registry/kernel';

/** Where a query was found in a skill. */
export interface SearchReason {
  /** `semantic`: no word was found, but it means much the same. */
  readonly field: 'id' | 'name' | 'tags' | 'trigger_keywords' | 'description' | 'body' | 'semantic';
  /** One line of it, at most 160 characters, without invisible ones. */
  readonly snippet: string;
}

/** Skills whose descriptions compete for the same tasks. */
export interface Neighbourhood {
  /** Ids, the one in the middle first. */
  readonly skills: readonly string[];
  /** 0-1: how alike they are to the first one. */
  readonly likeness: number;
  /** Stems of words that all of them use, the rarest first. */
  readonly words: readonly string[];
}

/** A trigger query that does not find what its author wants. */
export interface StolenQuery {
  readonly query: string;
  readonly skill_id: string;
  readonly should_trigger: boolean;
  /** What it finds first. */
  readonly found: string | null;
}

export interface OverlapReport {
  /** Densest first. */
  readonly neighbourhoods: readonly Neighbourhood[];
  /** How many trigger queries skills carry. */
  readonly queries: number;
  readonly stolen: readonly StolenQuery[];
  /** TRIGGER_EVAL_INVALID. */
  readonly problems: readonly Problem[];
}

/** A trigger query that would find another skill first. */
export interface RetrievalChange {
  readonly query: string;
  /** Whose query it is. */
  readonly skill_id: string;
  readonly should_trigger: boolean;
  readonly before: string | null;
  readonly after: string | null;
}

/** How many skills of the catalog have a vector. */
export interface EmbeddedSkills {
  readonly embedded: number;
  readonly total: number;
}
