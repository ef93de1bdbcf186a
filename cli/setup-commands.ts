import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { ApproveExtensionOptions } from './commands/extensions.ts';
import type { McpOptions } from './commands/mcp.ts';
import type { NewOptions } from './commands/new.ts';
import { collect, type ExitStatus, type GlobalOptions, type MakeCommand, SHELLS, type Terminal } from './terminal.ts';

/** `trust`, `extensions`, `mcp`, `new` and `completion`. What they do is loaded when one is called. */
export function addSetupCommands(
  make: MakeCommand,
  program: Command,
  done: (status: ExitStatus) => void,
  terminal: Terminal,
): void {
  addTrustCommands(make, done, terminal);
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

/** What a person lets run. */
function addTrustCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  const trust = make(
    'trust',
    'roots whose extensions, packages, addresses and .env may act: list, allow, revoke',
    'skill-registry trust allow .',
  );
  make('list', 'the roots you have decided about', 'skill-registry trust list --json', trust).action(
    async (options: GlobalOptions) => done(await (await import('./commands/trust.ts')).listTrust(options, terminal)),
  );
  make('allow', 'let a root act from now on', 'skill-registry trust allow ~/my-agents', trust)
    .argument('[root]', 'its folder (default: the root of this command)')
    .action(async (root: string | undefined, options: GlobalOptions) =>
      done(await (await import('./commands/trust.ts')).decideTrust('allow', root, options, terminal)),
    );
  make('revoke', 'treat a root as data again', 'skill-registry trust revoke ~/my-agents', trust)
    .argument('[root]', 'its folder (default: the root of this command)')
    .action(async (root: string | undefined, options: GlobalOptions) =>
      done(await (await import('./commands/trust.ts')).decideTrust('revoke', root, options, terminal)),
    );

  const extensions = make(
    'extensions',
    'the extensions of the package and the root, and what agents wrote that waits: list, show, approve, revoke',
    'skill-registry extensions list',
  );
  const name = 'name of its folder in extensions/';
  make('list', 'all of them, and what waits', 'skill-registry extensions list --json', extensions).action(
    async (options: GlobalOptions) =>
      done(await (await import('./commands/extensions.ts')).listExtensions(options, terminal)),
  );
  make('show', 'what agents wrote of one, as a difference', 'skill-registry extensions show my_tool', extensions)
    .argument('<name>', name)
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('./commands/extensions.ts')).showExtension(id, options, terminal)),
    );
  make(
    'approve',
    'put what agents wrote into effect, after you have seen the difference',
    'skill-registry extensions approve my_tool',
    extensions,
  )
    .argument('<name>', name)
    .option('--digest <digest>', 'of the difference that show printed; without it you are asked at the terminal')
    .action(async (id: string, options: GlobalOptions & ApproveExtensionOptions) =>
      done(await (await import('./commands/extensions.ts')).approve(id, options, terminal)),
    );
  make(
    'revoke',
    'throw away what waits; where nothing waits, take the extension out of extensions/',
    'skill-registry extensions revoke my_tool',
    extensions,
  )
    .argument('<name>', name)
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('./commands/extensions.ts')).revoke(id, options, terminal)),
    );
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is 0 to 65535.');
}
