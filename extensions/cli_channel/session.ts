import { randomUUID } from 'node:crypto';
import {
  type AgentResponse,
  type CommandResult,
  type Conversation,
  describeError,
  type KernelApi,
  type TurnContext,
} from 'skill-registry/kernel';
import { forTerminal, hasColour, printable, type TerminalWindow } from '../../lib/text/index.ts';
import type { AnswerWriter } from './answer.ts';

export interface SessionOptions {
  readonly kernel: KernelApi;
  /** The agent at the beginning. */
  readonly agentId: string;
  write(text: string): void;
  /** The window as it is now: answers are rendered and wrapped. Undefined for a pipe: they are written as they are. */
  window(): TerminalWindow | undefined;
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
  window,
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

  const print = (text: string): void => {
    const shown = printable(text);
    const here = window();
    write(`${here ? forTerminal(shown, here, true) : shown}\n`);
  };

  /** @returns whether the agent received the message. */
  const send = async (message: string): Promise<boolean> => {
    const abort = new AbortController();
    running = abort;
    let hasAnswered = false;
    const answer = window() ? await renderedAnswer(write, window) : rawAnswer(write);
    try {
      const response = await kernel.invokeAgent(agent, message, {
        turn: turn(),
        conversation,
        signal: abort.signal,
        onText(text) {
          hasAnswered = true;
          answer.add(text);
        },
        onToolCall(name, args) {
          hasAnswered = true;
          answer.end();
          print(`[${name} ${shorten(JSON.stringify(args) ?? '')}]`);
        },
      });
      conversation = response.conversation;
      answer.end();
      if (STOPPED[response.stopped]) print(STOPPED[response.stopped]);
      return true;
    } catch (error) {
      answer.end();
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
        const { columns } = window() ?? {};
        print(columns && result.atWidth ? result.atWidth(columns) : result.text);
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

// --- internal ---

/** Its packages are loaded for the first answer. */
async function renderedAnswer(write: SessionOptions['write'], window: SessionOptions['window']): Promise<AnswerWriter> {
  const { createAnswerWriter } = await import('./answer.ts');
  return createAnswerWriter({
    write,
    columns: () => window()?.columns ?? 80,
    isColoured: hasColour(window()?.environment ?? {}),
  });
}

function rawAnswer(write: SessionOptions['write']): AnswerWriter {
  let isMidLine = false;
  return {
    add(text) {
      write(printable(text));
      isMidLine = !text.endsWith('\n');
    },
    end() {
      if (isMidLine) write('\n');
      isMidLine = false;
    },
  };
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
