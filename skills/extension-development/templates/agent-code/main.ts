import type {
  AgentDescriptor,
  AgentInvocationContext,
  AgentProvider,
  AgentResponse,
  Extension,
  ExtensionContext,
} from 'skill-registry/kernel';
import { z } from 'skill-registry/kernel';

// CHANGE together with `config` in manifest.yaml.
const Config = z.strictObject({ answers: z.record(z.string(), z.string()) });

// CHANGE the class name here and in `entrypoint`.
export class ExampleCodeAgent implements Extension, AgentProvider {
  #answers: Readonly<Record<string, string>> = {};

  async initialize(context: ExtensionContext): Promise<void> {
    const config = Config.safeParse(context.config);
    if (!config.success) throw new Error(`config: ${z.prettifyError(config.error)}`);
    this.#answers = config.data.answers;
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  // Not async, and must not throw: asked whenever agents are listed.
  getAgentDescriptor(): AgentDescriptor {
    return {
      // CHANGE: exactly the id in manifest.yaml.
      id: 'example_code_agent',
      name: 'Example Code Agent',
      // CHANGE: other agents decide by this text whether to hand it a task.
      description: 'Answers questions about opening hours and returns from a fixed list.',
      integrationMode: 'tool',
      usesTools: [],
    };
  }

  async invoke(task: string, context: AgentInvocationContext = {}): Promise<AgentResponse> {
    const cancelled = context.signal?.aborted ?? false;
    const text = cancelled ? '' : this.#answerTo(task);
    if (text) context.onText?.(text);
    const said = [
      { role: 'user', content: task },
      { role: 'assistant', content: text },
    ];
    return {
      text,
      stopped: cancelled ? 'cancelled' : 'done',
      usage: { inputTokens: 0, outputTokens: 0 },
      // What was said before stays in it; the caller hands it back the next time.
      conversation: [...(context.conversation ?? []), ...said],
    };
  }

  // CHANGE: the rule. With slow work hand `context.signal` on to it.
  #answerTo(task: string): string {
    const words = task.toLowerCase();
    const found = Object.entries(this.#answers).filter(([word]) => words.includes(word.toLowerCase()));
    if (found.length > 0) return found.map(([, answer]) => answer).join('\n');
    return `I can only answer about: ${Object.keys(this.#answers).join(', ')}.`;
  }
}
