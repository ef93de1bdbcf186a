import { wrapWords } from '../../lib/text/index.ts';
import type {
  AgentDescriptor,
  Command,
  CommandResult,
  ContextPart,
  ExtensionStatus,
  KernelApi,
  TurnContext,
} from '../contract.ts';
import { commandFailed, commandNotFound, isCodedError } from '../errors.ts';

/** `extensionId` is `kernel` for the base commands. */
export interface NamedCommand {
  readonly extensionId: string;
  readonly command: Command;
}

export interface CommandTable {
  readonly commands: readonly NamedCommand[];
  /** Also by alias. */
  readonly byName: ReadonlyMap<string, NamedCommand>;
  readonly shadowed: readonly { readonly extensionId: string; readonly name: string; readonly winner: string }[];
}

/**
 * Of equal names the base command wins, then the first extension; names win over aliases. Lost aliases of hidden
 * commands are not reported: each skill may have one.
 */
export function commandTable(base: readonly Command[], contributed: readonly NamedCommand[]): CommandTable {
  const winners = new Map<string, NamedCommand>(
    base.map((command) => [command.name, { extensionId: 'kernel', command }]),
  );
  const shadowed: { extensionId: string; name: string; winner: string }[] = [];
  for (const named of contributed) {
    const earlier = winners.get(named.command.name);
    if (earlier)
      shadowed.push({ extensionId: named.extensionId, name: named.command.name, winner: earlier.extensionId });
    else winners.set(named.command.name, named);
  }
  const commands = [...winners.values()];
  for (const named of commands) {
    for (const alias of aliasesOf(named.command)) {
      const earlier = winners.get(alias);
      if (!earlier) winners.set(alias, named);
      else if (earlier !== named && !named.command.hidden) {
        shadowed.push({ extensionId: named.extensionId, name: alias, winner: earlier.extensionId });
      }
    }
  }
  return { commands, byName: winners, shadowed };
}

/** @param line - `/name args`. The longest matching name is used, because an id may contain blanks. */
export async function runCommandLine(
  line: string,
  { byName }: CommandTable,
  turn: TurnContext,
): Promise<CommandResult> {
  const text = line.trim().replace(/^\//, '');
  const [found] = [...byName]
    .filter(([name]) => text === name || (/^\s/.test(text.slice(name.length)) && text.startsWith(name)))
    .sort(([a], [b]) => b.length - a.length);
  if (!found) throw commandNotFound(/^\S*/.exec(text)?.[0] ?? '', byName.keys());
  const [name, named] = found;
  try {
    const result: unknown = await named.command.execute(text.slice(name.length).trim(), turn);
    if (isCommandResult(result)) return result;
  } catch (error) {
    if (isCodedError(error)) throw error;
    throw commandFailed(name, named.extensionId, error);
  }
  throw commandFailed(name, named.extensionId, new Error('it returned no CommandResult ({ kind: ... })'));
}

export function baseCommands(kernel: KernelApi, defaultAgent: () => string | undefined): readonly Command[] {
  const print = (text: string): CommandResult => ({ kind: 'print', text });
  return [
    {
      name: 'help',
      aliases: ['?'],
      description: 'This list',
      async execute() {
        const atWidth = (columns?: number): string => helpText(kernel.commands(), columns);
        return { kind: 'print', text: atWidth(), atWidth };
      },
    },
    {
      name: 'context',
      usage: '<text>',
      description: 'The system text a turn with this text would carry, part by part',
      async execute(args, turn) {
        const agentId = turn.agentId ?? defaultAgent();
        if (!agentId) return print('There is no agent to show the context of.');
        return print(contextText(await kernel.describeTurn(agentId, args, turn)));
      },
    },
    {
      name: 'tools',
      description: 'The tools agents can be given',
      execute: async () => print(kernel.tools().map(toolLine).join('\n') || 'No tools.'),
    },
    {
      name: 'agents',
      usage: '[id]',
      description: 'The agents; with an id, speak to that one from now on',
      choices: kernel.agents().map(({ id }) => id),
      async execute(args) {
        const agents = kernel.agents();
        if (args === '') return print(agents.map(agentLine).join('\n') || 'No agents.');
        if (agents.some((agent) => agent.id === args)) return { kind: 'agent', agentId: args };
        return print(`No agent "${args}". Agents: ${agents.map((agent) => agent.id).join(', ') || 'none'}.`);
      },
    },
    {
      name: 'extensions',
      description: 'The extensions, their state, and why one is not running',
      execute: async () => print(kernel.extensions().map(extensionLine).join('\n')),
    },
    { name: 'new', description: 'Forget this conversation', execute: async () => ({ kind: 'new' }) },
    { name: 'quit', aliases: ['exit'], description: 'Leave', execute: async () => ({ kind: 'quit' }) },
  ];
}

/** Without invalid ones: an extension may return anything. */
export function aliasesOf({ aliases }: Command): readonly string[] {
  return Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === 'string' && /^\S/.test(alias)) : [];
}

// --- internal ---

const KINDS: Readonly<Record<CommandResult['kind'], true>> = {
  print: true,
  send: true,
  new: true,
  agent: true,
  quit: true,
};

function isCommandResult(value: unknown): value is CommandResult {
  return Object.hasOwn(KINDS, String((value as Partial<CommandResult> | null | undefined)?.kind));
}

const LEAST_DESCRIPTION = 30;

function helpText(commands: readonly Command[], columns: number = Number.POSITIVE_INFINITY): string {
  const rows = commands
    .filter((command) => !command.hidden)
    .map((command) => {
      const names = [command.name, ...aliasesOf(command)].map((one) => `/${one}`);
      const { usage, description } = command;
      return { left: `${names.join(', ')}${usage ? ` ${usage}` : ''}`, description };
    });
  const width = Math.max(...rows.map((row) => row.left.length));
  const room = columns - width - 4;
  const lines = rows.map(({ left, description }) =>
    room < LEAST_DESCRIPTION
      ? `  ${left}\n      ${description}`
      : `  ${left.padEnd(width)}  ${wrapWords(description, room).replaceAll('\n', `\n${' '.repeat(width + 4)}`)}`,
  );
  return [...lines, '', 'Anything else is said to the agent.'].join('\n');
}

function contextText(parts: readonly ContextPart[]): string {
  const total = parts.reduce((sum, part) => sum + part.tokens, 0);
  const shown = parts.map(({ source, text, tokens }) => `=== ${source} (${tokens} tokens) ===\n${text}`);
  return [...shown, `=== ${parts.length} parts, ${total} tokens, joined by a line of three hyphens ===`].join('\n\n');
}

function toolLine({ extensionId, tool }: ReturnType<KernelApi['tools']>[number]): string {
  return `  ${tool.name}  (${extensionId})  ${tool.description.split('\n')[0]}`;
}

function extensionLine({ id, state, healthy, reason }: ExtensionStatus): string {
  const unhealthy = state === 'RUNNING' && !healthy ? ' (unhealthy)' : '';
  return `  ${id}  ${state}${unhealthy}${reason ? `  ${reason}` : ''}`;
}

function agentLine({ id, integrationMode, description, usesSkills }: AgentDescriptor): string {
  const skills = usesSkills ? `  skills: ${usesSkills.join(', ') || 'none'}` : '';
  return `  ${id}  (${integrationMode})  ${description}${skills}`;
}
