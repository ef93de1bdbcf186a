import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { McpOptions } from './commands/mcp.ts';
import type { NewOptions } from './commands/new.ts';
import type { MakeCommand } from './history-commands.ts';
import { SHELLS } from './shells.ts';
import { collect, type ExitStatus, type GlobalOptions, type Terminal } from './terminal.ts';

/** `mcp`, `new` and `completion`. What they do is loaded when one is called. */
export function addSetupCommands(
  make: MakeCommand,
  program: Command,
  done: (status: ExitStatus) => void,
  terminal: Terminal,
): void {
  make('mcp', 'serve the skills over MCP: on standard input and output, or HTTP', 'skill-registry mcp --http 7337')
    .option('--http <port>', 'listen on this port instead (0: a free one); the address is printed', readPort)
    .option('--host <host>', 'listen here; off this machine SKILL_MCP_TOKEN has to be set', '127.0.0.1')
    .option('--allow-host <name>', 'with --http: another name it answers to; repeatable', collect)
    .option('--agent <id>', 'serve only the skills this agent is bound to')
    .action(async (options: McpOptions) => done(await (await import('./commands/mcp.ts')).mcp(options, terminal)));
  make('new', 'start a skill: a valid SKILL.md to fill in', 'skill-registry new brew-tea --description "How to ..."')
    .argument('<id>', 'lowercase letters, digits and single hyphens; also the name of its folder')
    .option('--description <text>', 'what it does, and when to use it')
    .action(async (id: string, options: NewOptions) =>
      done((await import('./commands/new.ts')).createSkill(id, options, terminal)),
    );
  make('completion', 'a completion script for bash, zsh or fish', 'source <(skill-registry completion bash)')
    .argument('<shell>', SHELLS.join(', '))
    .action(async (shell: string, options: GlobalOptions) =>
      done(await (await import('./commands/completion.ts')).completion(shell, program, options, terminal)),
    );
}

// --- internal ---

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is 0 to 65535.');
}
