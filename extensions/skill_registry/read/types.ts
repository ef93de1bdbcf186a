/** What callers see of reading. No code. */
import type { TurnContext } from 'skill-registry/kernel';
import type { ResourceInfo } from '../skill/skill.ts';

export interface ReadOptions {
  /** `body`: without frontmatter and hidden text (`hiddenLeftOut`), trimmed. `raw`: the file as it is. Default: `body`. */
  readonly view?: 'body' | 'raw';
  /** Who asks; decides whether `disable-model-invocation` hides the skill. Default: `model` with a turn, else `person`. */
  readonly audience?: 'model' | 'person' | 'binding';
}

export interface ReadSkill {
  readonly skillId: string;
  readonly name: string;
  readonly content: string;
  /** How many characters of the body are left out, because models read them and people do not see them; absent when none are. */
  readonly hiddenLeftOut?: number;
  readonly approxTokens: number;
  /** `Skill loaded: <id> (approx. <n> tokens)` */
  readonly message: string;
  readonly requires: readonly string[];
  /** Present when `requires` is not empty. */
  readonly hint?: string;
  /** Files beside SKILL.md, at most 512, by path. */
  readonly resources: readonly ResourceInfo[];
  /** How many files and folders of it are never handed out, see `leftOut`; absent when there are none. */
  readonly resourcesLeftOut?: number;
  readonly digest: string;
  readonly source: string;
}

export interface ReadResource {
  readonly skillId: string;
  readonly path: string;
  readonly content: string;
  /** `base64` when the bytes are no UTF-8 text. */
  readonly encoding: 'utf-8' | 'base64';
  readonly size: number;
  readonly approxTokens: number;
}

/** Told of every load: success, failure and refusal. The extension emits it as the event `skill_loaded`, its names in snake_case. */
export interface SkillLoadedEvent {
  readonly event: 'skill_loaded';
  /** As it was asked for; it may not exist. */
  readonly skillId: string;
  /** Absent for the body. */
  readonly path?: string;
  readonly source: string | null;
  readonly outcome: 'success' | 'failure' | 'refused';
  readonly audience: 'model' | 'person' | 'binding';
  readonly agentId: string | null;
  readonly durationSeconds: number;
  /** A code; SKILL_OUT_OF_SCOPE, SKILL_NOT_MODEL_INVOCABLE and SKILL_HIDDEN stand here alone, the caller sees SKILL_NOT_FOUND. */
  readonly error: string | null;
}

/** The skill a path belongs to, as an agent sees it in a turn. */
export interface ReadPolicy {
  /** To ask for it with. */
  readonly skillId: string;
  /** Below the skill: `SKILL.md`, `references/guide.md`; empty for its folder. */
  readonly path: string;
  /** False: out of scope, hidden or gated. It is to be answered like what is not there. */
  readonly visible: boolean;
}

/** What `resolveRolePrompt` found, and where. */
export interface RolePrompt {
  readonly source: 'skill' | 'legacy' | 'fallback';
  readonly text: string;
}

/** L2 and L3. */
export interface Reading {
  /** @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND (the file has gone), RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
  read(skillId: string, options?: ReadOptions, turn?: TurnContext): Promise<ReadSkill>;
  /** @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL, INVALID_ARGUMENT. */
  readResource(skillId: string, path: string, turn?: TurnContext): Promise<ReadResource>;
  /**
   * The bytes of SKILL.md, or of another file of a skill, as they are.
   *
   * @param options.path - Default: SKILL.md.
   * @param options.told - Whether it counts as a load. Default: true.
   * @throws as `read` and `readResource`.
   */
  readBytes(
    skillId: string,
    options?: { readonly path?: string; readonly told?: boolean },
    turn?: TurnContext,
  ): Promise<Uint8Array>;
  /** The files a skill has beside SKILL.md, at most 512. @throws SKILL_NOT_FOUND. */
  resources(skillId: string): readonly ResourceInfo[];
  /**
   * How many files and folders of a skill are never read, listed, kept or changed: `.env` and `.env.*` (not `.env.example`,
   * `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys, and `data/` of the root. @throws SKILL_NOT_FOUND.
   */
  leftOut(skillId: string): number;
}
