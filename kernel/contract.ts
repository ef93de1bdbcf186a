/**
 * The contract between the kernel and its extensions: every interface that an extension implements or gets.
 * An extension imports it from `skill-registry/kernel`, and nothing else of the kernel.
 *
 * The members of its object say what an extension can do, not a field of the manifest.
 */
import type { ZodType } from 'zod';

/** A fault in content that somebody wrote (a manifest, a skill, a config file). Returned, never thrown. */
export interface Problem {
  /** Stable; listed in docs/errors.md. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** The file with the fault, absolute; the folder of the extension when it is not one file. */
  readonly file: string;
  /** 1-based. */
  readonly line?: number;
  /** What was expected, what arrived, what to do. */
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

// --- what an extension implements ---

/** Implemented by every entrypoint class. Called in the order of the members; `stop` and `destroy` also after a failure. */
export interface Extension {
  /** Read config, open resources. Rejecting puts the extension in state ERROR; its dependents are skipped. */
  initialize(context: ExtensionContext): Promise<void>;
  /** All dependencies are started. */
  start(): Promise<void>;
  /** Called in the reverse order of start. All extensions together have 4.5 s; the kernel does not wait longer for one than its share. */
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
  /** Texts are in the system text in ascending order of this number. Default: 100. */
  readonly contextPriority: number;
  /**
   * Text for the system role of one turn, or null for none. When it rejects, or does not settle within 2 s, this is reported and the
   * turn continues without the text.
   */
  getContext(prompt: string, turn: TurnContext): Promise<string | null>;
}

export interface ServiceProvider {
  /** Runs until `signal` aborts. When it rejects, it is started again after 1 s; the delay doubles up to 60 s. */
  runBackground(signal: AbortSignal): Promise<void>;
}

export interface ChannelProvider {
  sendToUser(userId: string, message: string): Promise<void>;
  /** Sends to the person or persons at the other end of the channel. */
  sendMessage(message: string): Promise<void>;
  /**
   * Asks the person at the other end a yes-or-no question; undefined when nobody can be asked. Implement it only when no agent can
   * give the answer. Must settle when `signal` aborts.
   */
  confirm?(question: string, signal: AbortSignal): Promise<boolean | undefined>;
}

export interface AgentProvider {
  getAgentDescriptor(): AgentDescriptor;
  /** Rejects with MODEL_NOT_CONFIGURED or AGENT_FAILED. Reaching a limit is not a failure: see `AgentResponse.stopped`. */
  invoke(task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
}

/** Gives the bodies of `uses_skills`. */
export interface SkillProvider {
  /**
   * Body of SKILL.md without frontmatter; empty when the state of the turn's workflow shows no skills. Rejects with
   * SKILL_NOT_FOUND; the message names the nearest ids.
   */
  getSkillContent(skillId: string, turn?: TurnContext): Promise<string>;
  /** @returns the function that ends the subscription. */
  onSkillsChanged(listener: (ids: readonly string[]) => void): () => void;
}

export interface CommandProvider {
  /** Called for every line and every completion. */
  getCommands(): readonly Command[];
}

/** For an extension that uses a part of the settings of a root that nobody has approved. */
export interface UntrustedConfig {
  /**
   * @param values - The values of `data/<id>/config.yaml` in a root that nobody has approved.
   * @returns The part that may take effect, and the names of the rest. An extension without this member gets none of the values.
   */
  configOfUntrustedRoot(
    values: Readonly<Record<string, unknown>>,
    rootDir: string,
  ): { readonly values: Readonly<Record<string, unknown>>; readonly ignored: readonly string[] };
}

// --- what passes between them ---

/** The context of one agent invocation. Every field may be absent when it is not known. */
export interface TurnContext {
  readonly agentId?: string;
  readonly channelId?: string;
  readonly userId?: string;
  /** One conversation. */
  readonly threadId?: string;
  /** The agent's `uses_skills`: it sees these, what they require, and others only with `*`. Absent: sees all. */
  readonly boundSkills?: readonly string[];
  /** Those whose bodies stand in its instructions. Absent: none. */
  readonly givenSkills?: readonly string[];
  /** Names of the tools the agent has, as far as a context provider is concerned. Absent: not known. */
  readonly tools?: readonly string[];
  /** Name of the model that runs the turn, where it is known. */
  readonly model?: string;
  /** The text is shown to a person and goes to no model (`describeTurn`, the check of an agent at start): nothing is recorded. */
  readonly preview?: true;
  /** The text goes to a client that may be on another machine: it names no folder of this one. */
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

/** Make one with `defineTool`, run one with `runTool`, which checks the arguments and turns a throw into a result. */
export interface Tool<Input = never> {
  /** Unique among all extensions, `^[a-z][a-z0-9_]*$`. */
  readonly name: string;
  /** For the model. Do not change it between turns: it is part of the cached prefix of every request. */
  readonly description: string;
  readonly input: ZodType<Input>;
  /** Whether the agent of a turn is given the tool. Called when its turn begins. Absent: every agent that may use the extension is. */
  isAvailableIn?(turn: TurnContext): boolean;
  execute(args: Input, call: ToolCall): Promise<ToolResult>;
}

export type CommandResult =
  /** `atWidth`: the same for a window of so many columns, such as a table that is as wide. */
  | { readonly kind: 'print'; readonly text: string; atWidth?(columns: number): string }
  /**
   * Send this to the agent of the conversation, as the message of the user. A channel calls `settled` once: when the turn has ended, with
   * whether the agent received the message.
   */
  | { readonly kind: 'send'; readonly message: string; settled?(wasReceived: boolean): void }
  /** Forget the conversation. */
  | { readonly kind: 'new' }
  /** Talk to another agent from now on. */
  | { readonly kind: 'agent'; readonly agentId: string }
  | { readonly kind: 'quit' };

/** A command that a person types as `/name args`. */
export interface Command {
  /** Without the slash. When the kernel has a command of this name, that one is used. */
  readonly name: string;
  /** Other names for it. When a command has such a name as its own, that one is used. */
  readonly aliases?: readonly string[];
  /** Shown after the name in /help: `<id> [text]`. */
  readonly usage?: string;
  readonly description: string;
  /** Arguments that completion offers. */
  readonly choices?: readonly string[];
  /** Not listed in /help; it can still be completed and run. */
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
  /** Called with each piece of text as it arrives. */
  onText?(delta: string): void;
  /** Called before a tool runs. */
  onToolCall?(toolName: string, args: unknown): void;
}

export interface AgentResponse {
  readonly text: string;
  /** Why it ended: `done`, the limit that was reached, or `cancelled`. */
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
  /** Handlers run in order of subscription. One that throws is reported, and the others still run. */
  emit(event: string, payload: unknown): void;
  /** The subscription also ends when the extension stops. */
  subscribe(event: string, handler: (payload: unknown) => void | Promise<void>): () => void;
}

export interface ExtensionContext {
  readonly id: string;
  /** `config` of the manifest, overridden by `data/<id>/config.yaml`, overridden by the config given to `boot`. Validate it. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly rootDir: string;
  /** Whether the root is approved. If not, do not run or obey anything in it; `config` is safe to use. */
  readonly trusted: boolean;
  /** The folder of the manifest. */
  readonly extensionDir: string;
  /** `<root>/data/<id>`. The kernel does not make it. */
  readonly dataDir: string;
  readonly log: Log;
  readonly events: Events;
  /** Sends a message to every running channel; it is kept until there is one. */
  notifyUser(text: string): void;
  /** @throws EXTENSION_NOT_DECLARED when `id` is not in depends_on, EXTENSION_NOT_RUNNING when it has failed. */
  getExtension<T>(id: string): T;
  /** From the environment, else from `<root>/.env`. */
  getSecret(name: string): string | undefined;
  /** Aborts when the extension has stopped or failed. Pass it on, for example to `addSource` of the registry. */
  readonly signal: AbortSignal;
  /** Asks the kernel to reload every extension when no turn runs. */
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

/** The running kernel. */
export interface KernelApi {
  extensions(): readonly ExtensionStatus[];
  /** All current problems of the kernel and its extensions. */
  problems(): readonly Problem[];
  tools(): readonly { readonly extensionId: string; readonly tool: Tool }[];
  agents(): readonly AgentDescriptor[];
  commands(): readonly Command[];
  /** @param line - `/name args`. @throws COMMAND_NOT_FOUND, or COMMAND_FAILED when the command throws. */
  runCommand(line: string, turn: TurnContext): Promise<CommandResult>;
  /** @throws AGENT_NOT_FOUND, AGENT_UNAVAILABLE, and what `AgentProvider.invoke` rejects with. */
  invokeAgent(agentId: string, task: string, context?: AgentInvocationContext): Promise<AgentResponse>;
  /** The parts of the system text of a turn with this prompt. The kernel joins them with `\n\n---\n\n`. */
  describeTurn(agentId: string, prompt: string, turn: TurnContext): Promise<readonly ContextPart[]>;
  /** Stops the kernel, for example when the user has quit. */
  requestShutdown(): void;
}
