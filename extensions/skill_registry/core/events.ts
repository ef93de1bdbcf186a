import type { TurnContext } from 'skill-registry/kernel';
import type { LoadDetails, SkillLoadedEvent } from './read/types.ts';
import type { Skill } from './skill/skill.ts';

/** Called during a turn: a listener must not wait. One that throws is reported as HOOK_FAILED; the turn goes on. */
export interface Happened {
  /** Named to an agent. @param query - The prompt of the turn, or the words of a search. */
  readonly offered: (skills: readonly (Skill | string)[], turn: TurnContext, query?: string) => void;
  /** Asked for; `event.outcome` says whether it was given. */
  readonly loaded: (event: SkillLoadedEvent, details: LoadDetails) => void;
  /** Its body is in the text of a turn. */
  readonly given: (skill: Skill, tokens: number, turn: TurnContext) => void;
  /** A change was asked for and not made. */
  readonly refused: (step: Step & { readonly kind: 'refusal' | 'failure' }) => void;
  /** A change was proposed, decided or made. */
  readonly changed: (step: Step) => void;
}

export interface Step {
  readonly skillId: string;
  /** A word or a code. */
  readonly outcome: string;
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
}

export interface RegistryEvents {
  on<Kind extends keyof Happened>(kind: Kind, listener: Happened[Kind]): void;
  emit<Kind extends keyof Happened>(kind: Kind, ...given: Parameters<Happened[Kind]>): void;
}

/** What somebody has asked, with a skill that fits it. */
export interface KeptQuery {
  readonly skillId: string;
  readonly query: string;
}

export interface KeptQueries {
  list(): Promise<readonly KeptQuery[]>;
  forget(query: KeptQuery): Promise<void>;
}

/** One of what agents did with skills, as it is kept. */
export interface UsageEvent {
  /** ISO 8601, UTC. */
  readonly time: string;
  /**
   * `load`: SKILL.md. `resource`: another file. `refusal`: the skill exists, but this agent may not have it. `failure`:
   * nothing was read or proposed. `proposal`: a step of a proposal. `outcome`: what somebody said of a conversation.
   */
  readonly kind: 'load' | 'resource' | 'refusal' | 'failure' | 'proposal' | 'outcome';
  /** A requested id without a skill stays as it is; `(invalid)` if it cannot be an id. */
  readonly skillId: string;
  /** `sha256:<64 hex>` of SKILL.md at that time. */
  readonly digest?: string;
  /** The revision with this SKILL.md; only with `thread`, and where it is known. */
  readonly revision?: number;
  readonly agent?: string;
  readonly thread?: string;
  /** What a client of MCP calls itself: its word. */
  readonly client?: string;
  readonly source?: string;
  readonly durationMs?: number;
  /**
   * `success`: requested and read. `given`: put into instructions or a turn without a request. Of a proposal:
   * `proposed`, `edited`, `recommended`, `approved`, `rejected`, `stale`. Of a conversation: `helped`, `did_not`.
   * Else a code (docs/errors.md).
   */
  readonly outcome: string;
  /** Of the text that the agent got, if counted. */
  readonly tokens?: number;
  /** Another file than SKILL.md, as it lies in the skill; `(missing)` for a request of one that does not. */
  readonly path?: string;
}

/** @param callHook - As `CallHook`, which a public type cannot name: what stands beside it needs types of Node. */
export function createEvents(callHook: (name: string, hook: () => unknown) => unknown): RegistryEvents {
  const listeners = new Map<keyof Happened, ((...given: never[]) => void)[]>();
  return {
    on(kind, listener) {
      listeners.set(kind, [...(listeners.get(kind) ?? []), listener]);
    },
    emit(kind, ...given) {
      for (const listener of (listeners.get(kind) ?? []) as ((...given: unknown[]) => void)[]) {
        callHook(`a listener of "${kind}"`, () => listener(...given));
      }
    },
  };
}
