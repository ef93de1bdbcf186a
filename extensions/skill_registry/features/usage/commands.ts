import type { FeatureCommands } from '../../core/command-line.ts';

export const commands: FeatureCommands = {
  add(make) {
    const made = make(['root', 6], 'stats', '$ --since 7d', 'stats', () => import('./stats.ts'))
      .description('what agents did with skills: loads, offers, tokens, failures')
      .argument('[id]', 'only this skill')
      .option('--agent <id>', 'only this agent')
      .option(
        '--since <age>',
        'only from then on: an age (12h, 30d, 2w) or a date; counted in whole days (default: 30d)',
      );
    const dead = made.createOption('--dead', 'only list the skills that no agent has loaded in that time');
    made
      .addOption(dead.conflicts('thread'))
      .option('--thread <id>', 'only what was recorded in this conversation, in order, with digests and revisions');
  },
};
