import type { Extension, ExtensionContext, Tool, ToolProvider, TurnContext } from 'skill-registry/kernel';
import type { SkillRegistryExtension } from '../skill_registry/api.ts';
import { extensionStatusTool } from './extension-status.ts';
import { workspaceTools } from './tools.ts';

export class WorkspaceFiles implements Extension, ToolProvider {
  #tools: readonly Tool[] = [];

  async initialize(context: ExtensionContext): Promise<void> {
    const { registry } = context.getExtension<SkillRegistryExtension>('skill_registry');
    const maxBytes = Number(context.config.max_bytes);
    if (!Number.isInteger(maxBytes) || maxBytes < 1)
      throw new Error('config max_bytes must be a whole number of bytes');
    const { rootDir: root, trusted, kernel, events, requestRestart: restart } = context;
    const touched = (path: string, { threadId: thread_id, agentId: agent_id }: TurnContext): void =>
      events.emit('file_touched', { path, thread_id, agent_id });
    this.#tools = [
      ...workspaceTools({ root, trusted, maxBytes, registry, restart, touched }),
      extensionStatusTool(root, kernel),
    ];
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
