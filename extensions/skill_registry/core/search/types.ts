import type { Problem } from 'skill-registry/kernel';

export interface ListQuery {
  /** A task in any words, a name of a skill or its beginning, or a phrase in double quotes. */
  readonly query?: string;
  readonly tag?: string;
  readonly source?: string;
  /** 1-200. Default: 20. */
  readonly limit?: number;
  /** Adds `why` to each skill; it quotes bodies only for a person. Default: false. */
  readonly why?: boolean;
  /** `person`: also finds skills that models do not see. Default: `model`. */
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
  readonly why?: SearchReason;
}

export interface SkillList {
  readonly skills: readonly ListedSkill[];
  /** Skills that fit, before `limit`. Without a query: all that were asked for, also those not inspected yet. */
  readonly total: number;
  readonly truncated: boolean;
  /** Only while skills that were asked for are not inspected yet. `message` says when to ask again. */
  readonly provisional?: true;
  /** Number of skills that are not inspected yet; only with `provisional`. A person gets them in `skills` already. */
  readonly pending?: number;
  /** Up to three similar ids; only when no skill fits the query. */
  readonly nearest?: readonly string[];
  /** One line, only when no skill fits or the answer is provisional: says so, and what to do. */
  readonly message?: string;
}

export interface SearchReason {
  /** `semantic`: no word was found, but the meaning is similar. */
  readonly field: 'id' | 'name' | 'tags' | 'trigger_keywords' | 'description' | 'body' | 'semantic';
  /** One line, at most 160 characters, without invisible characters. */
  readonly snippet: string;
}

export interface EmbeddedSkills {
  readonly embedded: number;
  readonly total: number;
}

export interface OverlapReport {
  /** Densest first. */
  readonly neighbourhoods: readonly Neighbourhood[];
  readonly queries: number;
  readonly stolen: readonly StolenQuery[];
  /** TRIGGER_EVAL_INVALID. */
  readonly problems: readonly Problem[];
}

export interface Neighbourhood {
  /** Ids; the others were compared with the first one. */
  readonly skills: readonly string[];
  /** 0-1: mean likeness to the first one. */
  readonly likeness: number;
  /** Stems of words that all of them have, the rarest first. */
  readonly words: readonly string[];
}

export interface TakenOver {
  /** Ids of the others whose descriptions now find this skill as the best one beside themselves, and did not before. */
  readonly skills: readonly string[];
  /** Number of descriptions: at most the 50 that share most with the new one. */
  readonly tried: number;
  /** Five seconds were over before all were tried. */
  readonly cut: boolean;
  /** Number of other skills that models see. */
  readonly others: number;
  /** The description asks to be used for every task, or before other skills: it competes with all skills. */
  readonly claimsAll: boolean;
  /** The same in sentences, for a person. */
  readonly text: string;
}

/** A trigger query whose first hit is not what its author wants. */
export interface StolenQuery {
  readonly query: string;
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  readonly found: string | null;
}

export interface RetrievalChange extends Omit<StolenQuery, 'found'> {
  readonly before: string | null;
  readonly after: string | null;
}
