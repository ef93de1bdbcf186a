/** The types other extensions and users of the library lean on. No code. */
import type { Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { SkillRegistryConfig, SourceConfig } from './config.ts';
import type { EmbeddedSkills, OverlapReport, RetrievalChange, SearchReason } from './search/search-types.ts';
import type { SkillHeader } from './skill/parse-skill.ts';
import type { SkillSource } from './sources/source.ts';

export type {
  EmbeddedSkills,
  Neighbourhood,
  OverlapReport,
  RetrievalChange,
  SearchReason,
  StolenQuery,
} from './search/search-types.ts';

/** One skill of the catalog. Its body stays on disk. */
export interface Skill extends SkillHeader {
  /** The directory's name: the name agents and people use. */
  readonly id: string;
  /** `<source>:<path below it>`: reaches this skill even where another one won the id. */
  readonly qualifiedId: string;
  /** Id of the source it came from. */
  readonly source: string;
  /** Absolute path of SKILL.md as it was found; of an inline skill the file it is written in. */
  readonly file: string;
  /** Real path of the directory; null for a skill without one (inline, a bare file). */
  readonly dir: string | null;
  /** Real path of SKILL.md; differs from `<dir>/SKILL.md` when that is a link. Null for an inline skill. */
  readonly realFile: string | null;
  /** `sha256:<64 hex>` over the bytes of SKILL.md. */
  readonly digest: string;
  /** Size of SKILL.md. */
  readonly bytes: number;
  /** Why models do not see it here (a gate such as a missing program); absent: they do. People can still read it. */
  readonly hiddenBecause?: string;
  /** Its body stands in every prompt. */
  readonly preload?: true;
  /** The prompt pack that declares it, and where below that pack it lies (an inline skill: its id). */
  readonly pack?: { readonly id: string; readonly path: string };
}

/** Where skills come from, and how it stands. */
export interface SourceStatus {
  readonly id: string;
  readonly kind: string;
  /** The folder, absolute. */
  readonly location: string;
  /** Skills found there, those that lost a collision included. */
  readonly skills: number;
}

/** A prompt pack in the catalog: what it declares, by id, whoever else has won that id elsewhere. */
export interface Pack {
  readonly scopes: PackScopes;
  readonly byId: ReadonlyMap<string, Skill>;
}

/** The catalog at one moment. Never changes; a refresh makes a new one. */
export interface Snapshot {
  /** Counts up with every change. */
  readonly version: number;
  /** One per id, in order of source, then id. */
  readonly skills: readonly Skill[];
  readonly byId: ReadonlyMap<string, Skill>;
  /** Also those that lost a collision. */
  readonly byQualifiedId: ReadonlyMap<string, Skill>;
  readonly sources: readonly SourceStatus[];
  /** By the pack's id, and by the id of its source. */
  readonly packs: ReadonlyMap<string, Pack>;
  readonly problems: readonly Problem[];
}

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
  /** Its line in the catalog. */
  readonly l1: number;
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

/** What the states of a prompt pack's workflow may see. */
export interface PackScopes {
  /** The pack's own id. */
  readonly pack: string;
  /** The state a workflow begins in; absent without a workflow. */
  readonly entry?: string | undefined;
  /** The `skills` expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
}

/** What the owner allows to do with a path that lies in a source. */
export interface WritePolicy {
  readonly action: 'create' | 'update' | 'delete';
  readonly policy: 'allow' | 'propose' | 'deny';
  readonly source: string;
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
   * Embeds the skills that have no vector yet; `watch` does so by itself. Nothing without `embeddings.base_url`. Why some are
   * missing afterwards is in `problems()`.
   *
   * @param options.attempts - How often one request is made before it is given up. Default: 3.
   * @throws REGISTRY_CLOSED.
   */
  embedSkills(options?: { readonly signal?: AbortSignal; readonly attempts?: number }): Promise<EmbeddedSkills>;
  /** Which skills compete, and which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) another skill steals. */
  overlap(): Promise<OverlapReport>;
  /**
   * Which trigger queries, of any skill, would find another skill first if one had this SKILL.md. Changes nothing.
   *
   * @throws SKILL_NOT_FOUND.
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
  /** The tools a model is given, as `config.tools` names them. */
  tools(): readonly Tool[];
  /** Looks at every source now. Calls while one is under way share the one that follows it. */
  refresh(): Promise<Snapshot>;
  snapshot(): Snapshot;
  /** Everything that is wrong now, bodies over `limits.skill_tokens` included once `tokenCounts` has run. */
  problems(): readonly Problem[];
  /**
   * Tokens of every skill of the catalog, by id; counted once per content. The first call loads the tokenizer.
   *
   * @param options.bodies - Count bodies, which reads every SKILL.md. Default: true.
   */
  tokenCounts(options?: { readonly bodies?: boolean }): Promise<ReadonlyMap<string, TokenCounts>>;
  /** The files a skill has beside SKILL.md, at most 512. @throws SKILL_NOT_FOUND. */
  resources(skillId: string): readonly ResourceInfo[];
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
  /** Whether and how a file below a source may be written; undefined outside all sources. @param path - Absolute, real. */
  writePolicy(path: string): WritePolicy | undefined;
  /** Keeps the catalog fresh until `signal` aborts, the way `config.watch` says. */
  watch(signal: AbortSignal): Promise<void>;
  /** How changes are seen at this moment. */
  watching(): 'events' | 'poll' | 'off';
  /** Called after a new snapshot is in place, with the ids that came, went or changed. @returns unsubscribes. */
  onChange(listener: (ids: readonly string[], snapshot: Snapshot) => void): () => void;
  readonly config: SkillRegistryConfig;
  close(): Promise<void>;
}

/** The object `getExtension('skill_registry')` gives. */
export interface SkillRegistryExtension {
  readonly registry: SkillRegistry;
}
