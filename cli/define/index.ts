import { type Command, InvalidArgumentError } from 'commander';
import { addCatalogCommands, addPathCommands } from './catalog.ts';
import { addProposalCommands, addRevisionCommands } from './changes.ts';
import { addOriginCommands } from './origin.ts';
import { BY, collect, type Make, type Run } from './shared.ts';
import { addTrustCommands } from './trust.ts';

export function addCommands(make: Make, run: Run, program: Command): void {
  program.commandsGroup('Agents:');
  make('start', 'skill-registry start --root .')
    .description('talk at this terminal to an agent that has the skills')
    .option('--enable <id>', 'also start an extension that is off by default, such as skill_mcp; repeatable', collect)
    .action(run('start', () => import('../commands/start.ts')));
  program.commandsGroup('Skills of a root:');
  addCatalogCommands(make, run);
  program.commandsGroup('Skills in folders:');
  addPathCommands(make, run);
  program.commandsGroup('Changes and their history:');
  addProposalCommands(make, run);
  addRevisionCommands(make, run);
  program.commandsGroup('Skills from elsewhere, and for others:');
  addOriginCommands(make, run);
  program.commandsGroup('Approvals:');
  addTrustCommands(make, run);
  program.commandsGroup('Servers and setup:');
  make('mcp', 'skill-registry mcp --http 7337')
    .description('serve the skills over MCP: on standard input and output, or HTTP')
    .option('--http <port>', 'listen on this HTTP port (0: any free one); the address is printed', readPort)
    .option(
      '--host <host>',
      'with --http: the address to listen on (default: 127.0.0.1); others need a token in SKILL_MCP_TOKEN',
    )
    .option('--allow-host <name>', 'with --http: another host name for clients; repeatable', collect)
    .option('--agent <id>', 'serve only the skills this agent is bound to, and take its proposals')
    .option('--workflow <pack[:state]>', 'serve only the skills of this state of a prompt pack’s workflow')
    .action(run('mcp', () => import('../commands/mcp.ts')));
  make('review', 'skill-registry review')
    .description('open a page for your browser where you see what waits, and decide; its address is printed')
    .option('--port <port>', 'listen on this port of 127.0.0.1 (0: any free one)', readPort, 0)
    .option('--as <name>', BY[1])
    .action(run('review', () => import('../commands/review.ts')));
  make('init', 'skill-registry init')
    .description('make this folder a root: a config for the agents of this machine, skills/, and its approval')
    .option('--yes', 'show what is written and do not ask')
    .option('--reason <text>', 'why the root is approved; recorded with the decision')
    .option(...BY)
    .action(run('init', () => import('../commands/init-new.ts')));
  make('new', 'skill-registry new brew-tea --description "How to ..."')
    .description('start a skill: a valid SKILL.md to fill in')
    .argument('<id>', 'lowercase letters, digits and single hyphens; also the name of its folder')
    .option('--description <text>', 'what it does, and when to use it')
    .action(run('createSkill', () => import('../commands/init-new.ts')));
  make('completion', 'source <(skill-registry completion bash)')
    .description('a completion script for bash or zsh')
    .argument('<shell>', 'bash, zsh')
    .action(run('completion', () => import('../commands/completion.ts')));
}

// --- internal ---

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is 0 to 65535.');
}
