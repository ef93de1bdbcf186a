import type { ApproveExtensionOptions } from '../commands/extensions.ts';
import type { ExitStatus, GlobalOptions, MakeCommand, Terminal } from '../terminal.ts';

/** Commands about code that a person has to approve. */
export function addTrustCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  const trust = make(
    'trust',
    'roots whose extensions, packages, addresses and .env take effect: list, allow, revoke',
    'skill-registry trust allow .',
  );
  make('list', 'the roots that you have allowed or revoked', 'skill-registry trust list --json', trust).action(
    async (options: GlobalOptions) => done(await (await import('../commands/trust.ts')).listTrust(options, terminal)),
  );
  make(
    'allow',
    'approve a root: its code and settings take effect from now on',
    'skill-registry trust allow ~/my-agents',
    trust,
  )
    .argument('[root]', 'its folder (default: the root of this command)')
    .action(async (root: string | undefined, options: GlobalOptions) =>
      done(await (await import('../commands/trust.ts')).decideTrust('allow', root, options, terminal)),
    );
  make('revoke', 'end the approval of a root', 'skill-registry trust revoke ~/my-agents', trust)
    .argument('[root]', 'its folder (default: the root of this command)')
    .action(async (root: string | undefined, options: GlobalOptions) =>
      done(await (await import('../commands/trust.ts')).decideTrust('revoke', root, options, terminal)),
    );

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
  make('show', 'what agents wrote of one, as a difference', 'skill-registry extensions show my_tool', extensions)
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
    .option('--digest <digest>', 'of the difference that show printed; without it you are asked at the terminal')
    .action(async (id: string, options: GlobalOptions & ApproveExtensionOptions) =>
      done(await (await import('../commands/extensions.ts')).approve(id, options, terminal)),
    );
  make(
    'revoke',
    'delete what waits; if nothing waits, move the extension out of extensions/',
    'skill-registry extensions revoke my_tool',
    extensions,
  )
    .argument('<name>', name)
    .action(async (id: string, options: GlobalOptions) =>
      done(await (await import('../commands/extensions.ts')).revoke(id, options, terminal)),
    );
}
