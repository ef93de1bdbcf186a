import type { TurnContext } from 'skill-registry/kernel';
import type { ResourceInfo, Skill } from '../skill/skill.ts';

export interface ReadOptions {
  /** `body`: trimmed, without frontmatter and hidden text. `raw`: the file as it is. Default: `body`. */
  readonly view?: 'body' | 'raw';
  /** For `model`, scopes and `disable-model-invocation` apply. Default: `model` with a turn, else `person`. */
  readonly audience?: 'model' | 'person' | 'binding';
  /** False: no body that the agent has in its own, named conversation; see `SkillContent.repeated`. Default: true. */
  readonly again?: boolean;
  /** False: SKILL_NOT_INSPECTED where a first inspection costs more than 200 ms. Default: not for `model`. */
  readonly wait?: boolean;
}

/** Of what was handed over; only with a turn, and where usage is recorded. */
export interface Counted {
  /** Tokens that this agent was handed over in its conversation, this included; absent where nobody names one. */
  readonly threadTokens?: number;
  /** From 80 % of a limit on. */
  readonly tokenWarning?: string;
}

export interface SkillContent extends Counted {
  readonly skillId: string;
  readonly name: string;
  readonly content: string;
  /** The agent has this body already, so `content` only says since when. */
  readonly repeated?: true;
  /** Number of hidden characters left out of the body, because people do not see them; absent for none. */
  readonly hiddenLeftOut?: number;
  readonly approxTokens: number;
  /** `Skill loaded: <id> (approx. <n> tokens)` */
  readonly message: string;
  /** As the author wrote it. */
  readonly requires: readonly string[];
  /** Names those of `requires` that the caller can read; absent for none. */
  readonly hint?: string;
  /** `allowed-tools` of the frontmatter, one entry a tool, without hidden characters. It grants and limits nothing. */
  readonly allowedTools: readonly string[];
  /**
   * Absolute, real path: `scripts/x.py` in the body is `<directory>/scripts/x.py`. Absent for a skill without a folder.
   * Tools never give it over HTTP. For a model, hidden characters in it are `⟦U+202E⟧`.
   */
  readonly directory?: string;
  /** The other files, at most 512, by path. For a model, hidden characters are `⟦U+202E⟧`; such a path can be read. */
  readonly resources: readonly ResourceInfo[];
  /** Number of files and folders that are never handed out, see `leftOutCount`; absent for none. */
  readonly resourcesLeftOut?: number;
  readonly digest: string;
  readonly source: string;
  /** Why no agent is given what was read; only for a person, else absent. */
  readonly heldBecause?: string;
}

export interface ResourceContent extends Counted {
  readonly skillId: string;
  readonly path: string;
  readonly content: string;
  /** `base64` when the bytes are not UTF-8 text. */
  readonly encoding: 'utf-8' | 'base64';
  readonly size: number;
  readonly approxTokens: number;
  readonly heldBecause?: string;
}

export interface PreparedMessage {
  readonly message: string;
  /** Call it once: only a message that an agent received counts as a load, and as text in its conversation. */
  settled(wasReceived: boolean): void;
}

/** The event `skill_loaded`, there with names in snake_case. */
export interface SkillLoadedEvent {
  readonly event: 'skill_loaded';
  /** The id in the request; may not exist. */
  readonly skillId: string;
  /** Absent for the body. */
  readonly path?: string;
  readonly source: string | null;
  readonly outcome: 'success' | 'failure' | 'refused';
  readonly audience: 'model' | 'person' | 'binding';
  readonly agentId: string | null;
  readonly durationSeconds: number;
  /** A code, or a `Refusal`, for which a model gets SKILL_NOT_FOUND. */
  readonly error: string | null;
}

/** Recorded of a load, beside its event. */
export interface LoadDetails {
  readonly skill: Skill | undefined;
  readonly turn: TurnContext | undefined;
  /** `sha256:<64 hex>` of the SKILL.md that was read; else undefined. */
  readonly digest: string | undefined;
  /** Of what was handed over; undefined when not counted. */
  readonly tokens: number | undefined;
  /** Of another file than SKILL.md, as it lies in the skill; undefined for one that does not. */
  readonly path?: string | undefined;
}

/** Counts what agents are handed over, before they get it. */
export interface Meter {
  /** @throws THREAD_TOKENS_SPENT, AGENT_TOKENS_SPENT, STORE_UNAVAILABLE: then it must not be handed over. */
  charge(handed: Omit<LoadDetails, 'turn' | 'skill'> & { readonly skill: Skill }, turn: TurnContext): Counted;
  /** When this conversation of the agent was given this body, if it still has it; in milliseconds since 1970. */
  givenAt(skill: Skill, digest: string, turn: TurnContext): number | undefined;
}

export interface ReadPolicy {
  /** With this id the agent can read the skill. */
  readonly skillId: string;
  /** Relative to the skill: `SKILL.md`, `references/guide.md`; empty for its folder. */
  readonly path: string;
  /** False: out of scope, hidden or gated. The answer must be the same as for a missing file. */
  readonly visible: boolean;
}

export interface Reading {
  /**
   * @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND (the file was removed), RESOURCE_TOO_LARGE, PATH_TRAVERSAL,
   *   SKILL_NOT_INSPECTED while a long inspection goes on (`details.retry_after_ms`); SKILL_HELD
   *   or SKILL_DISABLED for a binding, or a person in a conversation.
   */
  read(skillId: string, options?: ReadOptions, turn?: TurnContext): Promise<SkillContent>;
  /** @throws as `read`, INVALID_ARGUMENT. */
  readResource(
    skillId: string,
    path: string,
    turn?: TurnContext,
    options?: Pick<ReadOptions, 'wait'>,
  ): Promise<ResourceContent>;
  /**
   * Unchanged bytes of SKILL.md or another file.
   *
   * @param options.path - Default: SKILL.md.
   * @param options.countsAsLoad - A function gets the bytes and says whether they are handed over: if not, only a
   *   refusal or failure counts; what it throws is a failure. Default: true.
   * @param options.onHeld - For a person: called before the answer with the reason when no agent is given these bytes.
   *   Without it they are not judged.
   * @throws as `read` and `readResource`.
   */
  readBytes(
    skillId: string,
    options?: {
      readonly path?: string;
      readonly countsAsLoad?: boolean | ((bytes: Uint8Array) => boolean);
      readonly onHeld?: (because: string) => void;
      readonly wait?: boolean;
    },
    turn?: TurnContext,
  ): Promise<Uint8Array>;
  /** At most 512 files. @param turn - Lists the skill that the id means to this agent. @throws SKILL_NOT_FOUND. */
  resources(skillId: string, turn?: TurnContext): readonly ResourceInfo[];
  /**
   * Number of files and folders that are never read, listed, stored or changed: `.env` and `.env.*` (except
   * `.env.example`, `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys, and `data/` of the root.
   * @throws SKILL_NOT_FOUND.
   */
  leftOutCount(skillId: string): number;
}
