import { BY, type Make, REASON, withReason } from '../../extensions/skill_registry/core/command-line.ts';

export function addTrustCommands(make: Make): void {
  const trusting = () => import('../commands/trust.ts');
  const trust = make(['Approvals:', 1], 'trust', '$ list').description(
    'what you have allowed on this machine: roots, sources of skills, and skills that are held because of what was found in them',
  );
  const subject =
    'folder of a root, id of a skill, or source (owner/repo, an address, npm:name, "mcp:program arguments", a folder or file of the config); for a folder with the name of a skill write ./name (default: the root of this command)';
  make(trust, 'list', '$ --json', 'listTrust', trusting).description('your decisions, and what is held in the root');
  make(trust, 'show', '$ pdf-tools', 'showTrust', trusting)
    .description('what was found in a skill, and why it is kept from agents (held); or who approved a source')
    .argument('<id>', 'id or qualified id of a skill, or a source');
  make(trust, 'allow', '$ ~/my-agents', 'allow', trusting)
    .description(
      'approve a root: its code and settings take effect from now on; or a held skill, after its findings were shown',
    )
    .argument('[what]', subject)
    .option(
      '--digest <digest>',
      'digest of the skill, as trust show prints it; without it you are asked at the terminal',
    )
    .option(...REASON)
    .option(...BY);
  withReason(make(trust, 'revoke', '$ ~/my-agents', 'revoke', trusting))
    .description('end the approval of a root, a skill or a source: nothing is taken from a revoked source')
    .argument('[what]', subject);

  const extending = () => import('../commands/extensions.ts');
  const extensions = make(['Approvals:', 2], 'extensions', '$ list').description(
    'the extensions of the package and the root, and what agents wrote that waits: list, show, approve, revoke',
  );
  const name = 'name of its folder in extensions/';
  make(extensions, 'list', '$ --json', 'listExtensions', extending).description('all of them, and what waits');
  make(extensions, 'show', '$ my_tool', 'showExtension', extending)
    .description('what agents wrote for one extension, as a difference')
    .argument('<name>', name);
  make(extensions, 'approve', '$ my_tool', 'approve', extending)
    .description('move what agents wrote to extensions/, after you have seen the difference')
    .argument('<name>', name)
    .option(
      '--digest <digest>',
      'digest of the difference, as extensions show prints it; without it you are asked at the terminal',
    )
    .option(...REASON)
    .option(...BY);
  withReason(make(extensions, 'revoke', '$ my_tool', 'revoke', extending))
    .description('delete what waits; when nothing waits, move the extension to data/, where it does not run')
    .argument('<name>', name);
}
