/**
 * What extensions implement and get. Import it from `skill-registry/kernel`, and nothing else of the kernel.
 * The members of an object tell what it can do; the manifest does not.
 */
import type { ZodType } from 'zod';

/** A fault in a manifest, a skill or a config file. Returned, never thrown. */
export interface Problem {
  /** Stable; listed in docs/errors.md. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** Absolute; the extension's folder when the fault is not in one file. */
  readonly file: string;
  /** 1-based. */
  readonly line?: number;
  /** What was expected, what arrived, what to do. */
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

// --- what an extension implements ---

/** For entrypoint classes. Called in the order of the members; `stop` and `destroy` also after a failure. */
export interface Extension {
  /** When it rejects, the extension is in state ERROR, and those that depend on it are skipped. */
  initialize(context: ExtensionContext): Promise<void>;
  /** Called when all dependencies have started. */
  start(): Promise<void>;
  /** Called in reverse order of start. All extensions share 4.5 s; the kernel waits for each only for its share. */
  stop(): Promise<void>;
  destroy(): Promise<void>;
  /** False: the extension is shown as unhealthy. Must not throw. */
  healthCheck(): boolean;
}

export interface ToolProvider {
  /** Called for every turn. */
  getTools(): readonly Tool[];
}

export interface ContextProvider {
  /** Position of the text in the system text, ascending. Default: 100. */
  readonly contextPriority: number;
  /** Text for the system role, or null. A failure, or more than 2 s, is reported; the turn continues without it. */
  getContext(prompt: string, turn: TurnContext): Promise<string | null>;
}

export interface ServiceProvider {
  /** Runs until `signal` aborts. When it rejects, it starts again after 1 s; the delay doubles up to 60 s. */
  runBackground(signal: AbortSignal): Promise<void>;
}

export interface ChannelProvider {
  sendToUser(userId: string, message: string): Promise<void>;
  /** To everybody at the other end of the channel. */
  sendMessage(message: string): Promise<void>;
  /**
   * Asks a yes-or-no question; undefined when nobody can be asked. Must settle when `signal` aborts. Implement it only
   * when no agent can give the answer.
   */
  confirm?(question: string, signal: AbortSignal): Promise<boolean | undefined>;
}

export interface AgentProvider {
  getAgentDescriptor(): AgentDescriptor;
  /** Rejects with MODEL_NOT_CONFIGURED or AGENT_FAILED. A limit is no failure: see `AgentResponse.stopped`. */
  invoke(task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
}

/** Gives the bodies of `uses_skills`. */
export interface SkillProvider {
  /**
   * Body of SKILL.md without frontmatter; empty when the workflow state of the turn shows no skills.
   * @throws SKILL_NOT_FOUND with the nearest ids.
   */
  getSkillContent(skillId: string, turn?: TurnContext): Promise<string>;
  /** @returns ends the subscription. */
  onSkillsChanged(listener: (ids: readonly string[]) => void): () => void;
}

export interface CommandProvider {
  /** Called for every line and every completion. */
  getCommands(): readonly Command[];
}

/** Implement it to use some settings of a root that is not approved; without it none take effect. */
export interface UntrustedConfig {
  /** @param values - Of `data/<id>/config.yaml`. @returns `values`: may take effect; `ignored`: names of the others. */
  configOfUntrustedRoot(
    values: Readonly<Record<string, unknown>>,
    rootDir: string,
  ): { readonly values: Readonly<Record<string, unknown>>; readonly ignored: readonly string[] };
}

// --- what passes between them ---

/** One agent invocation. A field is absent when it is not known. */
export interface TurnContext {
  readonly agentId?: string;
  readonly channelId?: string;
  readonly userId?: string;
  /** One conversation. */
  readonly threadId?: string;
  /** It is of this agent alone: with another agent the same `threadId` is another thread. Absent: agents share it. */
  readonly ownThread?: true;
  /** One connection of a client that names no conversation: for figures, and nothing else. Absent beside `threadId`. */
  readonly connectionId?: string;
  /** What the program behind the turn calls itself, such as `claude-code 2.1`. Its word, for figures only. */
  readonly client?: string;
  /** Files that it is about, absolute or below the root: skills for them are shown. */
  readonly paths?: readonly string[];
  /** The agent's `uses_skills`: it sees these, what they require, and others only with `*`. Absent: sees all. */
  readonly boundSkills?: readonly string[];
  /** Skills whose bodies are in its instructions. Absent: none. */
  readonly givenSkills?: readonly string[];
  /** Names of the agent's tools, for context providers. Absent: not known. */
  readonly tools?: readonly string[];
  readonly model?: string;
  /** The text is for a person, not a model (`describeTurn`, the check of agents at start): nothing is recorded. */
  readonly preview?: true;
  /** The text may go to another machine: it must not name a folder of this one. */
  readonly remoteClient?: true;
  /** State of a prompt pack's workflow, which may narrow what is visible. Without `state`: its first one. */
  readonly workflowState?: { readonly pack: string; readonly state?: string };
}

export type ToolResult =
  | { readonly success: true; readonly [key: string]: unknown }
  | { readonly success: false; readonly error: { readonly code: string; readonly message: string } };

export interface ToolCall {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
}

/** `defineTool` makes one. `runTool` runs it: it checks the arguments and turns a throw into a result. */
export interface Tool<Input = never> {
  /** Unique among all extensions, `^[a-z][a-z0-9_]*$`. */
  readonly name: string;
  /** For the model. Keep it equal between turns: it is part of the cached prefix of every request. */
  readonly description: string;
  readonly input: ZodType<Input>;
  /** Called at the start of a turn: whether its agent gets the tool. Absent: every agent that may use the extension. */
  isAvailableIn?(turn: TurnContext): boolean;
  execute(args: Input, call: ToolCall): Promise<ToolResult>;
}

export type CommandResult =
  /** `atWidth`: the same text for a window of so many columns. */
  | { readonly kind: 'print'; readonly text: string; atWidth?(columns: number): string }
  /** A message of the user to the agent. The channel calls `settled` after the turn: whether the agent got it. */
  | { readonly kind: 'send'; readonly message: string; settled?(wasReceived: boolean): void }
  /** Forget the conversation. */
  | { readonly kind: 'new' }
  /** Talk to another agent from now on. */
  | { readonly kind: 'agent'; readonly agentId: string }
  | { readonly kind: 'quit' };

/** A person types it as `/name args`. */
export interface Command {
  /** Without the slash. A command of the kernel with this name wins. */
  readonly name: string;
  /** Other names. A command whose `name` is the same wins. */
  readonly aliases?: readonly string[];
  /** Shown after the name in /help: `<id> [text]`. */
  readonly usage?: string;
  readonly description: string;
  /** Arguments for completion. */
  readonly choices?: readonly string[];
  /** Not in /help; completion and calls still work. */
  readonly hidden?: boolean;
  execute(args: string, turn: TurnContext): Promise<CommandResult>;
}

export interface AgentDescriptor {
  /** The extension id; also the tool's name when the agent is offered as a tool. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** `tool`: other agents call it. `handoff`: a person talks to it. */
  readonly integrationMode: 'tool' | 'handoff';
  readonly usesTools: readonly string[];
  readonly usesSkills?: readonly string[];
}

/** The messages so far. Opaque: pass what the last `AgentResponse` returned. */
export type Conversation = readonly { readonly role: string }[];

export interface AgentInvocationContext {
  readonly turn?: TurnContext;
  readonly conversation?: Conversation;
  readonly signal?: AbortSignal;
  /** Called with each piece of text. */
  onText?(delta: string): void;
  /** Called before a tool runs. */
  onToolCall?(toolName: string, args: unknown): void;
}

export interface AgentResponse {
  readonly text: string;
  /** Why it ended: `done`, the limit it reached, or `cancelled`. */
  readonly stopped: 'done' | 'max_turns' | 'max_tokens' | 'time_budget' | 'cancelled';
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly conversation: Conversation;
}

// --- what an extension gets ---

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  /** Warnings and errors are shown to the person. */
  warn(message: string): void;
  error(message: string): void;
}

export interface Events {
  /** Calls handlers in order of subscription. One that throws is reported, and the others still run. */
  emit(event: string, payload: unknown): void;
  /** @returns ends the subscription; it also ends when the extension stops. */
  subscribe(event: string, handler: (payload: unknown) => void | Promise<void>): () => void;
}

export interface ExtensionContext {
  readonly id: string;
  /** The manifest's `config`, overridden by `data/<id>/config.yaml`, then by config given to `boot`. Validate it. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly rootDir: string;
  /** False: do not run or obey anything in the root; `config` is safe to use. */
  readonly trusted: boolean;
  /** The manifest's folder. */
  readonly extensionDir: string;
  /** `<root>/data/<id>`. The kernel does not create it. */
  readonly dataDir: string;
  readonly log: Log;
  readonly events: Events;
  /** To every running channel; kept until there is one. */
  notifyUser(text: string): void;
  /** @throws EXTENSION_NOT_DECLARED when `id` is not in depends_on; EXTENSION_NOT_RUNNING. */
  getExtension<T>(id: string): T;
  /** From the environment, else from `<root>/.env`. */
  getSecret(name: string): string | undefined;
  /** Aborts when the extension has stopped or failed. Pass it on, for example to `addSource` of the registry. */
  readonly signal: AbortSignal;
  /** Reloads all extensions as soon as no turn runs. */
  requestRestart(): void;
  /** Lets a channel talk to agents and run commands. */
  readonly kernel: KernelApi;
}

export interface ExtensionStatus {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly state: 'RUNNING' | 'ERROR' | 'SKIPPED' | 'DISABLED' | 'STOPPED';
  /** Why it is not running. */
  readonly reason?: string;
  readonly healthy: boolean;
  readonly dir: string;
}

/** One part of the system text of a turn; parts are in order. */
export interface ContextPart {
  /** For its instructions the agent's id, else the id of the extension that gave the text. */
  readonly source: string;
  readonly text: string;
  readonly tokens: number;
}

export interface KernelApi {
  extensions(): readonly ExtensionStatus[];
  /** All current ones, of the kernel and its extensions. */
  problems(): readonly Problem[];
  tools(): readonly { readonly extensionId: string; readonly tool: Tool }[];
  agents(): readonly AgentDescriptor[];
  commands(): readonly Command[];
  /** @param line - `/name args`. @throws COMMAND_NOT_FOUND, COMMAND_FAILED when the command throws. */
  runCommand(line: string, turn: TurnContext): Promise<CommandResult>;
  /** @throws AGENT_NOT_FOUND, AGENT_UNAVAILABLE, and what `AgentProvider.invoke` rejects with. */
  invokeAgent(agentId: string, task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
  /** The parts of the system text for this prompt; the kernel joins them with `\n\n---\n\n`. */
  describeTurn(agentId: string, prompt: string, turn: TurnContext): Promise<readonly ContextPart[]>;
  /** Stops the kernel, for example when the user quits. */
  requestShutdown(): void;
}
