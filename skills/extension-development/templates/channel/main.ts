import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type {
  ChannelProvider,
  CommandResult,
  Conversation,
  Extension,
  ExtensionContext,
  ServiceProvider,
} from 'skill-registry/kernel';
import { describeError, z } from 'skill-registry/kernel';

// CHANGE together with `config` in manifest.yaml.
const Config = z.strictObject({ agent: z.string().min(1), poll_ms: z.int().min(10) });

// CHANGE the class name here and in `entrypoint`. This one serves a single person; with several, keep one Session for each.
export class ExampleChannel implements Extension, ChannelProvider, ServiceProvider {
  #context: ExtensionContext | undefined;
  #pollMs = 0;
  #session: Session = { agentId: '', threadId: '', conversation: [] };

  async initialize(context: ExtensionContext): Promise<void> {
    const config = Config.safeParse(context.config);
    if (!config.success) throw new Error(`config: ${z.prettifyError(config.error)}`);
    this.#context = context;
    this.#pollMs = config.data.poll_ms;
    this.#session = newSession(config.data.agent);
  }

  // CHANGE: connect. The kernel sends nothing before this.
  async start(): Promise<void> {
    await mkdir(this.#ready.dataDir, { recursive: true });
  }

  // CHANGE: disconnect. Called after a failed start too, so nothing here may rely on a connection.
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return this.#context !== undefined;
  }

  async sendToUser(_userId: string, message: string): Promise<void> {
    await this.sendMessage(message);
  }

  // CHANGE: deliver one message. The kernel calls it for notifyUser, too.
  async sendMessage(message: string): Promise<void> {
    await appendFile(join(this.#ready.dataDir, 'outbox.txt'), `${message}\n`);
  }

  async runBackground(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const line of await this.#receive()) await this.#handle(line, signal);
      await wait(this.#pollMs, undefined, { signal }).catch(() => undefined);
    }
  }

  // CHANGE: what has arrived. Whoever can write here gives orders to your agents: check who it is.
  async #receive(): Promise<readonly string[]> {
    const taken = join(this.#ready.dataDir, 'inbox.taken.txt');
    try {
      await rename(join(this.#ready.dataDir, 'inbox.txt'), taken);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    const lines = (await readFile(taken, 'utf8')).split('\n').map((line) => line.trim());
    await rm(taken);
    return lines.filter((line) => line !== '');
  }

  async #handle(line: string, signal: AbortSignal): Promise<void> {
    const { agentId, threadId } = this.#session;
    const turn = { agentId, channelId: this.#ready.id, threadId };
    try {
      if (line.startsWith('/')) await this.#follow(await this.#ready.kernel.runCommand(line, turn), signal);
      else await this.#say(line, signal);
    } catch (error) {
      await this.sendMessage(describeError(error));
    }
  }

  // A command only says what is to happen; doing it is the channel's part.
  async #follow(result: CommandResult, signal: AbortSignal): Promise<void> {
    switch (result.kind) {
      case 'print':
        return this.sendMessage(result.text);
      case 'send':
        return this.#say(result.message, signal);
      case 'new':
        this.#session = newSession(this.#session.agentId);
        return this.sendMessage('New conversation.');
      case 'agent':
        this.#session = newSession(result.agentId);
        return this.sendMessage(`You are speaking to ${result.agentId} now.`);
      case 'quit':
        return this.sendMessage('This channel stays open.');
    }
  }

  async #say(message: string, signal: AbortSignal): Promise<void> {
    const session = this.#session;
    const { agentId, threadId, conversation } = session;
    const turn = { agentId, channelId: this.#ready.id, threadId };
    const response = await this.#ready.kernel.invokeAgent(agentId, message, { turn, conversation, signal });
    session.conversation = response.conversation;
    const ending = response.stopped === 'done' ? '' : `\n[stopped: ${response.stopped}]`;
    await this.sendMessage(response.text + ending);
  }

  get #ready(): ExtensionContext {
    if (!this.#context) throw new Error('not initialized');
    return this.#context;
  }
}

interface Session {
  readonly agentId: string;
  readonly threadId: string;
  conversation: Conversation;
}

function newSession(agentId: string): Session {
  return { agentId, threadId: randomUUID(), conversation: [] };
}
