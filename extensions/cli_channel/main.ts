import type { ChannelProvider, Extension, ExtensionContext, KernelApi, ServiceProvider } from 'skill-registry/kernel';
import { describeError } from 'skill-registry/kernel';
import { forTerminal, printable, type TerminalWindow } from '../../lib/text/index.ts';
import type { SkillRegistryExtension } from '../skill_registry/api.ts';
import { greeting } from './greeting.ts';
import { LineReader } from './line-reader.ts';
import { Session } from './session.ts';

/** A reload starts the extension again in the same kernel and must not repeat the greeting. */
const greeted = new WeakSet<KernelApi>();
/** It keeps the lines that a reload has left unread. */
let standardInput: LineReader | undefined;

export class CliChannel implements Extension, ChannelProvider, ServiceProvider {
  #context: ExtensionContext | undefined;
  #reader: LineReader | undefined;

  async initialize(context: ExtensionContext): Promise<void> {
    this.#context = context;
  }

  async start(): Promise<void> {
    standardInput ??= new LineReader(process.stdin, process.stdout);
    this.#reader = standardInput;
  }

  async stop(): Promise<void> {
    this.#reader?.pause();
  }

  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return process.stdout.writable;
  }

  async sendToUser(_userId: string, message: string): Promise<void> {
    await this.sendMessage(message);
  }

  async sendMessage(message: string): Promise<void> {
    process.stdout.write(`\n${shown(`! ${message}`)}\n`);
    this.#reader?.prompt();
  }

  async confirm(question: string, signal: AbortSignal): Promise<boolean | undefined> {
    const answer = await this.#reader?.ask(`\n${shown(question)} [y/N] `, signal);
    return answer === undefined ? undefined : /^y(es)?$/i.test(answer.trim());
  }

  async runBackground(signal: AbortSignal): Promise<void> {
    const { kernel, config, events } = this.#context as ExtensionContext;
    const reader = this.#reader as LineReader;
    const session = new Session({
      kernel,
      agentId: String(config.agent),
      write: (text) => process.stdout.write(text),
      print: (text) => process.stdout.write(`${shown(text)}\n`),
      columns: () => windowNow()?.columns,
      onNewConversation: () => events.emit('conversation_started', { channel_id: 'cli_channel' }),
      // A program that wrote the lines sees the failure in the exit status.
      onFailure() {
        if (!process.stdin.isTTY) process.exitCode = 1;
      },
    });
    reader.completer = (line) => session.complete(line);
    // Ctrl-C ends a running turn, else clears the typed line, else ends the session.
    reader.onInterrupt = () => {
      if (!session.cancel() && !reader.clearLine()) kernel.requestShutdown();
    };
    reader.onTyped = (line) => {
      if (line === null || line.trim() === '/quit') session.cancel();
    };
    signal.addEventListener('abort', () => session.cancel(), { once: true });
    await this.#greet();
    reader.resume();
    for (;;) {
      reader.prompt();
      const line = await reader.next(signal);
      if (signal.aborted) {
        if (line !== null) reader.unread(line);
        return;
      }
      if (line === null || !(await session.handle(line))) return kernel.requestShutdown();
    }
  }

  async #greet(): Promise<void> {
    const context = this.#context as ExtensionContext;
    const { kernel, getExtension, getSecret } = context;
    if (greeted.has(kernel)) return;
    greeted.add(kernel);
    const { registry } = getExtension<SkillRegistryExtension>('skill_registry');
    const modelReady = Boolean(getSecret('MODEL_BASE_URL') && getSecret('MODEL_NAME'));
    try {
      const text = await greeting(context, registry, modelReady, windowNow()?.columns);
      process.stdout.write(`${text}\n`);
    } catch (error) {
      process.stdout.write(`${shown(`The catalog cannot be shown: ${describeError(error)}`)}\n`);
    }
  }
}

// --- internal ---

function windowNow(): TerminalWindow | undefined {
  if (!process.stdout.isTTY) return undefined;
  // biome-ignore lint/style/noProcessEnv: NO_COLOR belongs to the terminal of this process, not to a root
  return { columns: process.stdout.columns || undefined, environment: process.env };
}

function shown(text: string): string {
  const window = windowNow();
  return window ? forTerminal(printable(text), window, true) : printable(text);
}
