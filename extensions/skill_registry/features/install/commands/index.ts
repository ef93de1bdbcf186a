import type { Command } from 'commander';
import { collect } from '../../../../../lib/command-line/index.ts';
import { toWire } from '../../../../../lib/text/index.ts';
import { type FeatureCommands, ID, withReason } from '../../../core/command-line.ts';

const adding = () => import('./add-import.ts');
const installed = () => import('./installed.ts');

export const commands: FeatureCommands = {
  add(make) {
    withLetting(make(['first', 5], 'add', '$ owner/repo', 'add', adding))
      .description('install skills from anywhere, after showing what they are')
      .argument('[what]', WHAT)
      .option('--skill <name>', 'only this skill: a name, an id or a folder; repeatable', collect)
      .option('--all', 'all skills that are there')
      .option(
        '--header <name=text>',
        `of a page that wants a login: 'Authorization=Bearer \${NAME}', with the name of a secret that is set; repeatable`,
        collect,
      )
      .option('--to <dir>', 'a folder of agents (agents, claude; claude-home: for all your projects), or of a source')
      .option('--agent <name>', 'also link it for this agent, if it does not look there; repeatable', collect)
      .option('--link', 'for a folder: make a link to it instead of a copy; skills-lock.json does not list it')
      .option('--frozen', 'install exactly what skills-lock.json lists; when one skill differs, write nothing')
      .option('--dry-run', 'show what would be installed, and install nothing');
    withLetting(make(['elsewhere', 2], 'import', '$ templates/roles', 'importSkills', adding))
      .description('turn role templates, or the sections of a long prompt, into skills, after showing them')
      .argument(
        '<path>',
        'a folder of roles (<role>/system_prompt.md), the folder of one role, or a prompt (prompt.jinja2, .md)',
      )
      .option('--name <id>', 'for a prompt: the id of the skill (default: the name of the file or folder)');
    withLetting(make(['first', 6], 'update', '$ --check', 'update', installed))
      .description('bring installed skills up to date, and keep what was changed here')
      .argument('[id...]', 'only these (default: all in skills-lock.json)')
      .option('--check', 'say what is outdated, and change nothing');
    confirmed(make(['elsewhere', 4], 'remove', '$ code-review', 'remove', installed))
      .description('move a skill to the archive, and delete its entry in skills-lock.json; rollback brings it back')
      .argument('<id>', ID);
    make(['elsewhere', 5], 'verify', '$ --json', 'verify', installed).description(
      'check that installed skills are what skills-lock.json says',
    );
  },
  async fix({ registry }, options, terminal) {
    const archived = await (await installed()).archiveHeld(registry, options, terminal);
    return { archived: archived.map(toWire) };
  },
  trust: [1, async () => (await import('./trust-sources.ts')).sourceTrust],
};

// --- internal ---

const WHAT =
  'owner/repo[/path][@ref], a git address (#ref after it), npm:name[@range], a page with skills, a .tar.gz or .zip, or a folder (./x)';

function withLetting(command: Command): Command {
  return confirmed(command).option(
    '--allow-block <id@digest>',
    'let in a skill that looks like an attack, with exactly the files of this digest, which the refusal prints; repeatable',
    collect,
  );
}

function confirmed(command: Command): Command {
  return withReason(command.option('--yes', 'show it and do not ask'));
}
