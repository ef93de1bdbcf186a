import { randomUUID } from 'node:crypto';
import {
  type AgentResponse,
  type CommandResult,
  type Conversation,
  describeError,
  type KernelApi,
  type TurnContext,
} from 'skill-registry/kernel';
import { printable, shorten } from '../../lib/text/index.ts';

export interface SessionOptions {
  readonly kernel: KernelApi;
  readonly agentId: string;
  /** Writes parts of an answer as they arrive, safe for a terminal. */
  write(text: string): void;
  /** Writes whole lines of the kernel and its commands. */
  print(text: string): void;
  /** Width of the terminal; undefined for a pipe. */
  columns(): number | undefined;
  /** Not called for the first conversation. */
  onNewConversation(): void;
  /** Called after the person was told of a line that failed. */
  onFailure(): void;
}

const STOPPED: Readonly<Record<AgentResponse['stopped'], string>> = {
  done: '',
  cancelled: '[cancelled]',
  max_turns: '[stopped: the agent reached limits.max_turns of its manifest]',
  max_tokens:
    '[stopped: the agent reached limits.max_tokens_per_invocation of its manifest, or the model its output limit]',
  time_budget: '[stopped: the agent reached limits.time_budget_ms of its manifest]',
};

export class Session {
  readonly #options: SessionOptions;
  #agent: string;
  #conversation: Conversation = [];
  #threadId: string = randomUUID();
  #running: AbortController | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#agent = options.agentId;
  }

  /** Returns false when the person quits. */
  async handle(line: string): Promise<boolean> {
    const text = line.trim();
    if (text === '') return true;
    if (!text.startsWith('/')) {
      await this.#send(text);
      return true;
    }
    try {
      return await this.#follow(await this.#options.kernel.runCommand(text, this.#turn()));
    } catch (error) {
      this.#fail(error);
      return true;
    }
  }

  /** Returns the completions and the part of the line that they replace. */
  complete(line: string): [string[], string] {
    if (!line.startsWith('/')) return [[], line];
    const lines = this.#options.kernel
      .commands()
      // After a lone slash aliases are left out, because they would list commands twice.
      .flatMap(({ name, aliases = [], choices = [] }) => [
        ...[name, ...(line === '/' ? [] : aliases)].map((one) => `/${one}`),
        ...choices.map((choice) => `/${name} ${choice}`),
      ]);
    return [[...new Set(lines)].filter((candidate) => candidate.startsWith(line)).sort(), line];
  }

  /** Returns false when no turn runs. */
  cancel(): boolean {
    this.#running?.abort();
    return this.#running !== undefined;
  }

  #turn(): TurnContext {
    return { agentId: this.#agent, channelId: 'cli_channel', threadId: this.#threadId };
  }

  #startOver(): void {
    this.#conversation = [];
    this.#threadId = randomUUID();
    this.#options.onNewConversation();
  }

  #fail(error: unknown): void {
    this.#options.print(describeError(error));
    this.#options.onFailure();
  }

  async #send(message: string): Promise<boolean> {
    const { kernel, write, print } = this.#options;
    const abort = new AbortController();
    this.#running = abort;
    let hasAnswered = false;
    let isMidLine = false;
    const endLine = (): void => {
      if (isMidLine) write('\n');
      isMidLine = false;
    };
    try {
      const { conversation, stopped } = await kernel.invokeAgent(this.#agent, message, {
        turn: this.#turn(),
        conversation: this.#conversation,
        signal: abort.signal,
        onText(text) {
          hasAnswered = true;
          write(printable(text));
          isMidLine = !text.endsWith('\n');
        },
        onToolCall(name, args) {
          hasAnswered = true;
          endLine();
          print(`[${name} ${shorten(JSON.stringify(args) ?? '', 120)}]`);
        },
      });
      this.#conversation = conversation;
      endLine();
      if (STOPPED[stopped]) print(STOPPED[stopped]);
      return true;
    } catch (error) {
      endLine();
      this.#fail(error);
      return hasAnswered;
    } finally {
      this.#running = undefined;
    }
  }

  async #follow(result: CommandResult): Promise<boolean> {
    const { columns, print } = this.#options;
    switch (result.kind) {
      case 'print': {
        const width = columns();
        print(width && result.atWidth ? result.atWidth(width) : result.text);
        return true;
      }
      case 'send':
        result.settled?.(await this.#send(result.message));
        return true;
      case 'new':
        this.#startOver();
        print('New conversation.');
        return true;
      case 'agent':
        this.#agent = result.agentId;
        this.#startOver();
        print(`You are talking to ${this.#agent} now.`);
        return true;
      case 'quit':
        return false;
    }
  }
}
