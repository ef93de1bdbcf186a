import type { Command } from 'commander';
import type { AddFlags, ImportFlags } from '../commands/add-import.ts';
import type { PublishFlags } from '../commands/publish.ts';
import type { UpdateFlags } from '../commands/update.ts';
import {
  type ConfirmedOptions,
  collect,
  type ExitStatus,
  type GlobalOptions,
  type MakeCommand,
  type Terminal,
} from '../terminal.ts';

/** Commands about where skills come from, and go to. */
export function addOriginCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  withLetting(make('add', 'install skills from anywhere, after showing what they are', 'skill-registry add owner/repo'))
    .argument('[what]', WHAT)
    .option('--skill <name>', 'only this skill: a name, an id or a folder; repeatable', collect)
    .option('--all', 'all skills that are there')
    .option('--to <dir>', 'install into the source with this folder (default: the first source that may be written)')
    .option('--link', 'for a folder: make a link to it instead of a copy; skills-lock.json does not list it')
    .option('--frozen', 'install exactly what skills-lock.json lists; when one skill differs, write nothing')
    .option('--dry-run', 'show what would be installed, and install nothing')
    .action(async (what: string | undefined, options: GlobalOptions & AddFlags) =>
      done(await (await import('../commands/add-import.ts')).add(what, options, terminal)),
    );
  withLetting(
    make(
      'import',
      'turn role templates, or the sections of a long prompt, into skills, after showing them',
      'skill-registry import templates/roles',
    ),
  )
    .argument(
      '<path>',
      'a folder of roles (<role>/system_prompt.md), the folder of one role, or a prompt (prompt.jinja2, .md)',
    )
    .option('--name <id>', 'for a prompt: the id of the skill (default: the name of the file or folder)')
    .action(async (path: string, options: GlobalOptions & ImportFlags) =>
      done(await (await import('../commands/add-import.ts')).importSkills(path, options, terminal)),
    );
  withLetting(
    make(
      'update',
      'bring installed skills up to date, and keep what was changed here',
      'skill-registry update --check',
    ),
  )
    .argument('[id...]', 'only these (default: all in skills-lock.json)')
    .option('--check', 'say what is outdated, and change nothing')
    .action(async (ids: readonly string[], options: GlobalOptions & UpdateFlags) =>
      done(await (await import('../commands/update.ts')).update(ids, options, terminal)),
    );
  withActor(
    make(
      'remove',
      'move a skill to the archive, and delete its entry in skills-lock.json; restore brings it back',
      'skill-registry remove code-review',
    ),
  )
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .action(async (id: string, options: GlobalOptions & ConfirmedOptions) =>
      done(await (await import('../commands/remove-verify.ts')).remove(id, options, terminal)),
    );
  make('verify', 'check that installed skills are what skills-lock.json says', 'skill-registry verify --json').action(
    async (options: GlobalOptions) =>
      done(await (await import('../commands/remove-verify.ts')).verify(options, terminal)),
  );
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

// --- internal ---

const WHAT =
  'owner/repo[/path][@ref], a git address (#ref after it), npm:name[@range], a page with skills, a .tar.gz or .zip, or a folder (./x)';

function withLetting(command: Command): Command {
  return withActor(command).option(
    '--allow-block <id@digest>',
    'let in a skill that looks like an attack, with exactly the files of this digest, which the refusal prints; repeatable',
    collect,
  );
}

function withActor(command: Command): Command {
  return command
    .option('--yes', 'show it and do not ask')
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)');
}
