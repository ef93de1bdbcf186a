import { userInfo } from 'node:os';
import {
  type Extension,
  type ExtensionContext,
  type ServiceProvider,
  type TurnContext,
  z,
} from 'skill-registry/kernel';
import { isHeldInRoot, isOwnCheckout } from '../../kernel/host.ts';
import { invalidArgument } from '../../lib/forms/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { aborted } from '../../lib/waiting/index.ts';
import type { SkillRegistryExtension } from '../skill_registry/api.ts';
import { type ReviewServing, serveReview } from './server.ts';

export class SkillReviewMain implements Extension, ServiceProvider {
  #context: ExtensionContext | undefined;
  #port = 0;
  #serving: ReviewServing | undefined;

  async initialize(context: ExtensionContext): Promise<void> {
    this.#context = context;
    this.#port = readConfig(context.config).port;
  }

  async start(): Promise<void> {}

  /** If the port is taken, the kernel starts this again later. */
  async runBackground(signal: AbortSignal): Promise<void> {
    const context = this.#context as ExtensionContext;
    const { registry } = context.getExtension<SkillRegistryExtension>('skill_registry');
    try {
      this.#serving = await serveReview({
        registry,
        root: context.rootDir,
        isTrusted: () => isApproved(context.rootDir),
        isHeldReadable: () => isApproved(context.rootDir) || isHeldInRoot(context.rootDir),
        by: `person:${userInfo().username}`,
        agents: async () => [...context.kernel.agents().map(turnOf), ...registry.admin.agents()],
        port: this.#port,
        onError: (error) => context.log.debug(error.message),
      });
      context.notifyUser(`Review page: ${this.#serving.url}`);
      await aborted(signal);
    } finally {
      await this.#serving?.close();
      this.#serving = undefined;
    }
  }

  async stop(): Promise<void> {
    await this.#serving?.close();
  }

  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return this.#serving !== undefined;
  }
}

// --- internal ---

function isApproved(root: string): boolean {
  return isOwnCheckout(root) || openTrust().allows('root', root);
}

function turnOf({ id, usesSkills }: ReturnType<ExtensionContext['kernel']['agents']>[number]): TurnContext {
  return { agentId: id, ...(usesSkills ? { boundSkills: usesSkills } : {}) };
}

const schema = z.strictObject({ port: z.int().min(0).max(65_535) });

/** The manifest has the defaults. @throws INVALID_ARGUMENT naming the key */
function readConfig(config: Readonly<Record<string, unknown>>): { readonly port: number } {
  const parsed = schema.safeParse(config);
  if (parsed.success) return parsed.data;
  throw invalidArgument(`The config of skill_review is wrong: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
}
