import { BY, type FeatureCommands, ID, withReason, YES_OF_CHANGE } from '../../../core/command-line.ts';

const loadHistory = () => import('./history.ts');
const loadRepair = () => import('./repair.ts');

export const commands: FeatureCommands = {
  add(make) {
    make(['changes', 2], 'history', '$ code-review', 'history', loadHistory)
      .description('the revisions of a skill (what it was, who changed it, when and why), newest first')
      .argument('<id>', OF_REMOVED);
    make(['changes', 3], 'diff', '$ code-review 1 2', 'diff', loadHistory)
      .description('what changed between two revisions')
      .argument('<id>', OF_REMOVED)
      .argument(
        '<a>',
        'a revision: its number, the beginning of its digest, or "present" for the files as they are now',
      )
      .argument('<b>', 'another revision, in the same way');
    withReason(make(['changes', 4], 'rollback', '$ code-review 1', 'rollback', loadHistory))
      .description('make a skill what it was at a revision, after showing the difference; another rollback undoes it')
      .argument('<id>', OF_REMOVED)
      .argument(
        '[revision]',
        'number of the revision, or the beginning of its digest (history lists both); none for a removed skill',
      )
      .option(...YES_OF_CHANGE);
    withReason(make(['old', 4], 'restore', '$ code-review', 'restore', loadHistory))
      .description('bring back a skill that was removed')
      .argument('<id>', 'the id that it had');
  },
  options: [
    {
      command: 'show',
      order: 1,
      add: (show) =>
        show.option(
          '--revision <revision>',
          'as it was at this revision: a number, or the beginning of a digest (history lists both)',
        ),
      before: { revision: async () => (await loadHistory()).showRevision },
    },
    {
      command: 'doctor',
      order: 2,
      add(doctor) {
        const fix = doctor.createOption(
          '--fix',
          'repair SKILL.md files (quotes, name, byte order mark, end of the frontmatter), and archive held installed skills: shows it and asks first; rollback undoes it',
        );
        return doctor
          .addOption(fix.conflicts(['all', 'overlap']))
          .option('--yes', 'with --fix: show the differences and do not ask')
          .option('--reason <text>', 'with --fix: why; recorded with the change')
          .option('--by <name>', `with --fix: ${BY[1]}`);
      },
      before: { fix: async () => (await loadRepair()).repairAll },
    },
  ],
  doctor: async (...given) => (await loadRepair()).repairable(...given),
};

// --- internal ---

const OF_REMOVED = `${ID}; of a removed skill its id`;
