/** Public types of what is recorded about the use of skills. No code. */

/** What agents did with skills. Without SQLite every call throws STORE_UNAVAILABLE. */
export interface Usage {
  /** @throws INVALID_ARGUMENT for a `since` that is no age and no date, or lies in the future; REGISTRY_CLOSED. */
  report(query?: UsageQuery): Promise<UsageReport>;
  /** Recorded events, oldest first; of more than `limit` the newest. @throws as `report`. */
  events(query?: UsageEventQuery): Promise<readonly UsageEvent[]>;
}

export interface UsageQuery {
  /** Default: all. */
  readonly skillId?: string | undefined;
  /** Default: all, and those without a name. */
  readonly agent?: string | undefined;
  /** An age (`12h`, `30d`, `2w`) or an ISO 8601 date; a report begins with the day (UTC) of it. Default: `30d`. */
  readonly since?: string | undefined;
}

export interface UsageEventQuery {
  readonly skillId?: string | undefined;
  readonly agent?: string | undefined;
  /** Id of a conversation. */
  readonly thread?: string | undefined;
  readonly kind?: UsageEvent['kind'] | undefined;
  /** As of `UsageQuery`, to the millisecond. Default: everything that is kept. */
  readonly since?: string | undefined;
  /** 1-10,000. Default: 1,000. */
  readonly limit?: number | undefined;
}

export interface UsageEvent {
  /** ISO 8601, UTC. */
  readonly time: string;
  /**
   * `load`: instructions were handed over. `resource`: another file. `refusal`: the skill exists and this agent may not have it.
   * `failure`: nothing was handed over, or a proposal was not accepted as one. `proposal`: a step of one.
   */
  readonly kind: 'load' | 'resource' | 'refusal' | 'failure' | 'proposal';
  /** Of a skill that does not exist as it was asked for; `(invalid)` where that could be no id. */
  readonly skillId: string;
  /** `sha256:<64 hex>` of SKILL.md: as it was handed over, or as it was when its file was. */
  readonly digest?: string;
  /** The revision of the history with this SKILL.md; only with `thread`, and where it is known. */
  readonly revision?: number;
  readonly agent?: string;
  readonly thread?: string;
  readonly source?: string;
  readonly durationMs?: number;
  /**
   * `success`: was asked for and read. `given`: the body stood in instructions or in the text of a turn, without being asked for. Of
   * a proposal `proposed`, `edited`, `recommended`, `approved`, `rejected`, `stale`. Else a code (docs/errors.md).
   */
  readonly outcome: string;
  /** Of what was handed over, where they were counted. */
  readonly tokens?: number;
}

/** Offers: how often a skill was named to an agent, in the text of a turn or in a list. Tokens: of everything handed over. */
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
  /** Offers that no load followed, at least 0. What was given without being asked for was not offered. */
  readonly notTaken: number;
  /** How many different ones have loaded it; all without a name are one. */
  readonly agents: number;
  /** ISO 8601, UTC; also before the range. */
  readonly lastLoad: string | null;
}

export interface UsageReport {
  /** ISO 8601, UTC: the beginning of the first day; where older loads were removed because there were too many, the time of the oldest. */
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
  }[];
  /** Codes of refusals and failures, most frequent first, at most 50. */
  readonly failing: readonly { readonly skillId: string; readonly code: string; readonly count: number }[];
  /** In the catalog, neither held nor disabled for everyone, and not loaded in the range; most offered first. */
  readonly dead: readonly { readonly skillId: string; readonly offers: number; readonly lastLoad: string | null }[];
  readonly totals: UsageFigures;
  /** Why nothing is kept on disk at present; null: it is kept. */
  readonly notKept: string | null;
}
