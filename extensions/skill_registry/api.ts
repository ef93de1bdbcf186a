/** The interface of the registry for other extensions, programs and doors. No folder below imports it. */
import type { Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from './catalog/snapshot.ts';
import type { SkillRegistryConfig, SourceConfigInput } from './config/config.ts';
import type { Evaluation } from './evaluate/types.ts';
import type { Actor, History, Management, WritePolicy } from './history/types.ts';
import type { Publishing } from './origin/publish/types.ts';
import type { Origins } from './origin/types.ts';
import type { Proposal, Proposals } from './propose/types.ts';
import type { PreparedMessage, Reading, ReadPolicy, RolePrompt } from './read/types.ts';
import type { EmbeddedSkills, ListQuery, OverlapReport, SkillList } from './search/types.ts';
import type { ContextCost, SkillVisibility, TokenCounts } from './show/types.ts';
import type { Skill } from './skill/skill.ts';
import type { CustomSource } from './sources/types.ts';
import type { ChangeToApprove, Finding, SkillTrust, TrustDecision } from './trust/types.ts';
import type { Usage } from './usage/types.ts';
import type { Workflows } from './workflow/types.ts';

export type { Snapshot } from './catalog/snapshot.ts';
export type * from './evaluate/types.ts';
export type * from './history/types.ts';
export type * from './inspect/types.ts';
export type * from './origin/publish/types.ts';
export type {
  AddPlan,
  ApplyOptions,
  ChangedSkill,
  ImportPlan,
  Origins,
  SkillToAdd,
  SkillUpdate,
  UpdatePlan,
  UsedSource,
} from './origin/types.ts';
export type * from './propose/types.ts';
export type { ReadPolicy, ResourceContent, RolePrompt, SkillContent, SkillLoadedEvent } from './read/types.ts';
export type * from './search/types.ts';
export type * from './show/types.ts';
export type { Skill } from './skill/skill.ts';
export type * from './sources/types.ts';
export type * from './trust/types.ts';
export type * from './usage/types.ts';
export type * from './workflow/types.ts';

/** After `close`, a call that would read a file throws REGISTRY_CLOSED. */
export interface SkillRegistry extends Pick<Reading, 'read' | 'readResource'> {
  /**
   * The visible skills: with a query the best first, else in catalog order. A query first indexes new and changed
   * skills: about 1 ms each, which blocks. `admin.prepareSearch` does this ahead.
   * @throws INVALID_ARGUMENT, REGISTRY_CLOSED (with a query).
   */
  list(query?: ListQuery, turn?: TurnContext): SkillList;
  /**
   * The catalog text for a system prompt, within `catalog.budget_tokens`; null when no skill is visible. It names the
   * tools of `turn.tools` (default: `config.tools`) and leaves out `turn.givenSkills`, whose body is in the
   * instructions.
   */
  context(prompt: string, turn?: TurnContext): Promise<string | null>;
  /** @param names - Default: `config.tools`. @throws INVALID_ARGUMENT for an unknown name. */
  tools(names?: readonly string[]): readonly Tool[];
  /**
   * The message that `/skills:<id> args` sends: the instructions, with `$ARGUMENTS`, `$N`, named arguments and
   * `${SKILL_DIR}` filled in.
   * @param args - The text after the command, or values by the names in `arguments`.
   * @param options.dir - The value of `${SKILL_DIR}`. Default: the folder of the skill. @throws as `read`.
   */
  apply(
    skillId: string,
    args: string | Readonly<Record<string, string>>,
    turn?: TurnContext,
    options?: { readonly dir?: string },
  ): Promise<string>;
  /**
   * In catalog order. A person sees all skills in scope that may be sent to the agent. A model does not see skills that
   * their author or a gate hides from models.
   */
  visible(turn?: TurnContext, audience?: 'model' | 'person'): readonly Skill[];
  /** Scans every source now. Calls during a scan all wait for the next one. */
  refresh(): Promise<Snapshot>;
  snapshot(): Snapshot;
  /** Bodies over `limits.skill_tokens` are included only after `admin.tokenCounts`. */
  problems(): readonly Problem[];
  /**
   * Calls the listener after each new snapshot, with the ids that were added, removed or changed. If it throws, this
   * becomes a problem (HOOK_FAILED).
   * @returns a function that unsubscribes.
   */
  onChange(listener: (ids: readonly string[], snapshot: Snapshot) => void): () => void;
  /** Keeps the catalog up to date until `signal` aborts, as `config.watch` says. */
  watch(signal: AbortSignal): Promise<void>;
  /**
   * Adds a source after those of the config. Its skills are in the snapshot when this resolves.
   * @param source - An entry as in `sources` of the config, or a `defineSource` source.
   * @param options.signal - Removes the source when it aborts; an extension passes `context.signal`.
   * @returns a function that removes the source and its skills. @throws INVALID_ARGUMENT.
   */
  addSource(
    source: SourceConfigInput | CustomSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<() => Promise<void>>;
  /**
   * Ends `watch`; no file is read afterwards. `snapshot`, `visible`, `problems` and `list` without a query still work;
   * other calls throw REGISTRY_CLOSED. A second call does nothing.
   */
  close(): Promise<void>;
  readonly config: SkillRegistryConfig;
  /** Proposed changes, open and decided. */
  readonly proposals: Proposals;
  /** Past contents of skills. */
  readonly history: History;
  /** What agents did with skills. */
  readonly usage: Usage;
  /** Installs, verifies, updates and publishes skills, and knows where they come from. */
  readonly origin: Origins & Publishing;
  /** What only few programs need: doors, file tools and reports. */
  readonly admin: SkillRegistryAdmin;
}

export interface SkillRegistryAdmin extends Evaluation, Pick<Reading, 'readBytes' | 'resources' | 'leftOutCount'> {
  /**
   * Indexes new and changed skills, with pauses for other work.
   * @param query - Also fetches its vector, within `embeddings.timeout_ms`, for `list` with the same query.
   */
  prepareSearch(query?: string): Promise<void>;
  /**
   * Embeds the skills that have no vector yet; `watch` does this too. Does nothing without `embeddings.base_url`. A
   * temporary failure is tried up to three times: after at most 1 second, then 2, or later if the endpoint asks.
   * `problems()` says why vectors are missing.
   * @throws REGISTRY_CLOSED.
   */
  embedSkills(): Promise<EmbeddedSkills>;
  /** The workflow state of each conversation. Calls with a `turn` of a conversation use it. */
  readonly workflows: Workflows;
  /**
   * Which skills compete, and which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) find another skill
   * first.
   */
  overlap(): Promise<OverlapReport>;
  /** The tokens of `context('')`, for an agent that sees all skills. */
  contextCost(): Promise<ContextCost>;
  /**
   * Tokens of every skill of the catalog, by id. Counts are cached by content.
   * @param options.bodies - Count bodies, which reads every SKILL.md. Default: true.
   * @param options.atMost - If more skills are uncounted, count none and return the known counts. Default: no limit.
   */
  tokenCounts(options?: {
    readonly bodies?: boolean;
    readonly atMost?: number;
  }): Promise<ReadonlyMap<string, TokenCounts>>;
  /**
   * HIDDEN_CHARACTERS for text that people do not see, or see in another order than models, in all files and names of
   * skills. `problems()` leaves it out, because it reads every file.
   */
  hiddenTextProblems(): Promise<readonly Problem[]>;
  /**
   * The prompt of a role: index and body of the skill of that id; else the template
   * `<templates>/<role>/system_prompt.md`; else one sentence.
   * @param options.templates - Folder, relative to the root. Default: `templates/roles`.
   * @throws INVALID_ARGUMENT when the role is no valid name, or its template cannot be rendered.
   */
  resolveRolePrompt(
    role: string,
    options?: { readonly templates?: string; readonly variables?: Readonly<Record<string, unknown>> },
  ): Promise<RolePrompt>;
  /**
   * What the rules find in the present files of a skill, and whether this holds it.
   * @param skillId - An id, or a qualified id (`<source>:<path>`). @throws SKILL_NOT_FOUND
   */
  trustOf(skillId: string): Promise<SkillTrust>;
  /**
   * Allows the `block` findings of a skill in the name of a person, or revokes this. If it has none: allows the keys
   * and tokens in it, which keep it from being published. For an installed skill this holds for exactly these files, in
   * any folder; for an own skill for these findings in this folder, also after edits. The catalog is up to date when
   * this resolves.
   * @throws SKILL_NOT_FOUND, TRUST_UNUSABLE; INVALID_ARGUMENT for another digest, or nothing to decide.
   */
  decideTrust(action: 'allow' | 'revoke', skillId: string, decision: TrustDecision): Promise<SkillTrust>;
  /**
   * The `block` findings that would hold a skill after a change and that nobody has allowed. Show them to the person
   * who decides, then pass them to `allowShown`. @throws as `Proposals.get` and `History.revisions`.
   */
  blockFindingsAfter(change: ChangeToApprove): Promise<readonly Finding[]>;
  /**
   * Allows the findings that a person saw before approving a change, unless another finding holds the skill.
   * @param actor - Nothing is allowed unless `by` is a person (`person:ada`).
   * @returns why the skill is held; null when it is not.
   */
  allowShown(
    skillId: string,
    shown: readonly Finding[],
    actor: { readonly by: string; readonly reason?: string | undefined },
  ): Promise<string | null>;
  /**
   * Who sees each skill, in catalog order; skills that lost a collision come last.
   * @param agents - Their turns, each with `agentId` and `boundSkills`.
   */
  whoSees(agents: readonly TurnContext[]): Promise<readonly SkillVisibility[]>;
  /**
   * What waits for a person, riskiest first: by the number of `block` findings, then `warn`. Equal proposals are
   * ordered by kind (deletion, new skill, change), then oldest first. Inspects the held skills. @throws as
   * `Proposals.list`.
   */
  waiting(): Promise<WaitingForPerson>;
  /**
   * How many proposals `waiting` lists, in about 1 ms, without inspection. 0 also when the history cannot be read:
   * `waiting` says why.
   */
  waitingProposals(): Promise<number>;
  /**
   * Disables a skill for agents, or enables it again, at once. Writes `disabled` in `data/skill_registry/config.yaml`,
   * keeps its comments and other keys. Other registries use it from their next start.
   * @param disabling.skill - An id or a qualified id.
   * @param disabling.agent - Default: every agent. Enabling for every agent also enables it for each single agent.
   * @param actor - Recorded among the decisions of this user when something changes.
   * @returns `changed`: false when the config already had this setting.
   * @throws SKILL_NOT_FOUND, INVALID_ARGUMENT for one agent of a skill that is disabled for every agent,
   * CONFIG_INVALID, WRITE_FAILED, PATH_TRAVERSAL; TRUST_UNUSABLE when the change is made, but its author cannot be
   * recorded.
   */
  setDisabled(
    disabling: { readonly skill: string; readonly agent?: string | undefined },
    isDisabled: boolean,
    actor: Actor,
  ): Promise<{ readonly file: string; readonly changed: boolean }>;
  /** Inspects every skill that is not inspected yet; `watch` does this too. */
  inspectSkills(): Promise<void>;
  /** As `apply`, for a door that sends the message later. @throws as `read`. */
  prepareMessage(skillId: string, args: string, turn?: TurnContext): Promise<PreparedMessage>;
  /** Counts skills as offered to an agent: for a door that lists them without `context` and `list`. */
  recordOffers(skillIds: readonly string[], turn?: TurnContext): void;
  /** Changes skills without review. */
  readonly management: Management;
  /** Whether and how a file below a source may be written; undefined outside. @param path - Absolute, real. */
  writePolicy(path: string): WritePolicy | undefined;
  /**
   * The skill of each path, in the order of `paths`; undefined for a path in no skill (ask `mayGivePlainFile`). A tool
   * that reads files calls this first, and reads files of a skill with `readBytes`.
   * @param paths - Absolute, real; they need not exist.
   */
  readPolicies(paths: readonly string[], turn: TurnContext): Promise<readonly (ReadPolicy | undefined)[]>;
  /**
   * Whether an agent may get a file that is in no skill. Below a source the file is inspected, because it may belong to
   * a skill that cannot be loaded: false with a `block` finding.
   * @param path - Absolute, real. @param bytes - The exact bytes that the agent would get.
   */
  mayGivePlainFile(path: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * The same for all processes with the same root and sources on this machine. An MCP server gives it to its clients,
   * so that no registry has itself as a source.
   */
  instanceId(): string;
  /** How changes on disk are noticed at present. */
  watchMode(): 'events' | 'poll' | 'off';
}

export interface WaitingForPerson {
  /** Open and stale proposals. */
  readonly proposals: readonly Proposal[];
  /** Why the proposals cannot be read, and `proposals` is empty; null when they can. */
  readonly unreadable: string | null;
  /** Skills that no agent is given. */
  readonly held: readonly SkillTrust[];
}

/** The result of `getExtension('skill_registry')`. */
export interface SkillRegistryExtension {
  readonly registry: SkillRegistry;
}
