import type { Command } from 'commander';
import { addCatalogCommands, addPathCommands } from './catalog.ts';
import { addProposalCommands, addRevisionCommands } from './changes.ts';
import { addOriginCommands } from './origin.ts';
import { BY, collect, from, type Make } from './shared.ts';
import { addTrustCommands } from './trust.ts';

export function addCommands(make: Make, program: Command): void {
  const port = from(0, 65_535, 'A port is 0 to 65535.');
  program.commandsGroup('Agents:');
  make('start', '$ --root .', 'start', () => import('../commands/start.ts'))
    .description('talk at this terminal to an agent that has the skills')
    .option('--enable <id>', 'also start an extension that is off by default, such as skill_mcp; repeatable', collect);
  program.commandsGroup('Skills of a root:');
  addCatalogCommands(make);
  program.commandsGroup('Skills in folders:');
  addPathCommands(make);
  program.commandsGroup('Changes and their history:');
  addProposalCommands(make);
  addRevisionCommands(make);
  program.commandsGroup('Skills from elsewhere, and for others:');
  addOriginCommands(make);
  program.commandsGroup('Approvals:');
  addTrustCommands(make);
  program.commandsGroup('Servers and setup:');
  make('mcp', '$ --http 7337', 'mcp', () => import('../commands/mcp.ts'))
    .description('serve the skills over MCP: on standard input and output, or HTTP')
    .option('--http <port>', 'listen on this HTTP port (0: any free one); the address is printed', port)
    .option(
      '--host <host>',
      'with --http: the address to listen on (default: 127.0.0.1); others need a token in SKILL_MCP_TOKEN',
    )
    .option('--allow-host <name>', 'with --http: another host name for clients; repeatable', collect)
    .option('--agent <id>', 'serve only the skills this agent is bound to, and take its proposals')
    .option('--workflow <pack[:state]>', 'serve only the skills of this state of a prompt pack’s workflow');
  make('review', '$', 'review', () => import('../commands/review.ts'))
    .description('open a page for your browser where you see what waits, and decide; its address is printed')
    .option('--port <port>', 'listen on this port of 127.0.0.1 (0: any free one)', port, 0)
    .option('--as <name>', BY[1]);
  make('init', '$', 'init', () => import('../commands/init-new.ts'))
    .description('make this folder a root: a config for the agents of this machine, skills/, and its approval')
    .option('--yes', 'show what is written and do not ask')
    .option('--reason <text>', 'why the root is approved; recorded with the decision')
    .option(...BY);
  make('new', '$ brew-tea --description "How to ..."', 'createSkill', () => import('../commands/init-new.ts'))
    .description('start a skill: a valid SKILL.md to fill in')
    .argument('<id>', 'lowercase letters, digits and single hyphens; also the name of its folder')
    .option('--description <text>', 'what it does, and when to use it');
  make('completion', 'source <($ bash)', 'completion', () => import('../commands/completion.ts'))
    .description('a completion script for bash or zsh')
    .argument('<shell>', 'bash, zsh');
}
