import { join } from 'node:path';
import type {
  Command,
  CommandProvider,
  ContextProvider,
  Extension,
  ExtensionContext,
  ServiceProvider,
  SkillProvider,
  Tool,
  ToolProvider,
  TurnContext,
  UntrustedConfig,
} from 'skill-registry/kernel';
import { RecentMap } from '../../lib/recent-map/index.ts';
import { toWire } from '../../lib/text/index.ts';
import type { SkillRegistry, SkillRegistryExtension } from './api.ts';
import { skillCommands } from './commands.ts';
import { registryConfig } from './config.ts';
import type { InternalOptions } from './core/options.ts';
import type { SkillLoadedEvent } from './core/read/types.ts';
import { MAX_FILE_CHARACTERS, MAX_FILES } from './core/search/for-files.ts';
import { createSkillRegistry } from './registry.ts';

/** Only connects registry.ts with the kernel. */
export class SkillRegistryMain
  implements
    Extension,
    ToolProvider,
    ContextProvider,
    ServiceProvider,
    SkillProvider,
    CommandProvider,
    UntrustedConfig,
    SkillRegistryExtension
{
  readonly contextPriority = 60;
  readonly configOfUntrustedRoot: UntrustedConfig['configOfUntrustedRoot'] = registryConfig.ofUntrustedRoot;
  #registry: SkillRegistry | undefined;
  #tools: readonly Tool[] | undefined;
  /** Started with a conversation. The first turn waits for it. */
  #looking: Promise<unknown> | undefined;
  /** The last files that an agent has touched in a conversation. */
  readonly #touched = new RecentMap<string, readonly string[]>(MAX_CONVERSATIONS);

  get registry(): SkillRegistry {
    if (!this.#registry) throw new Error('skill_registry is not initialized');
    return this.#registry;
  }

  async initialize(context: ExtensionContext): Promise<void> {
    const options: InternalOptions = {
      root: context.rootDir,
      manifest: join(context.extensionDir, 'manifest.yaml'),
      config: context.config,
      trust: context.trusted,
      asksForSecrets: true,
      getSecret: context.getSecret,
      onProgress: (line) => context.log.info(line),
      onSkillLoaded: (event) => context.events.emit('skill_loaded', busEvent(event)),
      onProblem: ({ severity, file, line, message }) =>
        context.notifyUser(`${severity}: ${file}${line === undefined ? '' : `:${line}`}: ${message}`),
    };
    this.#registry = await createSkillRegistry(options);
    this.#registry.onChange((ids, { version }) => context.events.emit('skills_changed', { ids, version }));
    this.#registry.admin.connect(context);
    context.events.subscribe('file_touched', (payload) => {
      const { path, thread_id: threadId, agent_id: agentId } = payload as Readonly<Record<string, string>>;
      if (!path || path.length > MAX_FILE_CHARACTERS || threadId === undefined) return;
      const key = JSON.stringify([threadId, agentId]);
      this.#touched.set(key, [...new Set([...(this.#touched.get(key) ?? []), path])].slice(-MAX_TOUCHED));
    });
    context.events.subscribe('conversation_started', async () => {
      this.#looking = this.#registry?.refresh();
      await this.#looking;
    });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    await this.#registry?.close();
  }

  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return this.#registry !== undefined;
  }

  getTools(): readonly Tool[] {
    this.#tools ??= this.registry.tools(this.registry.admin.agentTools());
    return this.#tools;
  }

  async getContext(prompt: string, turn: TurnContext): Promise<string | null> {
    await this.#looking?.catch(() => undefined);
    const touched = this.#touched.get(JSON.stringify([turn.threadId, turn.agentId])) ?? [];
    const paths = [...(turn.paths ?? []), ...touched].slice(0, MAX_FILES);
    return this.registry.context(prompt, { ...turn, paths });
  }

  runBackground(signal: AbortSignal): Promise<void> {
    return this.registry.watch(signal);
  }

  async getSkillContent(skillId: string, turn: TurnContext = {}): Promise<string> {
    return this.registry.admin.boundText(skillId, turn);
  }

  onSkillsChanged(listener: (ids: readonly string[]) => void): () => void {
    return this.registry.onChange(listener);
  }

  getCommands(): readonly Command[] {
    return skillCommands(this.registry);
  }
}

// --- internal ---

const MAX_CONVERSATIONS = 1000;
const MAX_TOUCHED = 20;

/** `name`, `reference` and `script` are keys of the Bernstein design; the others are ours. */
function busEvent({ durationSeconds, ...event }: SkillLoadedEvent): Readonly<Record<string, unknown>> {
  const fileIn = (bucket: string): string | null =>
    event.path?.startsWith(`${bucket}/`) ? event.path.slice(bucket.length + 1) : null;
  const names = { name: event.skillId, reference: fileIn('references'), script: fileIn('scripts') };
  return { ...toWire(event), ...names, duration_s: durationSeconds };
}
