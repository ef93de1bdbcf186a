/** Public types of search. No code. */
import type { Problem } from 'skill-registry/kernel';

export interface ListQuery {
  /** A task in any words, the name of a skill or the beginning of one, or a phrase in double quotes. */
  readonly query?: string;
  readonly tag?: string;
  /** Id of a source. */
  readonly source?: string;
  /** 1-200. Default: 20. */
  readonly limit?: number;
  /** Whether each hit has `why`; it quotes a body only for a person. Default: false. */
  readonly why?: boolean;
  /** `person`: also skills that models do not see. Default: `model`. */
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
  /** Only with `why` in the query. */
  readonly why?: SearchReason;
}

export interface SkillList {
  readonly skills: readonly ListedSkill[];
  /**
   * The number of skills that fit the query, before `limit`; without a query, of all that were asked for, also of those that are not
   * there yet.
   */
  readonly total: number;
  readonly truncated: boolean;
  /** Only while skills are missing that were asked for: they are not inspected yet. `message` says when to ask again. */
  readonly provisional?: true;
  /** How many; only with `provisional`. A person is shown them all the same. */
  readonly pending?: number;
  /** Up to three similar ids; only when no skill fits the query. */
  readonly nearest?: readonly string[];
  /** One line: that no skill fits the query, or that the answer is provisional, and what to do; only then. */
  readonly message?: string;
}

/** Where a query was found in a skill. */
export interface SearchReason {
  /** `semantic`: no word was found, but the meaning is similar. */
  readonly field: 'id' | 'name' | 'tags' | 'trigger_keywords' | 'description' | 'body' | 'semantic';
  /** One line, at most 160 characters, without invisible characters. */
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
  /** The number of trigger queries of all skills. */
  readonly queries: number;
  readonly stolen: readonly StolenQuery[];
  /** TRIGGER_EVAL_INVALID. */
  readonly problems: readonly Problem[];
}

/** Skills whose descriptions compete for the same tasks. */
export interface Neighbourhood {
  /** Ids. The first one is the skill that the others were compared with. */
  readonly skills: readonly string[];
  /** 0-1: mean likeness to the first one. */
  readonly likeness: number;
  /** Stems of words that all of them have, the rarest first. */
  readonly words: readonly string[];
}

/** What a new description does to other skills. */
export interface TakenOver {
  /** Ids of the skills for whose descriptions the search finds this skill best, beside themselves, and did not before. */
  readonly skills: readonly string[];
  /** Descriptions that were tried: at most the 50 that share most with the new one. */
  readonly tried: number;
  /** Whether five seconds were over before all of these were tried. */
  readonly cut: boolean;
  /** The other skills that models see. */
  readonly others: number;
  /** Whether it asks to be taken for every task, or before other skills: then it competes with all of them. */
  readonly claimsAll: boolean;
  /** All of this for a person, in sentences. */
  readonly text: string;
}

/** A trigger query with another first hit than its author wants. */
export interface StolenQuery {
  readonly query: string;
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  /** Id of the first hit. */
  readonly found: string | null;
}

/** A trigger query whose first hit changes. */
export interface RetrievalChange {
  readonly query: string;
  /** The skill that has the query. */
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  readonly before: string | null;
  readonly after: string | null;
}
