/**
 * The contract between the kernel and its extensions: every interface an extension implements or is handed.
 * An extension imports it from `skill-registry/kernel` and nothing else of the kernel.
 *
 * What an extension can do is found by the members its object has, never by a manifest field.
 */
import type { ZodType } from 'zod';

/** A fault in content somebody wrote (a manifest, a skill, a config file). Returned, never thrown. */
export interface Problem {
  /** Stable; listed in docs/errors.md. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** The file at fault, absolute; the extension's folder when there is no single file. */
  readonly file: string;
  /** 1-based. */
  readonly line?: number;
  /** What was expected, what arrived, what to do. */
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

// --- what an extension implements ---

/** Every entrypoint class. Called in the order of the members; `stop` and `destroy` also after a failure. */
export interface Extension {
  /** Read config, open resources. Rejecting puts the extension in state ERROR; its dependents are skipped. */
  initialize(context: ExtensionContext): Promise<void>;
  /** All dependencies are started. */
  start(): Promise<void>;
  /** Reverse order of start. Given up on when it does not settle in its share of 4.5 s, which all extensions have together. */
  stop(): Promise<void>;
  destroy(): Promise<void>;
  /** False marks the extension as unhealthy where its state is shown; must not throw. */
  healthCheck(): boolean;
}

export interface ToolProvider {
  /** Asked anew for every turn. */
  getTools(): readonly Tool[];
}

export interface ContextProvider {
  /** Lower runs first and stands earlier in the system text. Default: 100. */
  readonly contextPriority: number;
  /**
   * Text for the system role of one turn, or null for none. A rejection, or no answer within the kernel's budget
   * (2 s), is reported and skipped: the turn goes on without it.
   */
  getContext(prompt: string, turn: TurnContext): Promise<string | null>;
}

export interface ServiceProvider {
  /** Runs until `signal` aborts. Settling earlier by rejection restarts it with back-off (1 s, doubled up to 60 s). */
  runBackground(signal: AbortSignal): Promise<void>;
}

export interface ChannelProvider {
  sendToUser(userId: string, message: string): Promise<void>;
  /** To whoever is at the other end of the channel. */
  sendMessage(message: string): Promise<void>;
  /**
   * Asks the person at the other end a question that is answered by yes or no; undefined when nobody can be asked. Only for a
   * channel whose answers no agent can give. Must not outlast `signal`.
   */
  confirm?(question: string, signal: AbortSignal): Promise<boolean | undefined>;
}

export interface AgentProvider {
  getAgentDescriptor(): AgentDescriptor;
  /** Rejects with MODEL_NOT_CONFIGURED or AGENT_FAILED. Reaching a limit is not a failure: see `AgentResponse.stopped`. */
  invoke(task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
}

/** Where the bodies of `uses_skills` come from. */
export interface SkillProvider {
  /**
   * Body of SKILL.md without frontmatter; empty where the state of the turn's workflow shows no skills. Rejects with
   * SKILL_NOT_FOUND, whose message names the nearest ids.
   */
  getSkillContent(skillId: string, turn?: TurnContext): Promise<string>;
  /** @returns the function that ends the subscription. */
  onSkillsChanged(listener: (ids: readonly string[]) => void): () => void;
}

export interface CommandProvider {
  /** Asked anew for every line and every completion. */
  getCommands(): readonly Command[];
}

/** What an extension makes of settings that nobody has approved. */
export interface UntrustedConfig {
  /**
   * @param values - Of `data/<id>/config.yaml` in a root that nobody approved.
   * @returns the part that may take effect, and the names of the rest. Extensions without this member are given nothing.
   */
  configOfUntrustedRoot(
    values: Readonly<Record<string, unknown>>,
    rootDir: string,
  ): { readonly values: Readonly<Record<string, unknown>>; readonly held: readonly string[] };
}

// --- what passes between them ---

/** One agent invocation. Every field may be absent: not every door knows all of them. */
export interface TurnContext {
  readonly agentId?: string;
  readonly channelId?: string;
  readonly userId?: string;
  /** One conversation. */
  readonly threadId?: string;
  /** The agent's `uses_skills`: it sees these, what they require, and no others. Absent: sees all. */
  readonly boundSkills?: readonly string[];
  /** Those whose bodies stand in its instructions. Absent: none. */
  readonly givenSkills?: readonly string[];
  /** Names of the tools the agent has, as far as a context provider is concerned. Absent: not known. */
  readonly tools?: readonly string[];
  /** Name of the model that runs the turn, where it is known. */
  readonly model?: string;
  /** State of a prompt pack's workflow, which may narrow what is visible. */
  readonly workflowState?: { readonly pack: string; readonly state?: string };
}

export type ToolResult =
  | { readonly success: true; readonly [key: string]: unknown }
  | { readonly success: false; readonly error: { readonly code: string; readonly message: string } };

export interface ToolCall {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
}

/** Build one with `defineTool`, run one with `runTool`: they check the arguments and turn a throw into a result. */
export interface Tool<Input = never> {
  /** Unique among all extensions, `^[a-z][a-z0-9_]*$`. */
  readonly name: string;
  /** For the model. Keep it stable: it is part of every request's cached prefix. */
  readonly description: string;
  readonly input: ZodType<Input>;
  execute(args: Input, call: ToolCall): Promise<ToolResult>;
}

export type CommandResult =
  | { readonly kind: 'print'; readonly text: string }
  /** Send this as the user's message to the agent of the conversation. */
  | { readonly kind: 'send'; readonly message: string }
  /** Forget the conversation. */
  | { readonly kind: 'new' }
  /** Speak to another agent from now on. */
  | { readonly kind: 'agent'; readonly agentId: string }
  | { readonly kind: 'quit' };

/** What a person types as `/name args`. */
export interface Command {
  /** Without the slash. A name of the kernel wins over an extension's. */
  readonly name: string;
  /** Other names for it. Every command's own name wins over them. */
  readonly aliases?: readonly string[];
  /** Shown after the name in /help: `<id> [text]`. */
  readonly usage?: string;
  readonly description: string;
  /** Arguments worth offering on completion. */
  readonly choices?: readonly string[];
  /** Not listed in /help, still completed and run. */
  readonly hidden?: boolean;
  execute(args: string, turn: TurnContext): Promise<CommandResult>;
}

export interface AgentDescriptor {
  /** The extension id; also the tool's name when the agent is offered as a tool. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** `tool`: other agents call it. `handoff`: a person speaks to it. */
  readonly integrationMode: 'tool' | 'handoff';
  readonly usesTools: readonly string[];
  readonly usesSkills?: readonly string[];
}

/** What was said so far. Opaque: hand back what the last `AgentResponse` returned. */
export type Conversation = readonly { readonly role: string }[];

export interface AgentInvocationContext {
  readonly turn?: TurnContext;
  readonly conversation?: Conversation;
  readonly signal?: AbortSignal;
  /** Text as it streams in. */
  onText?(delta: string): void;
  /** A tool is about to run. */
  onToolCall?(toolName: string, args: unknown): void;
}

export interface AgentResponse {
  readonly text: string;
  /** Why it ended: `done`, the limit that was reached, or `cancelled`. */
  readonly stopped: 'done' | 'max_turns' | 'max_tokens' | 'time_budget' | 'cancelled';
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly conversation: Conversation;
}

// --- what an extension is handed ---

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  /** Warnings and errors reach the person. */
  warn(message: string): void;
  error(message: string): void;
}

export interface Events {
  /** Handlers run in order of subscription; one that throws is reported and does not stop the others. */
  emit(event: string, payload: unknown): void;
  /** Ends by itself when the extension stops. */
  subscribe(event: string, handler: (payload: unknown) => void | Promise<void>): () => void;
}

export interface ExtensionContext {
  readonly id: string;
  /** `config` of the manifest, overlaid by `data/<id>/config.yaml` and by what `boot` was given. Validate it. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly rootDir: string;
  /** Whether somebody has approved the root; else what it says is data, and only `config` may be obeyed. */
  readonly trusted: boolean;
  /** The folder of the manifest. */
  readonly extensionDir: string;
  /** `<root>/data/<id>`. Not created for you: most extensions write nothing. */
  readonly dataDir: string;
  readonly log: Log;
  readonly events: Events;
  /** To every running channel; kept until there is one. */
  notifyUser(text: string): void;
  /** @throws EXTENSION_NOT_DECLARED when `id` is not in depends_on, EXTENSION_NOT_RUNNING when it has failed. */
  getExtension<T>(id: string): T;
  /** From the environment, else from `<root>/.env`. */
  getSecret(name: string): string | undefined;
  /** Aborts when the extension has stopped or failed: for what it has put into others, such as `addSource` of the registry. */
  readonly signal: AbortSignal;
  /** Reload every extension when the running turn has ended. */
  requestRestart(): void;
  /** What a channel needs to talk to agents and to run commands. */
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

/** One part of the system text of a turn, in order. */
export interface ContextPart {
  /** The agent's id for its instructions, else the id of the extension that provided the text. */
  readonly source: string;
  readonly text: string;
  readonly tokens: number;
}

/** The running kernel, as a channel sees it. */
export interface KernelApi {
  extensions(): readonly ExtensionStatus[];
  /** Everything that is wrong now, of the kernel and of every manifest. */
  problems(): readonly Problem[];
  tools(): readonly { readonly extensionId: string; readonly tool: Tool }[];
  agents(): readonly AgentDescriptor[];
  commands(): readonly Command[];
  /** @param line - `/name args`. @throws COMMAND_NOT_FOUND, or COMMAND_FAILED when the command throws. */
  runCommand(line: string, turn: TurnContext): Promise<CommandResult>;
  /** @throws AGENT_NOT_FOUND, AGENT_UNAVAILABLE, and what `AgentProvider.invoke` rejects with. */
  invokeAgent(agentId: string, task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
  /** Exactly the system text a turn with this prompt would carry: the parts joined by `\n\n---\n\n`. */
  describeTurn(agentId: string, prompt: string, turn: TurnContext): Promise<readonly ContextPart[]>;
  /** The user has left: stop everything. */
  requestShutdown(): void;
}
