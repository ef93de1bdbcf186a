import { InvalidArgumentError, Option } from 'commander';
import { BY, ID, type Make, REASON, type Run } from './shared.ts';

export function addCatalogCommands(make: Make, run: Run): void {
  make('list', 'skill-registry list --json | jq .total')
    .description('the catalog: id, tokens, source, description')
    .option(
      '--all',
      'also skills whose id another skill has; for each skill, which agents see it, and why the others do not',
    )
    .option('--workflow <pack[:state]>', 'what an agent sees in this state of a prompt pack’s workflow')
    .action(run('list', () => import('../commands/list.ts')));
  const enabling = {
    enable: 'give a skill to agents again',
    disable: 'keep a skill from agents, in the config; its files stay',
  } as const;
  for (const name of ['enable', 'disable'] as const)
    make(name, `skill-registry ${name} code-review`)
      .description(enabling[name])
      .argument('<id>', ID)
      .option('--agent <id>', 'only for this agent (default: for every agent)')
      .option(...REASON)
      .option(...BY)
      .action(run(name, () => import('../commands/enable-disable.ts')));
  make('show', 'skill-registry show code-review')
    .description('one skill: its instructions, its file as it is, or one of its files')
    .argument('<id>', ID)
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
    .action(run('show', () => import('../commands/show.ts')));
  make('search', 'skill-registry search "flaky tests" --limit 5')
    .description('the skills that fit, best first, and why')
    .argument('<query>', 'what the skill should help with, its name, or a "phrase in quotes"')
    .option('--limit <count>', 'at most this many, 1-200 (default: 20)', countOption)
    .option('--tag <tag>', 'only skills with this tag')
    .option('--source <id>', 'only skills of this source')
    .option('--embed', 'first compute the embeddings that are missing, for search by meaning')
    .action(run('search', () => import('../commands/search.ts')));
  make('stats', 'skill-registry stats --since 7d')
    .description('what agents did with skills: loads, offers, tokens, failures')
    .argument('[id]', 'only this skill')
    .option('--agent <id>', 'only this agent')
    .option('--since <age>', 'only from then on: an age (12h, 30d, 2w) or a date; counted in whole days (default: 30d)')
    .addOption(new Option('--dead', 'only list the skills that no agent has loaded in that time').conflicts('thread'))
    .option('--thread <id>', 'only what was recorded in this conversation, in order, with digests and revisions')
    .action(run('stats', () => import('../commands/stats.ts')));
  make('eval', 'skill-registry eval code-review')
    .description('run the test cases of skills, as far as they need no model')
    .argument('[id]', 'id or qualified id (default: every skill)')
    .option(
      '--outputs <dir>',
      'check the outputs of earlier runs too: a folder with one folder for each case; without <id>, these in one folder for each skill',
    )
    .action(run('evaluate', () => import('../commands/eval.ts')));
  make('doctor', 'skill-registry doctor --skills ~/.claude/skills')
    .description('everything that is wrong, and what to fix first')
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
    .option('--by <name>', `with --fix: ${BY[1]}`)
    .action(run('doctor', () => import('../commands/doctor/doctor.ts')));
}

export function addPathCommands(make: Make, run: Run): void {
  const format = (): Option =>
    new Option('--format <name>', 'print the findings with file and line, in a format for other programs').choices([
      'lines',
      'github',
      'sarif',
    ]);
  make('inspect', 'skill-registry inspect ~/Downloads/some-skill')
    .description('what is dangerous in the files of a skill, most important first; nothing is run')
    .argument('<what...>', 'skill folders, or ids of the catalog')
    .addOption(format())
    .action(run('inspect', () => import('../commands/inspect.ts')));
  make('validate', 'skill-registry validate skills')
    .description('check skills against the rules of agentskills.io, and say what is wrong')
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
    .addOption(format())
    .action(run('validate', () => import('../commands/validate-properties-prompt.ts')));
  make('properties', 'skill-registry properties skills/code-review | jq .name')
    .description('the fields of one skill as JSON')
    .argument('<path>', 'skill folder, or its SKILL.md')
    .action(run('properties', () => import('../commands/validate-properties-prompt.ts')));
  make('prompt', 'skill-registry prompt skills/* > prompt.xml')
    .description('the <available_skills> block for the system prompt of any agent')
    .argument('<path...>', 'skill folders, or their SKILL.md')
    .action(run('prompt', () => import('../commands/validate-properties-prompt.ts')));
}

// --- internal ---

function countOption(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= 200) return count;
  throw new InvalidArgumentError('It is a whole number from 1 to 200.');
}
