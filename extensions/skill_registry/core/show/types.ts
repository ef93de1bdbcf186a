import type { Skill } from '../skill/skill.ts';

export interface TokenCounts {
  /** Of its line in the catalog; null when not counted. */
  readonly l1: number | null;
  /** Of its body; null when not counted. */
  readonly l2: number | null;
}

export interface ContextCost {
  readonly tokens: number;
  /** The part for the text of `catalog.enforcement`. */
  readonly enforcement: number;
}

export interface SkillVisibility {
  readonly skill: Skill;
  /** Another skill has its id: agents read this one by its qualified id. */
  readonly isLoser: boolean;
  readonly views: readonly AgentView[];
}

export interface AgentView {
  /** Null: an agent without bindings, such as a client of MCP or of the library. */
  readonly agent: string | null;
  /** Why it is not offered; absent when it is. */
  readonly because?: string;
}
