import { randomUUID } from 'node:crypto';
import {
  type AgentResponse,
  type CommandResult,
  type Conversation,
  describeError,
  type KernelApi,
  type TurnContext,
} from 'skill-registry/kernel';
import { printable } from '../../lib/text/index.ts';

export interface SessionOptions {
  readonly kernel: KernelApi;
  /** The agent the conversation begins with. */
  readonly agentId: string;
  write(text: string): void;
  /** A conversation begins; the first one is not announced. */
  onNewConversation(): void;
}

/** One person at one terminal. */
export interface Session {
  /** Handles one line to its end. @returns false when the person wants to leave. */
  handle(line: string): Promise<boolean>;
  /** What a line may become, and the part that is replaced. */
  complete(line: string): [string[], string];
  /** Cuts off the running turn. @returns false when there is none. */
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

export function createSession({ kernel, agentId, write, onNewConversation }: SessionOptions): Session {
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

  const say = async (message: string): Promise<void> => {
    const abort = new AbortController();
    running = abort;
    let midLine = false;
    const stream = (text: string): void => {
      write(printable(text));
      midLine = !text.endsWith('\n');
    };
    try {
      const response = await kernel.invokeAgent(agent, message, {
        turn: turn(),
        conversation,
        signal: abort.signal,
        onText: stream,
        onToolCall: (name, args) => stream(`${midLine ? '\n' : ''}[${name} ${shorten(JSON.stringify(args) ?? '')}]\n`),
      });
      conversation = response.conversation;
      if (midLine) write('\n');
      if (STOPPED[response.stopped]) write(`${STOPPED[response.stopped]}\n`);
    } catch (error) {
      write(`${midLine ? '\n' : ''}${printable(describeError(error))}\n`);
    } finally {
      running = undefined;
    }
  };

  const follow = async (result: CommandResult): Promise<boolean> => {
    switch (result.kind) {
      case 'print':
        write(`${printable(result.text)}\n`);
        return true;
      case 'send':
        await say(result.message);
        return true;
      case 'new':
        startOver();
        write('New conversation.\n');
        return true;
      case 'agent':
        agent = result.agentId;
        startOver();
        write(`You are speaking to ${agent} now.\n`);
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
        await say(text);
        return true;
      }
      try {
        return await follow(await kernel.runCommand(text, turn()));
      } catch (error) {
        write(`${printable(describeError(error))}\n`);
        return true;
      }
    },
    complete(line) {
      if (!line.startsWith('/')) return [[], line];
      const lines = kernel
        .commands()
        // Other names are offered to whoever has begun one: after a bare slash they would all stand there twice.
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

// --- internal ---

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
