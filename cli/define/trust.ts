import type { ApproveExtensionOptions } from '../commands/extensions.ts';
import type { TrustOptions } from '../commands/trust.ts';
import type { DecisionOptions, ExitStatus, GlobalOptions, MakeCommand, Terminal } from '../terminal.ts';

/** Commands about what a person has to approve. */
export function addTrustCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  const trust = make(
    'trust',
    'what you have allowed on this machine: roots, sources of skills, and skills that are held because of what was found in them',
    'skill-registry trust list',
  );
  make('list', 'your decisions, and what is held in the root', 'skill-registry trust list --json', trust).action(
    async (options: GlobalOptions) => done(await (await import('../commands/trust.ts')).listTrust(options, terminal)),
  );
  make(
    'show',
    'what was found in a skill, and why it is kept from agents (held); or who approved a source',
    'skill-registry trust show pdf-tools',
    trust,
  )
    .argument('<id>', 'id or qualified id of a skill, or a source')
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('../commands/trust.ts')).showTrust(id, options, terminal)),
    );
  const subject =
    'folder of a root, id of a skill, or source (owner/repo, an address, npm:name, "mcp:program arguments", a folder or file of the config); for a folder with the name of a skill write ./name (default: the root of this command)';
  const decide = (action: 'allow' | 'revoke') => async (given: string | undefined, options: TrustOptions) =>
    done(await (await import('../commands/trust.ts')).decideTrust(action, given, options, terminal));
  make(
    'allow',
    'approve a root: its code and settings take effect from now on; or a held skill, after its findings were shown',
    'skill-registry trust allow ~/my-agents',
    trust,
  )
    .argument('[what]', subject)
    .option(
      '--digest <digest>',
      'digest of the skill, as trust show prints it; without it you are asked at the terminal',
    )
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(decide('allow'));
  make(
    'revoke',
    'end the approval of a root, a skill or a source: nothing is taken from a revoked source',
    'skill-registry trust revoke ~/my-agents',
    trust,
  )
    .argument('[what]', subject)
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(decide('revoke'));

  const extensions = make(
    'extensions',
    'the extensions of the package and the root, and what agents wrote that waits: list, show, approve, revoke',
    'skill-registry extensions list',
  );
  const name = 'name of its folder in extensions/';
  make('list', 'all of them, and what waits', 'skill-registry extensions list --json', extensions).action(
    async (options: GlobalOptions) =>
      done(await (await import('../commands/extensions.ts')).listExtensions(options, terminal)),
  );
  make(
    'show',
    'what agents wrote for one extension, as a difference',
    'skill-registry extensions show my_tool',
    extensions,
  )
    .argument('<name>', name)
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('../commands/extensions.ts')).showExtension(id, options, terminal)),
    );
  make(
    'approve',
    'move what agents wrote to extensions/, after you have seen the difference',
    'skill-registry extensions approve my_tool',
    extensions,
  )
    .argument('<name>', name)
    .option(
      '--digest <digest>',
      'digest of the difference, as extensions show prints it; without it you are asked at the terminal',
    )
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (id: string, options: GlobalOptions & ApproveExtensionOptions) =>
      done(await (await import('../commands/extensions.ts')).approve(id, options, terminal)),
    );
  make(
    'revoke',
    'delete what waits; when nothing waits, move the extension to data/, where it does not run',
    'skill-registry extensions revoke my_tool',
    extensions,
  )
    .argument('<name>', name)
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (id: string, options: GlobalOptions & DecisionOptions) =>
      done(await (await import('../commands/extensions.ts')).revoke(id, options, terminal)),
    );
}
