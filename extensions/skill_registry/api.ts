/** The interface of the registry for other extensions, programs and doors. No folder below imports it. It has no code. */
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
   * Visible skills: with a query best first, else in catalog order. A query first indexes new and changed skills, which blocks for
   * about a millisecond for each skill; after `admin.prepareSearch` no skill is left to index.
   *
   * @throws INVALID_ARGUMENT, REGISTRY_CLOSED (with a query).
   */
  list(query?: ListQuery, turn?: TurnContext): SkillList;
  /**
   * The catalog text for a system prompt, within `catalog.budget_tokens`; null when nothing is visible. It names the tools of the turn
   * (`turn.tools`), by default those of `config.tools`, and lists no skill whose body is in the instructions (`turn.givenSkills`).
   */
  context(prompt: string, turn?: TurnContext): Promise<string | null>;
  /**
   * Tools for a model.
   *
   * @param names - Default: `config.tools`.
   * @throws INVALID_ARGUMENT for an unknown name.
   */
  tools(names?: readonly string[]): readonly Tool[];
  /**
   * The message that `/skills:<id> args` sends to an agent: the instructions, with `$ARGUMENTS`, `$N`, named arguments and
   * `${SKILL_DIR}` filled in.
   *
   * @param args - The text after the command, or the values by the names in `arguments`.
   * @param options.dir - The value of `${SKILL_DIR}`. Default: the folder of the skill.
   * @throws as `read`.
   */
  apply(
    skillId: string,
    args: string | Readonly<Record<string, string>>,
    turn?: TurnContext,
    options?: { readonly dir?: string },
  ): Promise<string>;
  /**
   * The skills visible in this turn, in catalog order. A person sees all skills in scope that may be sent to the agent. A model does
   * not see skills that are hidden from models, by their author or by a gate.
   */
  visible(turn?: TurnContext, audience?: 'model' | 'person'): readonly Skill[];
  /** Scans every source now. All calls during a scan wait for the same next scan. */
  refresh(): Promise<Snapshot>;
  snapshot(): Snapshot;
  /** All present problems. Problems of bodies over `limits.skill_tokens` are included only after `admin.tokenCounts`. */
  problems(): readonly Problem[];
  /**
   * The listener is called after each new snapshot, with the ids that were added, removed or changed. What it throws becomes a
   * problem (HOOK_FAILED).
   *
   * @returns a function that unsubscribes.
   */
  onChange(listener: (ids: readonly string[], snapshot: Snapshot) => void): () => void;
  /** Keeps the catalog up to date until `signal` aborts, as `config.watch` says. */
  watch(signal: AbortSignal): Promise<void>;
  /**
   * Adds a source at run time, after those of the config. Its skills are in the snapshot when this resolves.
   *
   * @param source - As an entry of `sources` in the config, or a source of your own (`defineSource`).
   * @param options.signal - Removes the source when it aborts; an extension gives `context.signal`.
   * @returns a function that removes the source and its skills.
   * @throws INVALID_ARGUMENT.
   */
  addSource(
    source: SourceConfigInput | CustomSource,
    options?: { readonly signal?: AbortSignal },
  ): Promise<() => Promise<void>>;
  /**
   * Ends `watch`, and no file is read afterwards. `snapshot`, `visible`, `problems` and `list` without a query still work; other calls
   * throw REGISTRY_CLOSED. A second call does nothing.
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
  /** Functions that only a few programs need: doors, file tools and reports. */
  readonly admin: SkillRegistryAdmin;
}

export interface SkillRegistryAdmin extends Evaluation, Pick<Reading, 'readBytes' | 'resources' | 'leftOutCount'> {
  /**
   * Indexes new and changed skills, with pauses for other work.
   *
   * @param query - Also fetches its vector from the embeddings endpoint, within `embeddings.timeout_ms`, so that `list` with the same
   * query also searches by meaning.
   */
  prepareSearch(query?: string): Promise<void>;
  /**
   * Embeds the skills that have no vector yet. `watch` also does this, but lets this call go first. Does nothing without
   * `embeddings.base_url`. A request that fails temporarily is tried up to three times: again after at most 1 second, then
   * after at most 2, or later when the endpoint asks for it. Afterwards `problems()` says why vectors are missing.
   *
   * @throws REGISTRY_CLOSED.
   */
  embedSkills(): Promise<EmbeddedSkills>;
  /** Which state of a prompt pack's workflow each conversation is in. Calls with a `turn` of a conversation use that state. */
  readonly workflows: Workflows;
  /** Which skills compete, and for which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) another skill is found first. */
  overlap(): Promise<OverlapReport>;
  /** The tokens of `context('')`, for an agent that sees all skills. */
  contextCost(): Promise<ContextCost>;
  /**
   * Tokens of every skill of the catalog, by id. Each content is counted once, and the count is cached. Loads the tokenizer only when
   * something must be counted.
   *
   * @param options.bodies - Count bodies, which reads every SKILL.md. Default: true.
   * @param options.atMost - When more skills than this are not counted yet, count none and give the known counts. Default: no limit.
   */
  tokenCounts(options?: {
    readonly bodies?: boolean;
    readonly atMost?: number;
  }): Promise<ReadonlyMap<string, TokenCounts>>;
  /**
   * HIDDEN_CHARACTERS for text that people do not see, or see in another order than models, in all files of all skills and in their
   * names. It reads every file, so `problems()` does not include it.
   */
  hiddenTextProblems(): Promise<readonly Problem[]>;
  /**
   * The prompt of a role: the index and body of the skill of that id; without such a skill, the template
   * `<templates>/<role>/system_prompt.md`; without a template, one sentence.
   *
   * @param options.templates - Folder, relative to the root. Default: `templates/roles`.
   * @param options.variables - Values for the template.
   * @throws INVALID_ARGUMENT when the role is no valid name, or its template cannot be rendered.
   */
  resolveRolePrompt(
    role: string,
    options?: { readonly templates?: string; readonly variables?: Readonly<Record<string, unknown>> },
  ): Promise<RolePrompt>;
  /**
   * What the rules find in the present files of a skill, and whether that holds it. Each content is inspected once.
   *
   * @param skillId - An id, or a qualified id (`<source>:<path>`).
   * @throws SKILL_NOT_FOUND
   */
  trustOf(skillId: string): Promise<SkillTrust>;
  /**
   * Allows the `block` findings of a skill in the name of a person, or revokes this; of a skill without any, the keys and tokens in it,
   * which keep it from being published. For a skill that was brought in it counts for exactly
   * these files, in any folder. For an own skill it counts for these findings in this folder, also after edits. When this
   * resolves, the catalog shows the result.
   *
   * @throws SKILL_NOT_FOUND, TRUST_UNUSABLE; INVALID_ARGUMENT when the files have another digest, or there is nothing to decide.
   */
  decideTrust(action: 'allow' | 'revoke', skillId: string, decision: TrustDecision): Promise<SkillTrust>;
  /**
   * What would hold a skill after a change: its `block` findings that nobody has allowed. Show them to the person who decides, and
   * give them to `allowShown` afterwards.
   *
   * @throws as `Proposals.get` and `History.revisions`.
   */
  blockFindingsAfter(change: ChangeToApprove): Promise<readonly Finding[]>;
  /**
   * Allows the findings that a person was shown before approving a change, if no other finding holds the skill.
   *
   * @param actor - Nothing is allowed unless `by` is a person (`person:ada`).
   * @returns why the skill is held; null when it is not.
   */
  allowShown(
    skillId: string,
    shown: readonly Finding[],
    actor: { readonly by: string; readonly reason?: string | undefined },
  ): Promise<string | null>;
  /**
   * Who sees each skill of the catalog, also those that lost a collision. In order of the catalog, losers last.
   *
   * @param agents - Their turns, each with `agentId` and `boundSkills`.
   */
  whoSees(agents: readonly TurnContext[]): Promise<readonly SkillVisibility[]>;
  /**
   * What waits for a person, riskiest first: by the number of findings of level `block`, then `warn`. Equal proposals are ordered
   * by kind (deletion, new skill, change) and then by age, oldest first. It inspects the held skills.
   *
   * @throws as `Proposals.list`.
   */
  waiting(): Promise<WaitingForPerson>;
  /**
   * How many proposals `waiting` would list, in about a millisecond: nothing is compared and nothing inspected. 0 also for a history
   * that cannot be read: `waiting` says why.
   */
  waitingProposals(): Promise<number>;
  /**
   * Disables a skill for agents, or enables it again. Writes `disabled` in `data/skill_registry/config.yaml`, keeps its comments and
   * other keys, and changes this registry at once. Other registries use the new setting from their next start on.
   *
   * @param disabling.skill - An id or a qualified id.
   * @param disabling.agent - Default: every agent. Enabling for every agent also enables it for each single agent.
   * @returns `changed`: false when the config already had this setting.
   * @param actor - Who does it: recorded among the decisions of this user when something changes.
   * @throws SKILL_NOT_FOUND, INVALID_ARGUMENT for one agent of a skill that is disabled for every agent, CONFIG_INVALID, WRITE_FAILED,
   *   PATH_TRAVERSAL; TRUST_UNUSABLE when the change is made, but its author cannot be recorded.
   */
  setDisabled(
    disabling: { readonly skill: string; readonly agent?: string | undefined },
    isDisabled: boolean,
    actor: Actor,
  ): Promise<{ readonly file: string; readonly changed: boolean }>;
  /** Inspects every skill that is not inspected yet; `watch` does it, too. Each content is inspected once. */
  inspectSkills(): Promise<void>;
  /** As `apply`, for a door that sends the message later. @throws as `read`. */
  prepareMessage(skillId: string, args: string, turn?: TurnContext): Promise<PreparedMessage>;
  /** Counts skills as offered to the agent of a turn: for a door that lists them without `context` and `list`. */
  recordOffers(skillIds: readonly string[], turn?: TurnContext): void;
  /** Changes skills without review. */
  readonly management: Management;
  /** Whether and how a file below a source may be written; undefined outside all sources. @param path - Absolute, real. */
  writePolicy(path: string): WritePolicy | undefined;
  /**
   * The skill that each path belongs to, in the order of `paths`; undefined for a path in no skill, which may be read as a plain
   * file (`mayGivePlainFile`). A tool that reads files calls this first, and reads files of a skill with `readBytes`.
   *
   * @param paths - Absolute, real; they need not exist.
   */
  readPolicies(paths: readonly string[], turn: TurnContext): Promise<readonly (ReadPolicy | undefined)[]>;
  /**
   * Whether an agent may be given a plain file, as `readPolicies` calls it. Below a source it is inspected by itself, because it may
   * belong to a skill that cannot be loaded: false with a `block` finding.
   *
   * @param path - Absolute, real.
   * @param bytes - The very bytes that are handed over.
   */
  mayGivePlainFile(path: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * Identifies the registry on this machine: other processes with the same root and the same sources have the same value. An MCP
   * server gives it to its clients, so that no registry has itself as a source.
   */
  instanceId(): string;
  /** How changes on disk are noticed at present. */
  watchMode(): 'events' | 'poll' | 'off';
}

/** What waits for the decision of a person in a registry. */
export interface WaitingForPerson {
  /** Open and stale proposals. */
  readonly proposals: readonly Proposal[];
  /** Why the proposals cannot be read; `proposals` is empty then. Null when they can be read. */
  readonly unreadable: string | null;
  /** Skills that no agent is given. */
  readonly held: readonly SkillTrust[];
}

/** The result of `getExtension('skill_registry')`. */
export interface SkillRegistryExtension {
  readonly registry: SkillRegistry;
}
