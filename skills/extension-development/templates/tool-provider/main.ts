import {
  defineTool,
  type Extension,
  type ExtensionContext,
  type Tool,
  type ToolProvider,
  toolError,
  z,
} from 'skill-registry/kernel';

// CHANGE together with `config` in manifest.yaml.
const Config = z.strictObject({ max_characters: z.int().min(1) });

// CHANGE the class name here and in `entrypoint`.
export class ExampleTool implements Extension, ToolProvider {
  #tools: readonly Tool[] = [];

  async initialize(context: ExtensionContext): Promise<void> {
    const config = Config.safeParse(context.config);
    // The owner may have overridden it: what is thrown here is what they read.
    if (!config.success) throw new Error(`config: ${z.prettifyError(config.error)}`);
    this.#tools = [countWords(config.data.max_characters)];
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  // Not async, and cheap: asked anew for every turn.
  getTools(): readonly Tool[] {
    return this.#tools;
  }
}

function countWords(maxCharacters: number): Tool {
  return defineTool({
    // CHANGE: unique among all extensions, lowercase letters, digits and _.
    name: 'example_count_words',
    // CHANGE: for the model; what it does and when to use it.
    description: 'Counts the words of a text. Use it instead of counting them yourself.',
    // CHANGE: only types that JSON has; describe every field.
    input: z.strictObject({ text: z.string().describe('The text, as it stands.') }),
    // With slow work take the second argument too, `{ turn, signal }`, and hand `signal` on: fetch(url, { signal }).
    async execute({ text }) {
      if (text.length > maxCharacters)
        return toolError('TEXT_TOO_LONG', `The text has ${text.length} characters; send at most ${maxCharacters}.`);
      return { success: true, words: text.split(/\s+/).filter(Boolean).length };
    },
  });
}
