import type { Snapshot } from '../catalog/snapshot.ts';
import { reportOf } from './report.ts';
import { DAY_MS, readSince } from './since.ts';
import type { Usage } from './types.ts';

/** Makes `registry.usage`. */
export function createUsage(snapshot: () => Snapshot): Usage {
  return {
    async report({ since = '30d' } = {}) {
      const until = Date.now();
      const time = readSince(since, until);
      const loadable = snapshot()
        .skills.filter(({ heldBecause, disabledFor }) => heldBecause === undefined && disabledFor !== 'everyone')
        .map(({ id }) => id);
      const range = { from: time - (time % DAY_MS), until, loadable, notKept: null };
      return reportOf({ counts: [], days: [], lastLoads: new Map() }, range);
    },
    events: async () => [],
  };
}
