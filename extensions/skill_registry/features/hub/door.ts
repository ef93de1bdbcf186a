import { bool, objectOf } from '../../core/config/readers.ts';
import type { Feature } from '../../core/feature.ts';
import { hubKind } from './machine/hub-kind.ts';

/** One registry for many machines. Needs the guard, history, proposals, install and pages. */
export const hub: Feature = {
  id: 'hub',
  sources: [hubKind],
  config: {
    keys: {
      hub: {
        read: objectOf({ four_eyes: bool }, { four_eyes: false }),
        default: { four_eyes: false },
        after: 'policy',
        harmless: () => true,
      },
    },
  },
  commands: async () => (await import('./commands/index.ts')).commands,
};
