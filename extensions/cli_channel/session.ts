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
  /** The agent at the beginning. */
  readonly agentId: string;
  /** Writes the text of an answer as it arrives. It is safe for a terminal. */
  write(text: string): void;
  /** Writes whole lines of the kernel and its commands. */
  print(text: string): void;
  /** Of the window now; undefined for a pipe. */
  columns(): number | undefined;
  /** Called when a new conversation begins, except for the first one. */
  onNewConversation(): void;
  /** Called when a line could not be carried out, after the person was told. */
  onFailure(): void;
}

/** The session of one person at one terminal. */
export interface Session {
  /** Handles one line. @returns False when the person wants to quit. */
  handle(line: string): Promise<boolean>;
  /** The completions of a line, and the part that they replace. */
  complete(line: string): [string[], string];
  /** Cancels the running turn. @returns False when there is none. */
  cancel(): boolean;
}

const STOPPED: Readonly<Record<AgentResponse['stopped'], string>> = {
  done: '',
  cancelled: '[cancelled]',
  max_turns: '[stopped: the agent reached limits.max_turns of its manifest]',
  max_tokens:
    '[stopped: the agent reached limits.max_tokens_per_invocation of its manifest, or the model its output limit]',
  time_budget: '[stopped: the agent reached limits.time_budget_ms of its manifest]',
};

export function createSession({
  kernel,
  agentId,
  write,
  print,
  columns,
  onNewConversation,
  onFailure,
}: SessionOptions): Session {
  let agent = agentId;
  let conversation: Conversation = [];
  let threadId: string = randomUUID();
  let running: AbortController | undefined;

  const turn = (): TurnContext => ({ agentId: agent, channelId: 'cli_channel', threadId });
  const startOver = (): void => {
    conversation = [];
    threadId = randomUUID();
    onNewConversation();
  };

  /** @returns whether the agent received the message. */
  const send = async (message: string): Promise<boolean> => {
    const abort = new AbortController();
    running = abort;
    let hasAnswered = false;
    let isMidLine = false;
    const endLine = (): void => {
      if (isMidLine) write('\n');
      isMidLine = false;
    };
    try {
      const response = await kernel.invokeAgent(agent, message, {
        turn: turn(),
        conversation,
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
      conversation = response.conversation;
      endLine();
      if (STOPPED[response.stopped]) print(STOPPED[response.stopped]);
      return true;
    } catch (error) {
      endLine();
      print(describeError(error));
      onFailure();
      return hasAnswered;
    } finally {
      running = undefined;
    }
  };

  const follow = async (result: CommandResult): Promise<boolean> => {
    switch (result.kind) {
      case 'print': {
        const width = columns();
        print(width && result.atWidth ? result.atWidth(width) : result.text);
        return true;
      }
      case 'send':
        result.settled?.(await send(result.message));
        return true;
      case 'new':
        startOver();
        print('New conversation.');
        return true;
      case 'agent':
        agent = result.agentId;
        startOver();
        print(`You are talking to ${agent} now.`);
        return true;
      case 'quit':
        return false;
    }
  };

  return {
    async handle(line) {
      const text = line.trim();
      if (text === '') return true;
      if (!text.startsWith('/')) {
        await send(text);
        return true;
      }
      try {
        return await follow(await kernel.runCommand(text, turn()));
      } catch (error) {
        print(describeError(error));
        onFailure();
        return true;
      }
    },
    complete(line) {
      if (!line.startsWith('/')) return [[], line];
      const lines = kernel
        .commands()
        // Aliases are not offered after a slash alone: every command would be listed twice.
        .flatMap(({ name, aliases = [], choices = [] }) => [
          ...[name, ...(line === '/' ? [] : aliases)].map((one) => `/${one}`),
          ...choices.map((choice) => `/${name} ${choice}`),
        ]);
      return [[...new Set(lines)].filter((candidate) => candidate.startsWith(line)).sort(), line];
    },
    cancel() {
      running?.abort();
      return running !== undefined;
    },
  };
}
