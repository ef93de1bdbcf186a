import { Option } from 'commander';
import { BY, from, ID, type Make, REASON } from './shared.ts';

export function addCatalogCommands(make: Make): void {
  const count = from(1, 200, 'It is a whole number from 1 to 200.');
  make('list', '$ --json | jq .total', 'list', () => import('../commands/list.ts'))
    .description('the catalog: id, tokens, source, description')
    .option(
      '--all',
      'also skills whose id another skill has; for each skill, which agents see it, and why the others do not',
    )
    .option('--workflow <pack[:state]>', 'what an agent sees in this state of a prompt pack’s workflow');
  for (const [name, description] of [
    ['enable', 'give a skill to agents again'],
    ['disable', 'keep a skill from agents, in the config; its files stay'],
  ] as const)
    make(name, '$ code-review', name, () => import('../commands/enable-disable.ts'))
      .description(description)
      .argument('<id>', ID)
      .option('--agent <id>', 'only for this agent (default: for every agent)')
      .option(...REASON)
      .option(...BY);
  const raw = new Option('--raw', 'print SKILL.md as it is, frontmatter included');
  raw.conflicts(['resource', 'reference', 'script']);
  make('show', '$ code-review', 'show', () => import('../commands/show.ts'))
    .description('one skill: its instructions, its file as it is, or one of its files')
    .argument('<id>', ID)
    .option('--resource <path>', 'print this file of the skill')
    .option('--reference <name>', 'print this file of references/')
    .option('--script <name>', 'print this file of scripts/; it is never run')
    .option(
      '--revision <revision>',
      'as it was at this revision: a number, or the beginning of a digest (history lists both)',
    )
    .addOption(raw);
  make('search', '$ "flaky tests" --limit 5', 'search', () => import('../commands/search.ts'))
    .description('the skills that fit, best first, and why')
    .argument('<query>', 'what the skill should help with, its name, or a "phrase in quotes"')
    .option('--limit <count>', 'at most this many, 1-200 (default: 20)', count)
    .option('--tag <tag>', 'only skills with this tag')
    .option('--source <id>', 'only skills of this source')
    .option('--embed', 'first compute the embeddings that are missing, for search by meaning');
  make('stats', '$ --since 7d', 'stats', () => import('../commands/stats.ts'))
    .description('what agents did with skills: loads, offers, tokens, failures')
    .argument('[id]', 'only this skill')
    .option('--agent <id>', 'only this agent')
    .option('--since <age>', 'only from then on: an age (12h, 30d, 2w) or a date; counted in whole days (default: 30d)')
    .addOption(new Option('--dead', 'only list the skills that no agent has loaded in that time').conflicts('thread'))
    .option('--thread <id>', 'only what was recorded in this conversation, in order, with digests and revisions');
  make('eval', '$ code-review', 'evaluate', () => import('../commands/eval.ts'))
    .description('run the test cases of skills, as far as they need no model')
    .argument('[id]', 'id or qualified id (default: every skill)')
    .option(
      '--outputs <dir>',
      'check the outputs of earlier runs too: a folder with one folder for each case; without <id>, these in one folder for each skill',
    );
  make('doctor', '$ --skills ~/.claude/skills', 'doctor', () => import('../commands/doctor/doctor.ts'))
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
    .option('--by <name>', `with --fix: ${BY[1]}`);
}

export function addPathCommands(make: Make): void {
  const inFormat = 'print the findings with file and line, in a format for other programs';
  const format = new Option('--format <name>', inFormat).choices(['lines', 'github', 'sarif']);
  const validating = () => import('../commands/validate-properties-prompt.ts');
  make('inspect', '$ ~/Downloads/some-skill', 'inspect', () => import('../commands/inspect.ts'))
    .description('what is dangerous in the files of a skill, most important first; nothing is run')
    .argument('<what...>', 'skill folders, or ids of the catalog')
    .addOption(format);
  make('validate', '$ skills', 'validate', validating)
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
    .addOption(format);
  make('properties', '$ skills/code-review | jq .name', 'properties', validating)
    .description('the fields of one skill as JSON')
    .argument('<path>', 'skill folder, or its SKILL.md');
  make('prompt', '$ skills/* > prompt.xml', 'prompt', validating)
    .description('the <available_skills> block for the system prompt of any agent')
    .argument('<path...>', 'skill folders, or their SKILL.md');
}
