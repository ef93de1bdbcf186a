/** The registry. Features add members by declaration merging. */
import type { Command, ExtensionContext, Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from './catalog/snapshot.ts';
import type { Actor } from './checked-calls.ts';
import type { SkillRegistryConfig, SourceConfigInput } from './config/config.ts';
import type { PreparedMessage, Reading, ReadPolicy } from './read/types.ts';
import type { ListQuery, SkillList } from './search/types.ts';
import type { ContextCost, SkillVisibility, TokenCounts } from './show/types.ts';
import type { Skill } from './skill/skill.ts';
import type { CustomSource } from './sources/types.ts';

/** After `close`, a call that would read a file throws REGISTRY_CLOSED. */
export interface SkillRegistry extends Pick<Reading, 'read' | 'readResource'> {
  /**
   * The best first with a query, else in catalog order. Where much is not indexed yet, a query finds headers only and
   * says so (`provisional`), unless `admin.prepareSearch` was called before.
   * @throws INVALID_ARGUMENT, REGISTRY_CLOSED (with a query).
   */
  list(query?: ListQuery, turn?: TurnContext): SkillList;
  /**
   * The catalog text for a system prompt, within `catalog.budget_tokens`; null when no skill is visible. Names the
   * tools of `turn.tools` (default: `config.tools`); leaves out `turn.givenSkills`, whose body is in the instructions.
   */
  context(prompt: string, turn?: TurnContext): Promise<string | null>;
  /** @param names - Default: `config.tools`. @throws INVALID_ARGUMENT for an unknown name. */
  tools(names?: readonly string[]): readonly Tool[];
  /**
   * The message of `/skills:<id> args`: the body with `$ARGUMENTS`, `$N`, named arguments and `${SKILL_DIR}` filled in.
   * @param args - The text after the command, or values by name. @param options.dir - Default: the folder of the skill.
   * @throws as `read`.
   */
  apply(
    skillId: string,
    args: string | Readonly<Record<string, string>>,
    turn?: TurnContext,
    options?: { readonly dir?: string },
  ): Promise<string>;
  /** In catalog order. A person also sees skills that their author or a gate hides from models. */
  visible(turn?: TurnContext, audience?: 'model' | 'person'): readonly Skill[];
  /** Scans every source now. Calls during a scan all wait for the next one. */
  refresh(): Promise<Snapshot>;
  snapshot(): Snapshot;
  /** Bodies over `limits.skill_tokens` are included only after `admin.tokenCounts`. */
  problems(): readonly Problem[];
  /**
   * Called after each new snapshot with the added, removed and changed ids. If it throws, this is a problem
   * (HOOK_FAILED).
   * @returns a function that unsubscribes.
   */
  onChange(listener: (ids: readonly string[], snapshot: Snapshot) => void): () => void;
  /** Keeps the catalog up to date until `signal` aborts, as `config.watch` says. */
  watch(signal: AbortSignal): Promise<void>;
  /**
   * Adds a source after those of the config; resolves when its skills are in the snapshot.
   * @param source - As in `sources` of the config, or from `defineSource`.
   * @param options.signal - Removes the source when it aborts; an extension passes `context.signal`.
   * @returns a function that removes the source and its skills. @throws INVALID_ARGUMENT.
   */
  addSource(
    source: SourceConfigInput | CustomSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<() => Promise<void>>;
  /**
   * Ends `watch` and all reading of files. `snapshot`, `visible`, `problems` and `list` without a query still work;
   * other calls throw REGISTRY_CLOSED.
   */
  close(): Promise<void>;
  readonly config: SkillRegistryConfig;
  /** What only few programs need: doors, file tools and reports. */
  readonly admin: SkillRegistryAdmin;
}

export interface SkillRegistryAdmin extends Pick<Reading, 'readBytes' | 'resources' | 'leftOutCount'> {
  /** Indexes new and changed skills, with pauses. @param query - Also fetches its vector for `list`. */
  prepareSearch(query?: string): Promise<void>;
  /** Before a `list` with this query: indexes the headers of new skills, with pauses, and fetches its vector. */
  prepareQuery(query: string, turn: TurnContext): Promise<void>;
  /** Tokens of `context('')`, for an agent that sees all skills. */
  contextCost(): Promise<ContextCost>;
  /**
   * Token counts by skill id, cached by content.
   * @param options.bodies - Count bodies, which reads every SKILL.md. Default: true.
   * @param options.atMost - If more skills have no count yet, counts none. Default: no limit.
   */
  tokenCounts(options?: {
    readonly bodies?: boolean;
    readonly atMost?: number;
  }): Promise<ReadonlyMap<string, TokenCounts>>;
  /** The agents of the config that no manifest declares, each with what it is bound to. */
  agents(): readonly TurnContext[];
  /** In catalog order; skills that lost a collision last. @param agents - Each with `agentId` and `boundSkills`. */
  whoSees(agents: readonly TurnContext[]): Promise<readonly SkillVisibility[]>;
  /**
   * Disables a skill for agents, or enables it again. Writes `disabled` in `data/skill_registry/config.yaml` and keeps
   * comments and other keys. Takes effect at once here, in other registries from their next start.
   * @param disabling.skill - An id or a qualified id.
   * @param disabling.agent - Default: every agent, and enabling then includes each single agent.
   * @returns `changed`: false when the config already had this setting.
   * @throws SKILL_NOT_FOUND, INVALID_ARGUMENT for one agent of a skill that is disabled for every agent,
   *   CONFIG_INVALID, WRITE_FAILED, PATH_TRAVERSAL; TRUST_UNUSABLE when the change is made, but its author cannot be
   *   recorded.
   */
  setDisabled(
    disabling: { readonly skill: string; readonly agent?: string | undefined },
    isDisabled: boolean,
    actor: Actor,
  ): Promise<{ readonly file: string; readonly changed: boolean }>;
  /** As `apply`, for a door that sends the message later. @throws as `read`. */
  prepareMessage(skillId: string, args: string, turn?: TurnContext): Promise<PreparedMessage>;
  /** Counts skills as offered to an agent: for a door that lists them without `context` and `list`. */
  recordOffers(skillIds: readonly string[], turn?: TurnContext): void;
  /**
   * The skill of each path, in the order of `paths`; undefined for a path in no skill (ask `mayGivePlainFile`). Ask
   * before reading a file; read files of a skill with `readBytes`.
   * @param paths - Absolute, real; they need not exist.
   */
  readPolicies(paths: readonly string[], turn: TurnContext): Promise<readonly (ReadPolicy | undefined)[]>;
  /**
   * Whether an agent may get a file that is in no skill. Below a source it is inspected, because it may belong to a
   * skill that cannot be loaded: false with a `block` finding.
   * @param path - Absolute, real. @param bytes - The exact bytes that the agent would get.
   */
  mayGivePlainFile(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Equal for the same root and sources on a machine. MCP clients use it to leave out their own registry. */
  instanceId(): string;
  /** Whether a guard judges what leaves this registry. */
  hasGuard(): boolean;
  /** How many skills were not inspected yet: agents see their lines, and reading one inspects it first. */
  notInspected(): number;
  /** The body for the instructions of an agent (`uses_skills`); empty when it gets none. @throws as `read`. */
  boundText(skillId: string, turn: TurnContext): Promise<string>;
  /** Names of the tools of an agent in the kernel. */
  agentTools(): readonly string[];
  /** Tools for a door to programs outside, such as MCP. */
  servedTools(): readonly ServedTool[];
  /** Prompts for such a door beside those of skills. One with the id of a skill goes before it. */
  servedPrompts(turn: TurnContext): readonly ServedPrompt[];
  /** Commands of conversations, beside those of the skills. */
  commands(): readonly Command[];
  /** Lines that a person reads when a conversation begins. */
  news(): Promise<readonly string[]>;
  /** For the events and messages of the kernel. */
  connect(kernel: Pick<ExtensionContext, 'events' | 'notifyUser'>): void;
  /** How changes on disk are noticed at present. */
  watchMode(): 'events' | 'poll' | 'off';
}

/** `needsAgent`: only to a client that is an agent. `always`: also where a program chose the tools. */
export interface ServedTool {
  readonly name: string;
  readonly needsAgent?: true;
  readonly always?: true;
}

export interface ServedPrompt {
  readonly name: string;
  readonly description: string;
  readonly text: () => Promise<string>;
}

/** The result of `getExtension('skill_registry')`. */
export interface SkillRegistryExtension {
  readonly registry: SkillRegistry;
}
