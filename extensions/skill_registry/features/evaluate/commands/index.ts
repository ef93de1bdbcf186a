import { toWireDeep } from '../../../../../lib/text/index.ts';
import type { FeatureCommands } from '../../../core/command-line.ts';

export const commands: FeatureCommands = {
  add(make) {
    make(['root', 7], 'eval', '$ code-review', 'evaluate', () => import('./eval.ts'))
      .description('run the test cases of skills, as far as they need no model')
      .argument('[id]', 'id or qualified id (default: every skill)')
      .option(
        '--outputs <dir>',
        'check the outputs of earlier runs too: a folder with one folder for each case; without <id>, these in one folder for each skill',
      )
      .option(
        '--from-missed',
        'with add as <id>: ask about each sentence for which a skill was missed, and propose it as a trigger case',
      );
  },
  async ranFor({ admin }, proposalId) {
    const { before, after, notRun, changes, takenOver } = await admin.proposalEvidence(proposalId);
    return toWireDeep({ before, after, notRun, changes, takenOver });
  },
  options: [
    {
      command: 'doctor',
      order: 1,
      add: (doctor) =>
        doctor.option(
          '--overlap',
          'show instead which skills compete for the same tasks, and which queries find the wrong skill',
        ),
      before: { overlap: async () => (await import('./overlap.ts')).overlap },
    },
  ],
};
