/** The interface of the registry for other extensions, programs and doors. No folder below imports it. */
import type { Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from './core/catalog/snapshot.ts';
import type { SkillRegistryConfig, SourceConfigInput } from './core/config/config.ts';
import type { PreparedMessage, Reading, ReadPolicy, RolePrompt } from './core/read/types.ts';
import type { EmbeddedSkills, ListQuery, OverlapReport, SkillList } from './core/search/types.ts';
import type { ContextCost, SkillVisibility, TokenCounts } from './core/show/types.ts';
import type { Skill } from './core/skill/skill.ts';
import type { CustomSource } from './core/sources/types.ts';
import type { Evaluation } from './features/evaluate/types.ts';
import type { ChangeToApprove, InspectedChange, SkillTrust, TrustDecision } from './features/guard/types.ts';
import type { Actor, History, Management, WritePolicy } from './features/history/types.ts';
import type { Origins } from './features/install/types.ts';
import type { Workflows } from './features/packs/workflow/types.ts';
import type { Publishing } from './features/pages/publish/types.ts';
import type { Proposal, Proposals } from './features/proposals/propose/types.ts';
import type { Usage } from './features/usage/types.ts';

export type { Snapshot } from './core/catalog/snapshot.ts';
export type { ReadPolicy, ResourceContent, RolePrompt, SkillContent, SkillLoadedEvent } from './core/read/types.ts';
export type * from './core/search/types.ts';
export type * from './core/show/types.ts';
export type { Skill } from './core/skill/skill.ts';
export type * from './core/sources/types.ts';
export type * from './features/evaluate/types.ts';
export type * from './features/guard/inspect/types.ts';
export type * from './features/guard/types.ts';
export type * from './features/history/types.ts';
export type * from './features/install/types.ts';
export type * from './features/packs/workflow/types.ts';
export type * from './features/pages/publish/types.ts';
export type * from './features/proposals/propose/types.ts';
export type * from './features/usage/types.ts';

/** After `close`, a call that would read a file throws REGISTRY_CLOSED. */
export interface SkillRegistry extends Pick<Reading, 'read' | 'readResource'> {
  /**
   * The best first with a query, else in catalog order. A query first indexes new and changed skills, about 1 ms each,
   * unless `admin.prepareSearch` did.
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
  /** Indexes new and changed skills, with pauses. @param query - Also fetches its vector for `list`. */
  prepareSearch(query?: string): Promise<void>;
  /**
   * Embeds the skills without a vector; `watch` does this too. Does nothing without `embeddings.base_url`. Retries a
   * temporary failure after at most 1, then 2 seconds, or later if the endpoint asks. `problems()` says why vectors are
   * missing.
   * @throws REGISTRY_CLOSED.
   */
  embedSkills(): Promise<EmbeddedSkills>;
  /** The workflow state of each conversation. Calls with a `turn` of a conversation use it. */
  readonly workflows: Workflows;
  /** Competing skills, and trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) that find another first. */
  overlap(): Promise<OverlapReport>;
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
  /** HIDDEN_CHARACTERS: invisible or reordered text in files and names. Reads every file, unlike `problems()`. */
  hiddenTextProblems(): Promise<readonly Problem[]>;
  /**
   * The skill of that id (index and body); else the template `<templates>/<role>/system_prompt.md`; else one sentence.
   * @param options.templates - Folder, relative to the root. Default: `templates/roles`.
   * @throws INVALID_ARGUMENT when the role is no valid name, or its template cannot be rendered.
   */
  resolveRolePrompt(
    role: string,
    options?: { readonly templates?: string; readonly variables?: Readonly<Record<string, unknown>> },
  ): Promise<RolePrompt>;
  /** @param skillId - An id, or a qualified id (`<source>:<path>`). @throws SKILL_NOT_FOUND */
  trustOf(skillId: string): Promise<SkillTrust>;
  /**
   * Allows the `block` findings of a skill, or revokes this; without any: the keys and tokens that keep it from being
   * published. Holds for exactly these files of an installed skill, in any folder; for these findings of an own skill
   * in this folder, also after edits. The catalog is up to date when this resolves.
   * @throws SKILL_NOT_FOUND, TRUST_UNUSABLE; INVALID_ARGUMENT for another digest, or nothing to decide.
   */
  decideTrust(action: 'allow' | 'revoke', skillId: string, decision: TrustDecision): Promise<SkillTrust>;
  /**
   * `blocks`: what would hold the skill. Show them to the person who decides, give `digest` as `inspected` to the
   * decision, then pass both to `allowShown`.
   * @throws as `Proposals.get` and `History.revisions`.
   */
  blockFindingsAfter(change: ChangeToApprove): Promise<InspectedChange>;
  /**
   * Allows what a person saw before deciding. Other files than those that were inspected stay held.
   * @param actor - Nothing is allowed unless `by` is a person (`person:ada`).
   * @returns why the skill is held; null when it is not.
   */
  allowShown(
    change: ChangeToApprove,
    shown: InspectedChange,
    actor: { readonly by: string; readonly reason?: string | undefined },
  ): Promise<string | null>;
  /** In catalog order; skills that lost a collision last. @param agents - Each with `agentId` and `boundSkills`. */
  whoSees(agents: readonly TurnContext[]): Promise<readonly SkillVisibility[]>;
  /**
   * Riskiest first: by the number of `block` findings, then `warn`; then by kind (deletion, new skill, change), then
   * oldest first. Inspects the held skills. @throws as `Proposals.list`.
   */
  waiting(): Promise<WaitingForPerson>;
  /** How many proposals `waiting` lists, in about 1 ms. 0 also for an unreadable history: `waiting` says why. */
  waitingProposals(): Promise<number>;
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
