import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContextProvider, Extension, ExtensionContext, TurnContext } from 'skill-registry/kernel';
import { z } from 'skill-registry/kernel';

// CHANGE together with `config` in manifest.yaml.
const Config = z.strictObject({ max_characters: z.int().min(1) });

// CHANGE the class name here and in `entrypoint`.
export class ExampleContext implements Extension, ContextProvider {
  // CHANGE: lower stands earlier in the system text. The skill catalog has 60.
  readonly contextPriority = 100;
  #file = '';
  #maxCharacters = 0;

  async initialize(context: ExtensionContext): Promise<void> {
    const config = Config.safeParse(context.config);
    if (!config.success) throw new Error(`config: ${z.prettifyError(config.error)}`);
    this.#maxCharacters = config.data.max_characters;
    this.#file = join(context.dataDir, 'notes.md');
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  // Has 2 seconds. What is slow to get belongs into runBackground, which keeps it ready for this method.
  async getContext(_prompt: string, turn: TurnContext): Promise<string | null> {
    // CHANGE: who is to be told. Null: nothing to say, and no empty block.
    if (turn.agentId === 'builder_agent') return null;
    const notes = (await readIfExists(this.#file))?.trim();
    return notes ? `[Notes]\n${notes.slice(0, this.#maxCharacters)}` : null;
  }
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    // Reported with this extension's id; the turn goes on without its text.
    throw error;
  }
}
