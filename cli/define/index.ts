import type { Command } from 'commander';
import { BY, type Make } from '../../extensions/skill_registry/core/command-line.ts';
import { collect } from '../../lib/command-line/index.ts';
import { addCatalogCommands } from './catalog.ts';
import { from } from './shared.ts';
import { addTrustCommands } from './trust.ts';

/** @param added - Adds to a command the options that features have for it. */
export function addCommands(make: Make, added: (command: Command) => Command): void {
  const port = from(0, 65_535, 'A port is 0 to 65535.');
  make(['Agents:', 1], 'start', '$ --root .', 'start', () => import('../commands/start.ts'))
    .description('talk at this terminal to an agent that has the skills')
    .option('--enable <id>', 'also start an extension that is off by default, such as skill_mcp; repeatable', collect);
  addCatalogCommands(make, added);
  addTrustCommands(make);
  added(
    make(['Servers and setup:', 1], 'mcp', '$ --http 7337', 'mcp', () => import('../commands/mcp.ts'))
      .description('serve the skills over MCP: on standard input and output, or HTTP')
      .option('--http <port>', 'listen on this HTTP port (0: any free one); the address is printed', port)
      .option(
        '--host <host>',
        'with --http: the address to listen on (default: 127.0.0.1); others need a token in SKILL_MCP_TOKEN',
      )
      .option('--allow-host <name>', 'with --http: another host name for clients; repeatable', collect)
      .option('--agent <id>', 'serve only the skills this agent is bound to, and take its proposals'),
  );
  make(['Servers and setup:', 2], 'review', '$', 'review', () => import('../commands/review.ts'))
    .description('open a page for your browser where you see what waits, and decide; its address is printed')
    .option('--port <port>', 'listen on this port of 127.0.0.1 (0: any free one)', port, 0)
    .option('--as <name>', BY[1]);
  make(['Servers and setup:', 3], 'init', '$', 'init', () => import('../commands/init-new.ts'))
    .description('make this folder a root: a config for the agents of this machine, skills/, and its approval')
    .option('--yes', 'show what is written and do not ask')
    .option('--reason <text>', 'why the root is approved; recorded with the decision')
    .option(...BY);
  make(
    ['Servers and setup:', 5],
    'completion',
    'source <($ bash)',
    'completion',
    () => import('../commands/completion.ts'),
  )
    .description('a completion script for bash or zsh')
    .argument('<shell>', 'bash, zsh');
}
