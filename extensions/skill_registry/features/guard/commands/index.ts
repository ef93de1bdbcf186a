import { withFormat } from '../../../../../lib/findings/index.ts';
import type { FeatureCommands } from '../../../core/command-line.ts';
import { reachLines } from '../shown-reach.ts';

export const commands: FeatureCommands = {
  add(make) {
    withFormat(
      make(['folders', 1], 'inspect', '$ ~/Downloads/some-skill', 'inspect', () => import('./inspect.ts'))
        .description('what is dangerous in the files of a skill, most important first; nothing is run')
        .argument('<what...>', 'skill folders, or ids of the catalog'),
    );
  },
  completes: { inspect: 'ids' },
  heldBecause: async ({ admin }, id) => (await admin.trustOf(id)).heldBecause,
  shown: async ({ admin }, id) => {
    const { reach } = await admin.trustOf(id);
    return { fields: { reach }, lines: reachLines(reach) };
  },
  doctor: async (...given) => (await import('./doctor.ts')).verdicts(...given),
  trust: [2, async () => (await import('./trust-skills.ts')).skillTrust],
};
