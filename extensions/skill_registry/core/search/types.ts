import type { Skill } from '../skill/skill.ts';

export interface ListQuery {
  /** A task in any words, a name of a skill or its beginning, or a phrase in double quotes. */
  readonly query?: string;
  readonly tag?: string;
  readonly source?: string;
  /** Files of the task: at most five skills whose `paths` match are listed too. */
  readonly paths?: readonly string[];
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
  /** May not fit: the first hit has little of the query, or hardly more than others. Then all hits are marked. */
  readonly weak?: true;
  readonly why?: SearchReason;
}

export interface SkillList {
  readonly skills: readonly ListedSkill[];
  /** Skills that were found, before `limit`. Without a query: all that were asked for. */
  readonly total: number;
  readonly truncated: boolean;
  /** Only with a query, while skills are not wholly indexed. `message` says when to ask again. */
  readonly provisional?: true;
  /** Number of skills of which only name, id, description, tags and keywords count yet; only with `provisional`. */
  readonly pending?: number;
  /** Up to three similar ids; only when none was found. */
  readonly nearest?: readonly string[];
  /** One line, only when no skill was found, hits are weak or the answer is provisional: says so, and what to do. */
  readonly message?: string;
}

export interface SearchReason {
  /** `semantic`: no word was found, but the meaning is similar. */
  readonly field: 'id' | 'name' | 'tags' | 'trigger_keywords' | 'description' | 'body' | 'semantic';
  /** One line, at most 160 characters, without invisible characters. */
  readonly snippet: string;
}

/** How near skills are to a query by meaning. */
export interface Likeness {
  /** Above 0; 1 for the nearest skill. */
  readonly near: ReadonlyMap<Skill, number>;
  /** Skills that are near enough to be found without a common word. */
  readonly fitting: ReadonlySet<Skill>;
  /** 0 to 1: 0 for the nearness of an unrelated text, 1 for an equal text. */
  readonly confidence: number;
}

/** Search by meaning. */
export interface Meaning {
  /** Resolves when `likeness` has the vector of the query, or will not get it in time. */
  ready(query: string): Promise<void>;
  /** Undefined when meaning says nothing about the query. */
  likeness(skills: readonly Skill[], query: string): Likeness | undefined;
}
