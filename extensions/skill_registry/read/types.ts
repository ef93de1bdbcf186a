/** Public types of reading. No code. */
import type { TurnContext } from 'skill-registry/kernel';
import type { ResourceInfo, Skill } from '../skill/skill.ts';

export interface ReadOptions {
  /** `body`: without frontmatter and hidden text (`hiddenLeftOut`), trimmed. `raw`: the file as it is. Default: `body`. */
  readonly view?: 'body' | 'raw';
  /** For whom the skill is read: for `model`, scopes and `disable-model-invocation` apply. Default: `model` with a turn, else `person`. */
  readonly audience?: 'model' | 'person' | 'binding';
}

export interface SkillContent {
  readonly skillId: string;
  readonly name: string;
  readonly content: string;
  /** The number of hidden characters that are left out of the body, because people do not see them; absent when there are none. */
  readonly hiddenLeftOut?: number;
  readonly approxTokens: number;
  /** `Skill loaded: <id> (approx. <n> tokens)` */
  readonly message: string;
  /** As the author wrote it. */
  readonly requires: readonly string[];
  /** Names those of `requires` that the caller can read; absent when there are none. */
  readonly hint?: string;
  /**
   * `allowed-tools` of the frontmatter, one entry a tool, without hidden characters; empty without the field. It is what the author
   * says: it grants nothing and limits nothing here.
   */
  readonly allowedTools: readonly string[];
  /**
   * Absolute, real path of the skill's folder: `scripts/x.py` in the body is `<directory>/scripts/x.py`. Absent for a skill without
   * a folder. Tools give it to agents of a kernel and to MCP clients on stdio, never over HTTP. For a model, hidden characters in it
   * are written as `⟦U+202E⟧`.
   */
  readonly directory?: string;
  /** The other files, at most 512, by path. For a model, hidden characters are written as `⟦U+202E⟧`; such a path can be read. */
  readonly resources: readonly ResourceInfo[];
  /** The number of files and folders that are never handed out, see `leftOutCount`; absent when there are none. */
  readonly resourcesLeftOut?: number;
  readonly digest: string;
  readonly source: string;
  /** Why no agent is given what was read; only for a person, absent when agents are. */
  readonly heldBecause?: string;
}

export interface ResourceContent {
  readonly skillId: string;
  readonly path: string;
  readonly content: string;
  /** `base64` when the bytes are not UTF-8 text. */
  readonly encoding: 'utf-8' | 'base64';
  readonly size: number;
  readonly approxTokens: number;
  /** As of `SkillContent`. */
  readonly heldBecause?: string;
}

/** The message of `apply`, for a door that sends it later. */
export interface PreparedMessage {
  readonly message: string;
  /** Call it once: only a message that an agent received counts as a load, and as text that its conversation has. */
  settled(wasReceived: boolean): void;
}

/** Reports a load: success, failure or refusal. The extension emits it as the event `skill_loaded`, with names in snake_case. */
export interface SkillLoadedEvent {
  readonly event: 'skill_loaded';
  /** The id in the request; it may not exist. */
  readonly skillId: string;
  /** Absent for the body. */
  readonly path?: string;
  readonly source: string | null;
  readonly outcome: 'success' | 'failure' | 'refused';
  readonly audience: 'model' | 'person' | 'binding';
  readonly agentId: string | null;
  readonly durationSeconds: number;
  /** A code. A model gets SKILL_NOT_FOUND for SKILL_HELD, SKILL_DISABLED, SKILL_HIDDEN, SKILL_NOT_MODEL_INVOCABLE and SKILL_OUT_OF_SCOPE. */
  readonly error: string | null;
}

/** What is recorded of a load beside its event. */
export interface LoadDetails {
  /** Undefined when none was found. */
  readonly skill: Skill | undefined;
  readonly turn: TurnContext | undefined;
  /** `sha256:<64 hex>` of the SKILL.md that was read; undefined when it was not read. */
  readonly digest: string | undefined;
  /** Of what was handed over; undefined when not counted. */
  readonly tokens: number | undefined;
}

/** The skill that a path belongs to, as an agent sees it in a turn. */
export interface ReadPolicy {
  /** The id with which the agent can read it. */
  readonly skillId: string;
  /** Relative to the skill: `SKILL.md`, `references/guide.md`; empty for its folder. */
  readonly path: string;
  /** False: out of scope, hidden or gated. The answer must be the same as for a file that does not exist. */
  readonly visible: boolean;
}

/** The prompt of a role, and where it comes from. */
export interface RolePrompt {
  readonly source: 'skill' | 'legacy' | 'fallback';
  readonly text: string;
}

/** L2 and L3. */
export interface Reading {
  /**
   * @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND (the file was removed), RESOURCE_TOO_LARGE, PATH_TRAVERSAL; SKILL_HELD or
   *   SKILL_DISABLED for a binding, or a person in a conversation.
   */
  read(skillId: string, options?: ReadOptions, turn?: TurnContext): Promise<SkillContent>;
  /** @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL, INVALID_ARGUMENT. */
  readResource(skillId: string, path: string, turn?: TurnContext): Promise<ResourceContent>;
  /**
   * Reads the unchanged bytes of SKILL.md or of another file of a skill.
   *
   * @param options.path - Default: SKILL.md.
   * @param options.countsAsLoad - Whether it counts as a load. A function gets the bytes and says whether they are handed over: if not, only what is
   *   refused or fails counts; what it throws is a failure. Default: true.
   * @param options.onHeld - Called before the answer, for a person, when no agent is given these bytes, with the reason. Without it they
   *   are not judged for a person.
   * @throws as `read` and `readResource`.
   */
  readBytes(
    skillId: string,
    options?: {
      readonly path?: string;
      readonly countsAsLoad?: boolean | ((bytes: Uint8Array) => boolean);
      readonly onHeld?: (because: string) => void;
    },
    turn?: TurnContext,
  ): Promise<Uint8Array>;
  /**
   * The other files of a skill, at most 512.
   *
   * @param turn - Whose skill of this id it is, if that agent may read it. Default: that of the catalog.
   * @throws SKILL_NOT_FOUND.
   */
  resources(skillId: string, turn?: TurnContext): readonly ResourceInfo[];
  /**
   * The number of files and folders of a skill that are never read, listed, stored or changed: `.env` and `.env.*` (not `.env.example`,
   * `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys, and `data/` of the root. @throws SKILL_NOT_FOUND.
   */
  leftOutCount(skillId: string): number;
}
