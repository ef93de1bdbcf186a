/** The registry as its users see it: other extensions, programs, the doors. Nothing in this folder's rooms imports it. No code. */
import type { Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from './catalog/snapshot.ts';
import type { SkillRegistryConfig, SourceConfigInput } from './config/config.ts';
import type { History, Management, WritePolicy } from './history/types.ts';
import type { Proposals } from './propose/types.ts';
import type { Reading, ReadPolicy, RolePrompt } from './read/types.ts';
import type { EmbeddedSkills, ListQuery, OverlapReport, SkillList } from './search/types.ts';
import type { ContextCost, TokenCounts } from './show/types.ts';
import type { Skill } from './skill/skill.ts';
import type { OwnSource } from './sources/types.ts';

export type { Pack, Snapshot, SourceStatus } from './catalog/snapshot.ts';
export type * from './history/types.ts';
export type * from './propose/types.ts';
export type { ReadOptions, ReadPolicy, ReadResource, ReadSkill, RolePrompt, SkillLoadedEvent } from './read/types.ts';
export type * from './search/types.ts';
export type * from './show/types.ts';
export type { ResourceInfo, Skill } from './skill/skill.ts';
export type * from './sources/types.ts';

/** Everything after `close` that would read a file throws REGISTRY_CLOSED. */
export interface SkillRegistry extends Pick<Reading, 'read' | 'readResource'> {
  /**
   * Visible skills, best first with a query, else in catalog order. A query first indexes what is not indexed yet, which takes
   * about a millisecond a skill and blocks; after `admin.searchReady` there is nothing left to do.
   *
   * @throws INVALID_ARGUMENT, REGISTRY_CLOSED (with a query).
   */
  list(query?: ListQuery, turn?: TurnContext): SkillList;
  /**
   * The catalog text for a system prompt, within `catalog.budget_tokens`; null when nothing is visible. It names the tools of the turn
   * (`turn.tools`), by default those of `config.tools`, and lists no skill whose body stands in the instructions (`turn.givenSkills`).
   */
  context(prompt: string, turn?: TurnContext): Promise<string | null>;
  /**
   * The tools a model is given.
   *
   * @param names - Default: those of `config.tools`.
   * @throws INVALID_ARGUMENT for a name that is no tool.
   */
  tools(names?: readonly string[]): readonly Tool[];
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
  /**
   * The skills somebody sees in this turn, in catalog order. A person sees all that is in scope; a model not what its author
   * or a gate keeps from it.
   */
  visible(turn?: TurnContext, audience?: 'model' | 'person'): readonly Skill[];
  /** Looks at every source now. Calls while one is under way share the one that follows it. */
  refresh(): Promise<Snapshot>;
  snapshot(): Snapshot;
  /** Everything that is wrong now, bodies over `limits.skill_tokens` included once `admin.tokenCounts` has run. */
  problems(): readonly Problem[];
  /**
   * Called after a new snapshot is in place, with the ids that came, went or changed. What a listener throws is a problem
   * (HOOK_FAILED).
   *
   * @returns unsubscribes.
   */
  onChange(listener: (ids: readonly string[], snapshot: Snapshot) => void): () => void;
  /** Keeps the catalog fresh until `signal` aborts, the way `config.watch` says. */
  watch(signal: AbortSignal): Promise<void>;
  /**
   * Adds a source at run time, after those of the config; its skills are there when this resolves.
   *
   * @param source - As an entry of `sources` in the config, or a source of your own (`defineSource`).
   * @param options.signal - Takes it away when it aborts; an extension hands on `context.signal`.
   * @returns takes it away again, with its skills.
   * @throws INVALID_ARGUMENT.
   */
  addSource(
    source: SourceConfigInput | OwnSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<() => Promise<void>>;
  /**
   * Ends `watch`. From then on no file is read: the snapshot stays, with `visible`, `problems` and `list` without a query, and
   * what else is asked for throws REGISTRY_CLOSED. Does nothing a second time.
   */
  close(): Promise<void>;
  readonly config: SkillRegistryConfig;
  /** Changes that wait for a decision, and those that had one. */
  readonly proposals: Proposals;
  /** What skills were. */
  readonly history: History;
  /** What few programs need: for doors, tools that touch files, and reports. */
  readonly admin: SkillRegistryAdmin;
}

export interface SkillRegistryAdmin extends Pick<Reading, 'readBytes' | 'resources' | 'leftOut'> {
  /**
   * Indexes what is not indexed yet, in slices, other work going on between them.
   *
   * @param query - Also asks the embeddings endpoint about it, for at most `embeddings.timeout_ms`, so that `list` with the same
   * query goes by meaning too.
   */
  searchReady(query?: string): Promise<void>;
  /**
   * Embeds the skills that have no vector yet; `watch` does so by itself, and makes way for this. Nothing without
   * `embeddings.base_url`. A request that may go well later is made three times, a second and two seconds apart at most unless
   * the endpoint asks for more. Why some vectors are missing afterwards is in `problems()`.
   *
   * @throws REGISTRY_CLOSED.
   */
  embedSkills(): Promise<EmbeddedSkills>;
  /** Which skills compete, and which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) another skill steals. */
  overlap(): Promise<OverlapReport>;
  /** What `context` costs every turn of an agent that sees everything, before any prompt makes a choice. */
  contextCost(): Promise<ContextCost>;
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
  /**
   * HIDDEN_CHARACTERS for what people do not see, or see in another order than models read it, in all files of all skills and in
   * their names. Reads every file, so it is asked for by itself and is not among `problems()`.
   */
  hiddenText(): Promise<readonly Problem[]>;
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
  /** How changes are seen at this moment. */
  watching(): 'events' | 'poll' | 'off';
}

/** The object `getExtension('skill_registry')` gives. */
export interface SkillRegistryExtension {
  readonly registry: SkillRegistry;
}
