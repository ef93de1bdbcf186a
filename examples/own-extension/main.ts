// An extension of your own: copy this folder to extensions/skill_counter of your project and start. No build.
import type { Command, CommandProvider, Extension, ExtensionContext } from 'skill-registry/kernel';

export class SkillCounter implements Extension, CommandProvider {
  readonly #counts = new Map<string, number>();

  async initialize(context: ExtensionContext): Promise<void> {
    context.events.subscribe('skill_loaded', (event) => {
      const { skill_id, outcome } = event as { skill_id: string; outcome: string };
      if (outcome === 'success') this.#counts.set(skill_id, (this.#counts.get(skill_id) ?? 0) + 1);
    });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  getCommands(): readonly Command[] {
    return [
      {
        name: 'skill_counts',
        description: 'How often each skill was loaded since the start',
        execute: async () => {
          const lines = [...this.#counts].map(([id, count]) => `${id}: ${count}`);
          return { kind: 'print', text: lines.join('\n') || 'No skill was loaded yet.' };
        },
      },
    ];
  }
}
