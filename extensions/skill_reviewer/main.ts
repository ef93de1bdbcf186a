import type { Extension, ExtensionContext, Tool, ToolProvider } from 'skill-registry/kernel';
import type { SkillRegistryExtension } from '../skill_registry/api.ts';
import { reviewTools } from './tools.ts';

export class SkillReviewer implements Extension, ToolProvider {
  #tools: readonly Tool[] = [];

  async initialize(context: ExtensionContext): Promise<void> {
    const { registry } = context.getExtension<SkillRegistryExtension>('skill_registry');
    const { decide } = context.config;
    if (typeof decide !== 'boolean') {
      throw new Error(
        `config decide must be true or false, got ${JSON.stringify(decide)}; correct data/${context.id}/config.yaml`,
      );
    }
    this.#tools = reviewTools(registry, context.id, decide);
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  getTools(): readonly Tool[] {
    return this.#tools;
  }
}
