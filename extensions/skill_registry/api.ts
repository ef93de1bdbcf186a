/** The types other extensions and users of the library lean on. No code. */
import type { Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { Skill, Snapshot } from './catalog-types.ts';
import type { SkillRegistryConfig, SourceConfig } from './config.ts';
import type { ReadPolicy, WritePolicy } from './policy-types.ts';
import type { History, Management, Proposals } from './proposals/types.ts';
import type { EmbeddedSkills, OverlapReport, RetrievalChange, SearchReason } from './search/search-types.ts';
import type { SkillSource } from './sources/source.ts';

export type { Pack, PackScopes, Skill, Snapshot, SourceStatus } from './catalog-types.ts';
export type { ReadPolicy, WritePolicy } from './policy-types.ts';
export type * from './proposals/types.ts';
export type {
  EmbeddedSkills,
  Neighbourhood,
  OverlapReport,
  RetrievalChange,
  SearchReason,
  StolenQuery,
} from './search/search-types.ts';

export interface ListQuery {
  /** What the skill is to be for, in any words; its name or the beginning of one; a phrase in double quotes. */
  readonly query?: string;
  readonly tag?: string;
  /** Id of a source. */
  readonly source?: string;
  /** 1-200. Default: 20. */
  readonly limit?: number;
  /** Whether each hit of a query says why. Default: false. */
  readonly why?: boolean;
  /** `person`: also what models do not see. Default: `model`. */
  readonly audience?: 'model' | 'person';
}

export interface ListedSkill {
  readonly skill_id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly source: string;
  /** 0-1, comparable within one answer; only with a query. */
  readonly score?: number;
  /** Only when it was asked for. */
  readonly why?: SearchReason;
}

export interface SkillList {
  readonly skills: readonly ListedSkill[];
  /** Before `limit`. */
  readonly total: number;
  readonly truncated: boolean;
  /** Up to three ids that come near; only when no skill fits the query. */
  readonly nearest?: readonly string[];
}

export interface ReadOptions {
  /** `body`: without frontmatter, trimmed. `raw`: the file as it is. Default: `body`. */
  readonly view?: 'body' | 'raw';
  /** Who asks; decides whether `disable-model-invocation` hides the skill. Default: `model` with a turn, else `person`. */
  readonly audience?: 'model' | 'person' | 'binding';
}

export interface ReadSkill {
  readonly skill_id: string;
  readonly name: string;
  readonly content: string;
  readonly approx_tokens: number;
  /** `Skill loaded: <id> (approx. <n> tokens)` */
  readonly message: string;
  readonly requires: readonly string[];
  /** Present when `requires` is not empty. */
  readonly hint?: string;
  /** Files beside SKILL.md, at most 512, by path. */
  readonly resources: readonly ResourceInfo[];
  /** How many files and folders of it are never handed out, see `leftOut`; absent when there are none. */
  readonly resources_left_out?: number;
  readonly digest: string;
  readonly source: string;
}

export interface ResourceInfo {
  /** Relative to the skill, `/` between segments. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

export interface ReadResource {
  readonly skill_id: string;
  readonly path: string;
  readonly content: string;
  /** `base64` when the bytes are no UTF-8 text. */
  readonly encoding: 'utf-8' | 'base64';
  readonly size: number;
  readonly approx_tokens: number;
}

/** Told of every load: success, failure and refusal. Emitted by the extension as the event `skill_loaded`. */
export interface SkillLoadedEvent {
  readonly event: 'skill_loaded';
  /** As it was asked for; it may not exist. */
  readonly skill_id: string;
  /** Absent for the body. */
  readonly path?: string;
  readonly source: string | null;
  readonly outcome: 'success' | 'failure' | 'refused';
  readonly audience: 'model' | 'person' | 'binding';
  readonly agent_id: string | null;
  readonly duration_s: number;
  /** A code; SKILL_OUT_OF_SCOPE, SKILL_NOT_MODEL_INVOCABLE and SKILL_HIDDEN stand here alone, the caller sees SKILL_NOT_FOUND. */
  readonly error: string | null;
}

export interface TokenCounts {
  /** Its line in the catalog; null when it was not counted. */
  readonly l1: number | null;
  /** Its body; null when it was not counted. */
  readonly l2: number | null;
}

/** An entry of `sources` as it is written: every flag has a default. */
export type SourceConfigInput = Partial<SourceConfig>;

/** Tokens that skills take in every system prompt. */
export interface ContextCost {
  readonly tokens: number;
  /** How many of them are the strong wording of `catalog.enforcement`. */
  readonly enforcement: number;
}

/** What `resolveRolePrompt` found, and where. */
export interface RolePrompt {
  readonly source: 'skill' | 'legacy' | 'fallback';
  readonly text: string;
}

export interface SkillRegistry {
  /**
   * Visible skills, best first with a query, else in catalog order. A query first indexes what is not indexed yet, which takes
   * about a millisecond a skill and blocks; after `searchReady` there is nothing left to do.
   *
   * @throws INVALID_ARGUMENT, REGISTRY_CLOSED (with a query).
   */
  list(query?: ListQuery, turn?: TurnContext): SkillList;
  /**
   * Indexes what is not indexed yet, in slices, other work going on between them.
   *
   * @param query - Also asks the embeddings endpoint about it, for at most `embeddings.timeout_ms`, so that `list` with the same
   * query goes by meaning too.
   */
  searchReady(query?: string): Promise<void>;
  /**
   * Embeds the skills that have no vector yet; `watch` does so by itself, and makes way for this. Nothing without
   * `embeddings.base_url`. Why some are missing afterwards is in `problems()`.
   *
   * @param options.attempts - How often one request is made before it is given up, a second and two seconds apart at most unless
   *   the endpoint asks for more. Default: 3.
   * @throws REGISTRY_CLOSED.
   */
  embedSkills(options?: { readonly signal?: AbortSignal; readonly attempts?: number }): Promise<EmbeddedSkills>;
  /** Which skills compete, and which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) another skill steals. */
  overlap(): Promise<OverlapReport>;
  /**
   * Which trigger queries, of any skill, would find another skill first if one, or a new one, had this SKILL.md. Changes
   * nothing.
   */
  retrievalEffect(skillId: string, text: string): Promise<readonly RetrievalChange[]>;
  /** @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND (the file has gone), RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
  read(skillId: string, options?: ReadOptions, turn?: TurnContext): Promise<ReadSkill>;
  /** @throws SKILL_NOT_FOUND, RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL, INVALID_ARGUMENT. */
  readResource(skillId: string, path: string, turn?: TurnContext): Promise<ReadResource>;
  /** The catalog text for a system prompt, within `catalog.budget_tokens`; null when nothing is visible. */
  context(prompt: string, turn?: TurnContext): Promise<string | null>;
  /** What `context` costs every turn of an agent that sees everything, before any prompt makes a choice. */
  contextCost(): Promise<ContextCost>;
  /**
   * The tools a model is given.
   *
   * @param names - Default: those of `config.tools`.
   * @throws INVALID_ARGUMENT for a name that is no tool.
   */
  tools(names?: readonly string[]): readonly Tool[];
  /**
   * The skills somebody sees in this turn, in catalog order. A person sees all that is in scope; a model not what its author
   * or a gate keeps from it.
   */
  visible(turn?: TurnContext, audience?: 'model' | 'person'): readonly Skill[];
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
  /**
   * What `/skills:<id> args` sends to an agent: the instructions, with `$ARGUMENTS`, `$N`, named arguments and
   * `${SKILL_DIR}` filled in.
   *
   * @param args - The text after the command, or the values by the names in `arguments`.
   * @param options.dir - What `${SKILL_DIR}` becomes. Default: the folder of the skill.
   * @throws as `read`.
   */
  apply(
    skillId: string,
    args: string | Readonly<Record<string, string>>,
    turn?: TurnContext,
    options?: { readonly dir?: string },
  ): Promise<string>;
  /** Looks at every source now. Calls while one is under way share the one that follows it. */
  refresh(): Promise<Snapshot>;
  snapshot(): Snapshot;
  /** Everything that is wrong now, bodies over `limits.skill_tokens` included once `tokenCounts` has run. */
  problems(): readonly Problem[];
  /**
   * Tokens of every skill of the catalog, by id. A content is counted once, and the count is kept in the cache. Loads the
   * tokenizer only when there is something to count.
   *
   * @param options.bodies - Count bodies, which reads every SKILL.md. Default: true.
   * @param options.atMost - Count nothing, and give what is known, when more skills are not counted yet. Default: no limit.
   */
  tokenCounts(options?: {
    readonly bodies?: boolean;
    readonly atMost?: number;
  }): Promise<ReadonlyMap<string, TokenCounts>>;
  /** The files a skill has beside SKILL.md, at most 512. @throws SKILL_NOT_FOUND. */
  resources(skillId: string): readonly ResourceInfo[];
  /**
   * How many files and folders of a skill are never read, listed, kept or changed: `.env` and the like (not `.env.example`,
   * `.env.sample`, `.env.template`), `.git`, `.ssh`, private keys and copies of them, and `data/` of the root. @throws SKILL_NOT_FOUND.
   */
  leftOut(skillId: string): number;
  /**
   * Adds a source at run time, after those of the config; its skills are there when this resolves.
   *
   * @param source - As an entry of `sources` in the config, or a SkillSource of your own.
   * @param options.signal - Takes it away when it aborts; an extension hands on `context.signal`.
   * @returns takes it away again, with its skills.
   * @throws INVALID_ARGUMENT.
   */
  addSource(
    source: SourceConfigInput | SkillSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<() => Promise<void>>;
  /**
   * The prompt of a role: the skill of that id as index and body, else the template
   * `<templates>/<role>/system_prompt.md`, else one sentence.
   *
   * @param options.templates - Folder, relative to the root. Default: `templates/roles`.
   * @param options.variables - For the template.
   * @throws INVALID_ARGUMENT when the role is no name, or its template does not render.
   */
  resolveRolePrompt(
    role: string,
    options?: { readonly templates?: string; readonly variables?: Readonly<Record<string, unknown>> },
  ): Promise<RolePrompt>;
  /** Changes that wait for a decision, and those that had one. */
  readonly proposals: Proposals;
  /** What skills were. */
  readonly history: History;
  /** Changes at once. */
  readonly management: Management;
  /** Whether and how a file below a source may be written; undefined outside all sources. @param path - Absolute, real. */
  writePolicy(path: string): WritePolicy | undefined;
  /**
   * Which skills paths below sources belong to, in the order of the paths; undefined for what is of no skill and may be read as it
   * is. A tool that reads files asks before, and reads what is of a skill with `readBytes`.
   *
   * @param paths - Absolute, real; they need not exist.
   */
  readPolicies(paths: readonly string[], turn: TurnContext): Promise<readonly (ReadPolicy | undefined)[]>;
  /** Keeps the catalog fresh until `signal` aborts, the way `config.watch` says. */
  watch(signal: AbortSignal): Promise<void>;
  /** How changes are seen at this moment. */
  watching(): 'events' | 'poll' | 'off';
  /**
   * Called after a new snapshot is in place, with the ids that came, went or changed. What a listener throws is a problem
   * (HOOK_FAILED).
   *
   * @returns unsubscribes.
   */
  onChange(listener: (ids: readonly string[], snapshot: Snapshot) => void): () => void;
  readonly config: SkillRegistryConfig;
  /**
   * Ends `watch`. From then on no file is read: the snapshot stays, with `visible`, `problems` and `list` without a query, and
   * what else is asked for throws REGISTRY_CLOSED. Does nothing a second time.
   */
  close(): Promise<void>;
}

/** The object `getExtension('skill_registry')` gives. */
export interface SkillRegistryExtension {
  readonly registry: SkillRegistry;
}
