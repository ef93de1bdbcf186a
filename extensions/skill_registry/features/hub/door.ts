import type { Feature } from '../../core/feature.ts';
import { hubConfig, NO_HUB } from './config.ts';
import { hubKind } from './machine/hub-kind.ts';

/** One registry for many machines. Needs the guard, history, proposals, install and pages. */
export const hub: Feature = {
  id: 'hub',
  sources: [hubKind],
  config: {
    keys: {
      hub: { read: hubConfig, default: NO_HUB, after: 'policy', harmless: () => true },
    },
  },
  commands: async () => (await import('./commands/index.ts')).commands,
};
