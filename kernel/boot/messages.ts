import type { Log, Problem } from '../contract.ts';
import { describeError } from '../errors.ts';
import { type CallHook, createHookCaller } from '../hooks.ts';
import { type ExtensionRecord, isChannelProvider } from './extension-record.ts';

/** One line an extension logged. */
export interface LogEntry {
  readonly level: keyof Log;
  readonly extensionId: string;
  readonly message: string;
}

/** Everything the kernel reports: problems, the log, and messages for the person at a channel. */
export interface Messages {
  /** Adds a problem to the list. A new one is also sent to the person, except while the kernel starts. */
  report(problem: Problem): void;
  problems(): readonly Problem[];
  forgetProblems(): void;
  log(entry: LogEntry): void;
  /** Sends a message to every running channel; it is kept until there is one. */
  notifyUser(text: string): void;
  /** Sends the messages that were kept. */
  deliver(): void;
  undelivered(): readonly string[];
  readonly callHook: CallHook;
}

export interface MessageOptions {
  readonly rootDir: string;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  running(): readonly ExtensionRecord[];
  phase(): 'starting' | 'running' | 'stopped';
}

export function createMessages({ rootDir, onLog, running, phase }: MessageOptions): Messages {
  const problems = new Map<string, Problem>();
  let outbox: string[] = [];
  const messages: Messages = {
    report(problem) {
      const key = `${problem.code} ${problem.file} ${problem.line} ${problem.message}`;
      const isRepeated = problems.has(key);
      problems.set(key, problem);
      // After the start the person gets the list of all problems.
      if (phase() !== 'starting' && !isRepeated) messages.notifyUser(problemLine(problem));
    },
    problems: () => [...problems.values()],
    forgetProblems: () => problems.clear(),
    log: (entry) => void messages.callHook('onLog', () => onLog?.(entry)),
    notifyUser(text) {
      const channels = running().filter(({ instance }) => isChannelProvider(instance));
      if (channels.length === 0 || phase() !== 'running') outbox.push(text);
      else for (const channel of channels) void send(channel, text, messages.log);
    },
    deliver() {
      const kept = outbox;
      outbox = [];
      kept.forEach(messages.notifyUser);
    },
    undelivered: () => [...outbox],
    callHook: createHookCaller(rootDir, (problem) => messages.report(problem)),
  };
  return messages;
}

/** A problem as one line for the person. */
export function problemLine({ severity, file, line, message }: Problem): string {
  return `${severity}: ${file}${line ? `:${line}` : ''}: ${message}`;
}

// --- internal ---

/** Never rejects: a channel that cannot send is named in the log. */
async function send({ instance, found }: ExtensionRecord, text: string, log: Messages['log']): Promise<void> {
  try {
    if (isChannelProvider(instance)) await instance.sendMessage(text);
  } catch (error) {
    log({ level: 'error', extensionId: found.manifest.id, message: describeError(error) });
  }
}
