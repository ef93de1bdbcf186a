import { join } from 'node:path';
import {
  type Command,
  type CommandProvider,
  type ContextProvider,
  type Extension,
  type ExtensionContext,
  isCodedError,
  type ServiceProvider,
  type SkillProvider,
  type Tool,
  type ToolProvider,
  type TurnContext,
  type UntrustedConfig,
} from 'skill-registry/kernel';
import { packageRoot } from '../../kernel/host.ts';
import { readContained } from '../../lib/files/index.ts';
import { toWire, withNote } from '../../lib/text/index.ts';
import type { SkillRegistry, SkillRegistryExtension } from './api.ts';
import { skillCommands } from './commands.ts';
import { configOfUntrustedRoot } from './config/untrusted-config.ts';
import { arrivalText } from './proposals-command.ts';
import { createSkillRegistry } from './registry.ts';
import { isWithoutSkills } from './show/scope.ts';
import { bodyOf } from './skill/frontmatter.ts';

/** The registry as an extension. Wiring only: what it does is in registry.ts. */
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
  #registry: SkillRegistry | undefined;
  /** The look that a new conversation begins with; its first turn waits for it. */
  #looking: Promise<unknown> | undefined;

  get registry(): SkillRegistry {
    if (!this.#registry) throw new Error('skill_registry is not initialized');
    return this.#registry;
  }

  configOfUntrustedRoot(
    values: Readonly<Record<string, unknown>>,
    rootDir: string,
  ): ReturnType<UntrustedConfig['configOfUntrustedRoot']> {
    return configOfUntrustedRoot(values, rootDir);
  }

  async initialize(context: ExtensionContext): Promise<void> {
    this.#registry = await createSkillRegistry({
      root: context.rootDir,
      config: context.config,
      trust: context.trusted,
      getSecret: context.getSecret,
      onProgress: (line) => context.log.info(line),
      onSkillLoaded: ({ durationSeconds, ...event }) =>
        context.events.emit('skill_loaded', { ...toWire(event), duration_s: durationSeconds }),
      onProblem: ({ severity, file, message }) => context.notifyUser(`${severity}: ${file}: ${message}`),
    });
    this.#registry.onChange((ids, { version }) => context.events.emit('skills_changed', { ids, version }));
    this.#registry.proposals.onArrival((proposal) => {
      const { id, kind, skillId: skill_id, path, author, file } = proposal;
      context.events.emit('proposal_created', { id, kind, skill_id, path, author, file });
      context.notifyUser(arrivalText(proposal));
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
    return this.registry.tools();
  }

  async getContext(prompt: string, turn: TurnContext): Promise<string | null> {
    await this.#looking?.catch(() => undefined);
    return this.registry.context(prompt, turn);
  }

  runBackground(signal: AbortSignal): Promise<void> {
    return this.registry.watch(signal);
  }

  async getSkillContent(skillId: string, turn: TurnContext = {}): Promise<string> {
    if (isWithoutSkills(this.registry.snapshot(), turn)) return '';
    try {
      const { content, hiddenLeftOut: leftOut = 0 } = await this.registry.read(skillId, { audience: 'binding' });
      return withNote({ text: content, leftOut });
    } catch (error) {
      const body = isCodedError(error, 'SKILL_NOT_FOUND') ? shippedBody(skillId) : undefined;
      if (body === undefined) throw error;
      return body;
    }
  }

  onSkillsChanged(listener: (ids: readonly string[]) => void): () => void {
    return this.registry.onChange(listener);
  }

  getCommands(): readonly Command[] {
    return skillCommands(this.registry);
  }
}

// --- internal ---

/** The built-in agents find theirs whatever the sources are. */
function shippedBody(skillId: string): string | undefined {
  if (!/^[a-z0-9-]+$/.test(skillId)) return undefined;
  try {
    const file = readContained(join(packageRoot(), 'skills'), `${skillId}/SKILL.md`, MAX_SHIPPED_BYTES);
    return bodyOf(file.toString('utf8'));
  } catch {
    return undefined;
  }
}

const MAX_SHIPPED_BYTES = 1_048_576;
