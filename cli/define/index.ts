import { type Command, InvalidArgumentError } from 'commander';
import type { NewOptions } from '../commands/init-new.ts';
import type { McpOptions } from '../commands/mcp.ts';
import type { ReviewPageOptions } from '../commands/review.ts';
import {
  type ConfirmedOptions,
  collect,
  type ExitStatus,
  type GlobalOptions,
  type MakeCommand,
  SHELLS,
  type Terminal,
} from '../terminal.ts';
import { addCatalogCommands, addPathCommands } from './catalog.ts';
import { addProposalCommands, addRevisionCommands } from './changes.ts';
import { addOriginCommands } from './origin.ts';
import { addTrustCommands } from './trust.ts';

/** Names, arguments and options of all commands except `start`. The code of a command is loaded when it is called. */
export function addCommands(
  make: MakeCommand,
  program: Command,
  done: (status: ExitStatus) => void,
  terminal: Terminal,
): void {
  program.commandsGroup('Skills of a root:');
  addCatalogCommands(make, done, terminal);
  program.commandsGroup('Skills in folders:');
  addPathCommands(make, done, terminal);
  program.commandsGroup('Changes and their history:');
  addProposalCommands(make, done, terminal);
  addRevisionCommands(make, done, terminal);
  program.commandsGroup('Skills from elsewhere, and for others:');
  addOriginCommands(make, done, terminal);
  program.commandsGroup('Approvals:');
  addTrustCommands(make, done, terminal);
  program.commandsGroup('Servers and setup:');
  make('mcp', 'serve the skills over MCP: on standard input and output, or HTTP', 'skill-registry mcp --http 7337')
    .option('--http <port>', 'listen on this HTTP port (0: any free one); the address is printed', readPort)
    .option(
      '--host <host>',
      'with --http: the address to listen on (default: 127.0.0.1); others need a token in SKILL_MCP_TOKEN',
    )
    .option('--allow-host <name>', 'with --http: another host name for clients; repeatable', collect)
    .option('--agent <id>', 'serve only the skills this agent is bound to, and take its proposals')
    .option('--workflow <pack[:state]>', 'serve only the skills of this state of a prompt pack’s workflow')
    .action(async (options: McpOptions) => done(await (await import('../commands/mcp.ts')).mcp(options, terminal)));
  make(
    'review',
    'open a page for your browser where you see what waits, and decide; its address is printed',
    'skill-registry review',
  )
    .option('--port <port>', 'listen on this port of 127.0.0.1 (0: any free one)', readPort, 0)
    .option('--as <name>', 'who decides (default: whoever is logged in)')
    .action(async (options: ReviewPageOptions) =>
      done(await (await import('../commands/review.ts')).review(options, terminal)),
    );
  make(
    'init',
    'make this folder a root: a config for the agents of this machine, skills/, and its approval',
    'skill-registry init',
  )
    .option('--yes', 'show what is written and do not ask')
    .option('--reason <text>', 'why the root is approved; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (options: GlobalOptions & ConfirmedOptions) =>
      done(await (await import('../commands/init-new.ts')).init(options, terminal)),
    );
  make('new', 'start a skill: a valid SKILL.md to fill in', 'skill-registry new brew-tea --description "How to ..."')
    .argument('<id>', 'lowercase letters, digits and single hyphens; also the name of its folder')
    .option('--description <text>', 'what it does, and when to use it')
    .action(async (id: string, options: NewOptions) =>
      done((await import('../commands/init-new.ts')).createSkill(id, options, terminal)),
    );
  make('completion', 'a completion script for bash or zsh', 'source <(skill-registry completion bash)')
    .argument('<shell>', SHELLS.join(', '))
    .action(async (shell: string, options: GlobalOptions) =>
      done(await (await import('../commands/completion.ts')).completion(shell, program, options, terminal)),
    );
}

// --- internal ---

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is 0 to 65535.');
}
