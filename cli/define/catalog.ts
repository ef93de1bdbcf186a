import { type Command, Option } from 'commander';
import { BY, ID, type Make, REASON } from '../../extensions/skill_registry/core/command-line.ts';
import { from } from './shared.ts';

export function addCatalogCommands(make: Make, added: (command: Command) => Command): void {
  const count = from(1, 200, 'It is a whole number from 1 to 200.');
  added(
    make(['Skills of a root:', 1], 'list', '$ --json | jq .total', 'list', () => import('../commands/list.ts'))
      .description('the catalog: id, tokens, source, description')
      .option(
        '--all',
        'also skills whose id another skill has; for each skill, which agents see it, and why the others do not',
      ),
  );
  for (const [order, name, description] of [
    [2, 'enable', 'give a skill to agents again'],
    [3, 'disable', 'keep a skill from agents, in the config; its files stay'],
  ] as const)
    make(['Skills of a root:', order], name, '$ code-review', name, () => import('../commands/enable-disable.ts'))
      .description(description)
      .argument('<id>', ID)
      .option('--agent <id>', 'only for this agent (default: for every agent)')
      .option(...REASON)
      .option(...BY);
  const raw = new Option('--raw', 'print SKILL.md as it is, frontmatter included');
  raw.conflicts(['resource', 'reference', 'script']);
  added(
    make(['Skills of a root:', 4], 'show', '$ code-review', 'show', () => import('../commands/show.ts'))
      .description('one skill: its instructions, its file as it is, or one of its files')
      .argument('<id>', ID)
      .option('--resource <path>', 'print this file of the skill')
      .option('--reference <name>', 'print this file of references/')
      .option('--script <name>', 'print this file of scripts/; it is never run'),
  ).addOption(raw);
  added(
    make(
      ['Skills of a root:', 5],
      'search',
      '$ "flaky tests" --limit 5',
      'search',
      () => import('../commands/search.ts'),
    )
      .description('the skills that fit, best first, and why')
      .argument('<query>', 'what the skill should help with, its name, or a "phrase in quotes"')
      .option('--limit <count>', 'at most this many, 1-200 (default: 20)', count)
      .option('--tag <tag>', 'only skills with this tag')
      .option('--source <id>', 'only skills of this source'),
  );
  added(
    make(
      ['Skills of a root:', 8],
      'doctor',
      '$ --skills ~/.claude/skills',
      'doctor',
      () => import('../commands/doctor.ts'),
    )
      .description('everything that is wrong, and what to fix first')
      .option('--all', 'every problem, not only ten of each code'),
  );
}
