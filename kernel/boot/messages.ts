import type { ChannelProvider, Log, Problem } from '../contract.ts';
import { describeError } from '../errors.ts';
import { type CallHook, createHookCaller } from '../hooks.ts';
import { type ExtensionRecord, provides } from './extension-record.ts';

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

export class Messages {
  readonly callHook: CallHook;
  readonly #options: MessageOptions;
  readonly #problems = new Map<string, Problem>();
  #outbox: string[] = [];

  constructor(options: MessageOptions) {
    this.#options = options;
    this.callHook = createHookCaller(options.rootDir, (problem) => this.report(problem));
  }

  /** A new problem is also sent to the person, except while the kernel starts. */
  readonly report = (problem: Problem): void => {
    const key = `${problem.code} ${problem.file} ${problem.line} ${problem.message}`;
    const isRepeated = this.#problems.has(key);
    this.#problems.set(key, problem);
    if (this.#options.phase() !== 'starting' && !isRepeated) this.notifyUser(problemLine(problem));
  };

  readonly problems = (): readonly Problem[] => [...this.#problems.values()];

  forgetProblems(): void {
    this.#problems.clear();
  }

  readonly log = (entry: LogEntry): void => {
    this.callHook('onLog', () => this.#options.onLog?.(entry));
  };

  /** When no channel runs, keeps the message until one does. */
  readonly notifyUser = (text: string): void => {
    const { phase, running } = this.#options;
    const channels = running().filter(({ instance }) => isChannel(instance));
    if (channels.length === 0 || phase() !== 'running') this.#outbox.push(text);
    else for (const channel of channels) void this.#send(channel, text);
  };

  deliver(): void {
    this.#outbox.splice(0).forEach(this.notifyUser);
  }

  readonly undelivered = (): readonly string[] => [...this.#outbox];

  async #send({ instance, found }: ExtensionRecord, text: string): Promise<void> {
    try {
      if (isChannel(instance)) await instance.sendMessage(text);
    } catch (error) {
      this.log({ level: 'error', extensionId: found.manifest.id, message: describeError(error) });
    }
  }
}

export function problemLine({ severity, file, line, message }: Problem): string {
  return `${severity}: ${file}${line ? `:${line}` : ''}: ${message}`;
}

// --- internal ---

function isChannel(value: unknown): value is ChannelProvider {
  return provides<ChannelProvider>(value, 'sendMessage', 'sendToUser');
}
