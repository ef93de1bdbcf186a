/** Public types of what a turn is shown, and of who is shown what. No code. */
import type { Skill } from '../skill/skill.ts';

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

/** A skill, and which agents it is offered to. */
export interface SkillVisibility {
  readonly skill: Skill;
  /** Another skill has its id: agents read this one by its qualified id. */
  readonly isLoser: boolean;
  readonly views: readonly AgentView[];
}

/** Whether one agent is offered a skill. */
export interface AgentView {
  /** Null: an agent without bindings, such as a client of MCP or of the library. */
  readonly agent: string | null;
  /** Why it is not offered; absent when it is. */
  readonly because?: string;
}
