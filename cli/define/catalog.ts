import { InvalidArgumentError, Option } from 'commander';
import type { DoctorOptions } from '../commands/doctor/doctor.ts';
import type { EnableOptions } from '../commands/enable-disable.ts';
import type { EvalOptions } from '../commands/eval.ts';
import type { ListFlags } from '../commands/list.ts';
import type { SearchFlags } from '../commands/search.ts';
import type { ShowFlags } from '../commands/show.ts';
import type { StatsFlags } from '../commands/stats.ts';
import type { ValidateOptions } from '../commands/validate-properties-prompt.ts';
import type { FindingFormat } from '../finding-formats.ts';
import type { ConfirmedOptions, ExitStatus, GlobalOptions, MakeCommand, Terminal } from '../terminal.ts';

/** Commands that read the catalog of a root. */
export function addCatalogCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make('list', 'the catalog: id, tokens, source, description', 'skill-registry list --json | jq .total')
    .option(
      '--all',
      'also skills whose id another skill has; for each skill, which agents see it, and why the others do not',
    )
    .option('--workflow <pack[:state]>', 'what an agent sees in this state of a prompt pack’s workflow')
    .action(async (options: GlobalOptions & ListFlags) =>
      done(await (await import('../commands/list.ts')).list(options, terminal)),
    );
  const agent = 'only for this agent (default: for every agent)';
  make('enable', 'give a skill to agents again', 'skill-registry enable code-review')
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .option('--agent <id>', agent)
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (id: string, options: EnableOptions) =>
      done(await (await import('../commands/enable-disable.ts')).setEnabled(id, true, options, terminal)),
    );
  make('disable', 'keep a skill from agents, in the config; its files stay', 'skill-registry disable code-review')
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .option('--agent <id>', agent)
    .option('--reason <text>', 'why; recorded with the decision')
    .option('--by <name>', 'who decides (default: whoever is logged in)')
    .action(async (id: string, options: EnableOptions) =>
      done(await (await import('../commands/enable-disable.ts')).setEnabled(id, false, options, terminal)),
    );
  make('show', 'one skill: its instructions, its file as it is, or one of its files', 'skill-registry show code-review')
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .option('--resource <path>', 'print this file of the skill')
    .option('--reference <name>', 'print this file of references/')
    .option('--script <name>', 'print this file of scripts/; it is never run')
    .option(
      '--revision <revision>',
      'as it was at this revision: a number, or the beginning of a digest (history lists both)',
    )
    .addOption(
      new Option('--raw', 'print SKILL.md as it is, frontmatter included').conflicts([
        'resource',
        'reference',
        'script',
      ]),
    )
    .action(async (id: string, options: GlobalOptions & ShowFlags) =>
      done(await (await import('../commands/show.ts')).show(id, options, terminal)),
    );
  make('search', 'the skills that fit, best first, and why', 'skill-registry search "flaky tests" --limit 5')
    .argument('<query>', 'what the skill should help with, its name, or a "phrase in quotes"')
    .option('--limit <count>', 'at most this many, 1-200 (default: 20)', countOption)
    .option('--tag <tag>', 'only skills with this tag')
    .option('--source <id>', 'only skills of this source')
    .option('--embed', 'first compute the embeddings that are missing, for search by meaning')
    .action(async (query: string, options: GlobalOptions & SearchFlags) =>
      done(await (await import('../commands/search.ts')).search(query, options, terminal)),
    );
  make('stats', 'what agents did with skills: loads, offers, tokens, failures', 'skill-registry stats --since 7d')
    .argument('[id]', 'only this skill')
    .option('--agent <id>', 'only this agent')
    .option('--since <age>', 'only from then on: an age (12h, 30d, 2w) or a date; counted in whole days (default: 30d)')
    .addOption(new Option('--dead', 'only list the skills that no agent has loaded in that time').conflicts('thread'))
    .option('--thread <id>', 'only what was recorded in this conversation, in order, with digests and revisions')
    .action(async (id: string | undefined, options: GlobalOptions & StatsFlags) =>
      done(await (await import('../commands/stats.ts')).stats(id, options, terminal)),
    );
  make('eval', 'run the test cases of skills, as far as they need no model', 'skill-registry eval code-review')
    .argument('[id]', 'id or qualified id (default: every skill)')
    .option(
      '--outputs <dir>',
      'check the outputs of earlier runs too: a folder with one folder for each case; without <id>, these in one folder for each skill',
    )
    .action(async (id: string | undefined, options: EvalOptions) =>
      done(await (await import('../commands/eval.ts')).evaluate(id, options, terminal)),
    );
  make('doctor', 'everything that is wrong, and what to fix first', 'skill-registry doctor --skills ~/.claude/skills')
    .option('--all', 'every problem, not only ten of each code')
    .option('--overlap', 'show instead which skills compete for the same tasks, and which queries find the wrong skill')
    .addOption(
      new Option(
        '--fix',
        'repair SKILL.md files (quotes, name, byte order mark, end of the frontmatter): shows the changes and asks first; rollback undoes it',
      ).conflicts(['all', 'overlap']),
    )
    .option('--yes', 'with --fix: show the differences and do not ask')
    .option('--reason <text>', 'with --fix: why; recorded with the change')
    .option('--by <name>', 'with --fix: who decides (default: whoever is logged in)')
    .action(async ({ overlap, fix, ...options }: DoctorOptions & ConfirmedOptions & DoctorFlags) => {
      if (overlap) done(await (await import('../commands/doctor/overlap.ts')).overlap(options, terminal));
      else if (fix) done(await (await import('../commands/doctor/repair.ts')).repairAll(options, terminal));
      else done(await (await import('../commands/doctor/doctor.ts')).doctor(options, terminal));
    });
}

/** Commands that read the skills of the paths they are given. */
export function addPathCommands(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  addInspect(make, done, terminal);
  make(
    'validate',
    'check skills against the rules of agentskills.io, and say what is wrong',
    'skill-registry validate skills',
  )
    .argument('[path...]', 'skill folders, their SKILL.md, prompt packs, or folders with skills anywhere below')
    .option(
      '--changed',
      'only skills with changes that git has not committed, staged or not (default path: this folder)',
    )
    .addOption(
      new Option('--profile <name>', 'the rules: of agentskills.io (spec), stricter ones, or what is read here')
        .choices(['spec', 'strict', 'lenient'])
        .default('spec'),
    )
    .option('--strict', 'end with 1 for a warning, too')
    .addOption(
      new Option('--format <name>', 'print the findings with file and line, in a format for other programs').choices(
        FINDING_FORMATS,
      ),
    )
    .action(async (paths: readonly string[], options: GlobalOptions & ValidateOptions) =>
      done(await (await import('../commands/validate-properties-prompt.ts')).validate(paths, options, terminal)),
    );
  make('properties', 'the fields of one skill as JSON', 'skill-registry properties skills/code-review | jq .name')
    .argument('<path>', 'skill folder, or its SKILL.md')
    .action(async (path: string, options: GlobalOptions) =>
      done(await (await import('../commands/validate-properties-prompt.ts')).properties(path, options, terminal)),
    );
  make(
    'prompt',
    'the <available_skills> block for the system prompt of any agent',
    'skill-registry prompt skills/* > prompt.xml',
  )
    .argument('<path...>', 'skill folders, or their SKILL.md')
    .action(async (paths: readonly string[], options: GlobalOptions) =>
      done(await (await import('../commands/validate-properties-prompt.ts')).prompt(paths, options, terminal)),
    );
}

// --- internal ---

interface DoctorFlags {
  readonly overlap?: boolean;
  readonly fix?: boolean;
}

const FINDING_FORMATS: readonly FindingFormat[] = ['lines', 'github', 'sarif'];

/** `inspect`: of paths, or of ids of a catalog. */
function addInspect(make: MakeCommand, done: (status: ExitStatus) => void, terminal: Terminal): void {
  make(
    'inspect',
    'what is dangerous in the files of a skill, most important first; nothing is run',
    'skill-registry inspect ~/Downloads/some-skill',
  )
    .argument('<what...>', 'skill folders, or ids of the catalog')
    .addOption(
      new Option('--format <name>', 'print the findings with file and line, in a format for other programs').choices(
        FINDING_FORMATS,
      ),
    )
    .action(async (what: readonly string[], options: GlobalOptions & { format?: FindingFormat }) =>
      done(await (await import('../commands/inspect.ts')).inspect(what, options, terminal)),
    );
}

function countOption(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= 200) return count;
  throw new InvalidArgumentError('It is a whole number from 1 to 200.');
}
