import type { TurnContext } from 'skill-registry/kernel';
import type { UsageEvent } from '../../core/events.ts';

export type { UsageEvent } from '../../core/events.ts';

/** Without SQLite every call throws STORE_UNAVAILABLE. */
export interface Usage {
  /** @throws INVALID_ARGUMENT for a `since` that is no age and no date, or lies in the future; REGISTRY_CLOSED. */
  report(query?: UsageQuery): Promise<UsageReport>;
  /** Oldest first; of more than `limit` the newest. @throws as `report`. */
  events(query?: UsageEventQuery): Promise<readonly UsageEvent[]>;
  /**
   * Notes whether a conversation went well, for each skill that its agent had loaded until now. A later one of the same
   * conversation counts instead. @returns the ids; empty when nothing was loaded, or nothing is recorded.
   */
  record(said: ThreadOutcome): Promise<readonly string[]>;
  /**
   * What the conversation of this agent, and of no other, had loaded, with the bodies as they are today: for an agent
   * whose messages were dropped. Bodies are read in scope, as by any read. Then the conversation counts as empty: none
   * is `repeated` until it is read again.
   * @param turn - Scope of the agent, such as `boundSkills`. @throws as `report`.
   */
  loadedIn(of: ThreadQuery, turn?: TurnContext): Promise<HadInThread>;
}

export interface ThreadQuery {
  /** Default: without a name. */
  readonly agent?: string | undefined;
  readonly thread: string;
  /** Of all bodies that are given; 0 only lists. Default: 8,000. */
  readonly tokens?: number | undefined;
  /** Gives the bodies of these only. Default: all. */
  readonly skills?: readonly string[] | undefined;
}

export interface HadSkill {
  readonly skillId: string;
  /** `sha256:<64 hex>` of SKILL.md, as it was handed over last; absent when only other files were. */
  readonly digest?: string;
  /** Other files that were handed over. */
  readonly files: readonly string[];
  /** The body as it is today, with its digest. */
  readonly content?: string;
  readonly digestNow?: string;
  /** Why there is no body: this agent may not have it now, or the tokens do not suffice. */
  readonly withheld?: 'unavailable' | 'tokens';
}

export interface HadInThread {
  /** In the order in which they were first handed over. */
  readonly skills: readonly HadSkill[];
  /** The same for a model; empty without skills. */
  readonly text: string;
}

export type Outcome = 'helped' | 'did_not';

export interface ThreadOutcome {
  /** Default: without a name. */
  readonly agent?: string | undefined;
  readonly thread: string;
  readonly outcome: Outcome;
}

export interface UsageQuery {
  readonly skillId?: string | undefined;
  /** Default: all, and those without a name. */
  readonly agent?: string | undefined;
  /** An age (`12h`, `30d`, `2w`) or an ISO 8601 date; a report begins with its whole day (UTC). Default: `30d`. */
  readonly since?: string | undefined;
}

export interface UsageEventQuery extends UsageQuery {
  readonly thread?: string | undefined;
  readonly kind?: UsageEvent['kind'] | undefined;
  /** As of `UsageQuery`, to the millisecond. Default: everything that is kept. */
  readonly since?: string | undefined;
  /** 1-10,000. Default: 1,000. */
  readonly limit?: number | undefined;
}

/** `offers`: how often a skill was named to an agent, in a turn or a list. `tokens`: of all texts that agents got. */
export interface UsageFigures {
  readonly offers: number;
  readonly loads: number;
  readonly resources: number;
  readonly refusals: number;
  readonly failures: number;
  readonly tokens: number;
}

export interface SkillUsage extends UsageFigures {
  readonly skillId: string;
  /** Offers that no load followed, at least 0; loads without a request do not count. */
  readonly notTaken: number;
  /** Different agents that loaded it; all without a name count as one. */
  readonly agents: number;
  /** ISO 8601, UTC; also before the range. */
  readonly lastLoad: string | null;
}

export interface SkillOutcomes {
  readonly skillId: string;
  /** `sha256:<64 hex>` of SKILL.md. */
  readonly digest: string;
  /** Where the history knows it. */
  readonly revision?: number;
  /** ISO 8601, UTC: the first one. */
  readonly since: string;
  readonly helped: number;
  readonly didNot: number;
}

/** It fitted well what was asked, was offered, and was not loaded in the conversation until now. */
export interface MissedSkill {
  readonly skillId: string;
  readonly times: number;
  /** Different conversations. */
  readonly threads: number;
  /** ISO 8601, UTC. */
  readonly last: string;
  /** Of its own id, name, description and tags: what made it fit, most often first, at most 10. */
  readonly words: readonly string[];
}

export interface UsageReport {
  /** ISO 8601, UTC: the beginning of the first day, or the oldest load if too many older ones were removed. */
  readonly since: string;
  /** The same for refusals and failures, of which fewer are kept. */
  readonly failuresSince: string;
  readonly until: string;
  /** Every day of the range (UTC), oldest first: `{ day: '2026-11-22', offers: 12, loads: 3 }`. */
  readonly days: readonly { readonly day: string; readonly offers: number; readonly loads: number }[];
  /** Most loaded first, then most offered. */
  readonly skills: readonly SkillUsage[];
  /** Most loads first. `agent` is null for those without a name, such as an MCP client. */
  readonly agents: readonly {
    readonly agent: string | null;
    readonly offers: number;
    readonly loads: number;
    readonly failures: number;
    readonly tokens: number;
  }[];
  /** Conversations of 30 days, the last used first, at most 50. `tokens`: of what was asked for. */
  readonly threads: readonly {
    readonly agent: string | null;
    readonly thread: string;
    readonly tokens: number;
    readonly last: string;
  }[];
  /** Codes of refusals and failures, most frequent first, at most 50. */
  readonly failing: readonly { readonly skillId: string; readonly code: string; readonly count: number }[];
  /** Only with `skillId`: its other files, most read first. `(missing)`: requests of files that it does not have. */
  readonly files?: readonly { readonly path: string; readonly reads: number }[];
  /** Skills that were loaded, with this many files in `references/`, of which none was read; most loaded first. */
  readonly unread: readonly { readonly skillId: string; readonly loads: number; readonly references: number }[];
  /** Of conversations in which a content of a skill was loaded; by skill, the oldest content first. */
  readonly outcomes: readonly SkillOutcomes[];
  /** Available to agents but not loaded in the range; most offered first. */
  readonly dead: readonly { readonly skillId: string; readonly offers: number; readonly lastLoad: string | null }[];
  /** Missed most often first, at most 200. */
  readonly missed: readonly MissedSkill[];
  readonly totals: UsageFigures;
  /** Why nothing is kept on disk at present; null when it is. */
  readonly notKept: string | null;
}
