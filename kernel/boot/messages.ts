import type { ChannelProvider, Log, Problem } from '../contract.ts';
import { describeError } from '../errors.ts';
import { type CallHook, createHookCaller } from '../hooks.ts';
import { type ExtensionRecord, provides } from './extension-record.ts';

/** One line an extension logged. */
export interface LogEntry {
  readonly level: keyof Log;
  readonly extensionId: string;
  readonly message: string;
}

export interface MessageOptions {
  readonly rootDir: string;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  running(): readonly ExtensionRecord[];
  phase(): 'starting' | 'running' | 'stopped';
}

/** Everything the kernel reports: problems, the log, and messages for the person at a channel. */
export class Messages {
  readonly callHook: CallHook;
  readonly #options: MessageOptions;
  readonly #problems = new Map<string, Problem>();
  #outbox: string[] = [];

  constructor(options: MessageOptions) {
    this.#options = options;
    this.callHook = createHookCaller(options.rootDir, (problem) => this.report(problem));
  }

  /** Adds a problem to the list. A new one is also sent to the person, except while the kernel starts. */
  readonly report = (problem: Problem): void => {
    const key = `${problem.code} ${problem.file} ${problem.line} ${problem.message}`;
    const isRepeated = this.#problems.has(key);
    this.#problems.set(key, problem);
    // After the start the person gets the list of all problems.
    if (this.#options.phase() !== 'starting' && !isRepeated) this.notifyUser(problemLine(problem));
  };

  readonly problems = (): readonly Problem[] => [...this.#problems.values()];

  forgetProblems(): void {
    this.#problems.clear();
  }

  readonly log = (entry: LogEntry): void => {
    this.callHook('onLog', () => this.#options.onLog?.(entry));
  };

  /** Sends a message to every running channel; it is kept until there is one. */
  readonly notifyUser = (text: string): void => {
    const { phase, running } = this.#options;
    const channels = running().filter(({ instance }) => isChannel(instance));
    if (channels.length === 0 || phase() !== 'running') this.#outbox.push(text);
    else for (const channel of channels) void this.#send(channel, text);
  };

  /** Sends the messages that were kept. */
  deliver(): void {
    this.#outbox.splice(0).forEach(this.notifyUser);
  }

  readonly undelivered = (): readonly string[] => [...this.#outbox];

  /** Never rejects: a channel that cannot send is named in the log. */
  async #send({ instance, found }: ExtensionRecord, text: string): Promise<void> {
    try {
      if (isChannel(instance)) await instance.sendMessage(text);
    } catch (error) {
      this.log({ level: 'error', extensionId: found.manifest.id, message: describeError(error) });
    }
  }
}

/** A problem as one line for the person. */
export function problemLine({ severity, file, line, message }: Problem): string {
  return `${severity}: ${file}${line ? `:${line}` : ''}: ${message}`;
}

// --- internal ---

function isChannel(value: unknown): value is ChannelProvider {
  return provides<ChannelProvider>(value, 'sendMessage', 'sendToUser');
}
