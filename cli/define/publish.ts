import type { PublishFlags } from '../commands/publish.ts';
import type { ExitStatus, GlobalOptions, MakeCommand, Terminal } from '../terminal.ts';

/** The command that gives skills to other machines. */
export function addPublishCommand(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make(
    'publish',
    'make a folder that any web server can serve: other machines then read the skills as a source',
    'skill-registry publish --to public',
  )
    .argument('[id...]', 'ids or qualified ids (default: all skills of the root)')
    .requiredOption('--to <dir>', 'a new or empty folder, or one that was published before')
    .action(async (ids: readonly string[], options: GlobalOptions & PublishFlags) =>
      done(await (await import('../commands/publish.ts')).publish(ids, options, terminal)),
    );
}
