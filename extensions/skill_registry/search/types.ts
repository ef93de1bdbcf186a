/** What callers see of search. No code. */
import type { Problem } from 'skill-registry/kernel';

export interface ListQuery {
  /** What the skill is to be for, in any words; its name or the beginning of one; a phrase in double quotes. */
  readonly query?: string;
  readonly tag?: string;
  /** Id of a source. */
  readonly source?: string;
  /** 1-200. Default: 20. */
  readonly limit?: number;
  /** Whether each hit of a query says why. Default: false. */
  readonly why?: boolean;
  /** `person`: also what models do not see. Default: `model`. */
  readonly audience?: 'model' | 'person';
}

export interface ListedSkill {
  readonly skillId: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly source: string;
  /** 0-1, comparable within one answer; only with a query. */
  readonly score?: number;
  /** Only when it was asked for. */
  readonly why?: SearchReason;
}

export interface SkillList {
  readonly skills: readonly ListedSkill[];
  /** Before `limit`. */
  readonly total: number;
  readonly truncated: boolean;
  /** Up to three ids that come near; only when no skill fits the query. */
  readonly nearest?: readonly string[];
}

/** Where a query was found in a skill. */
export interface SearchReason {
  /** `semantic`: no word was found, but it means much the same. */
  readonly field: 'id' | 'name' | 'tags' | 'trigger_keywords' | 'description' | 'body' | 'semantic';
  /** One line of it, at most 160 characters, without invisible ones. */
  readonly snippet: string;
}

/** How many skills of the catalog have a vector. */
export interface EmbeddedSkills {
  readonly embedded: number;
  readonly total: number;
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
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  /** What it finds first. */
  readonly found: string | null;
}
