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
    const missed = made.createOption(
      '--missed',
      'only list the skills that fitted well, were offered, and were not loaded',
    );
    made
      .addOption(dead.conflicts('thread'))
      .addOption(missed.conflicts(['dead', 'thread']))
      .option('--thread <id>', 'only what was recorded in this conversation, in order, with digests and revisions');
    const loaded = make(['agents', 6], 'loaded', '$ --thread T', 'loaded', () => import('./stats.ts'))
      .description('the skills that a conversation had loaded, as they are today: for an agent that has lost messages')
      .option('--agent <id>', 'the agent of the conversation (default: the one without a name)')
      .option('--tokens <n>', 'at most so many for all bodies (default: 8000)');
    const last = loaded.createOption('--last', 'guess: the conversation of this agent that was used last');
    loaded.option('--thread <id>', 'the conversation').addOption(last.conflicts('thread'));
  },
};
