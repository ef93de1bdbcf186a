import type {
  Command,
  CommandProvider,
  CommandResult,
  Extension,
  ExtensionContext,
  ExtensionStatus,
} from 'skill-registry/kernel';

// CHANGE the class name here and in `entrypoint`.
export class ExampleCommand implements Extension, CommandProvider {
  #context: ExtensionContext | undefined;

  async initialize(context: ExtensionContext): Promise<void> {
    this.#context = context;
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  async destroy(): Promise<void> {}

  healthCheck(): boolean {
    return true;
  }

  // Not async, and cheap: asked anew for every line a person types.
  getCommands(): readonly Command[] {
    const extensions = this.#context?.kernel.extensions() ?? [];
    return [
      {
        // CHANGE: without the slash, no spaces, unique. Names of the kernel such as help and tools are taken.
        name: 'example_status',
        usage: '[id]',
        description: 'The state of every extension, or of one',
        choices: extensions.map(({ id }) => id),
        // `args` is everything after the name, trimmed. The other kinds of result: send, new, agent, quit.
        async execute(args): Promise<CommandResult> {
          const wanted = extensions.filter(({ id }) => args === '' || id === args);
          if (wanted.length === 0) return { kind: 'print', text: `No extension "${args}".` };
          return { kind: 'print', text: wanted.map(lineOf).join('\n') };
        },
      },
    ];
  }
}

function lineOf({ id, state, healthy, reason }: ExtensionStatus): string {
  const unhealthy = state === 'RUNNING' && !healthy ? ', not healthy' : '';
  return `  ${id}: ${state}${unhealthy}${reason ? `, ${reason}` : ''}`;
}
