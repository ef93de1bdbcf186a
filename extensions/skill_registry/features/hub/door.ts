import type { TurnContext } from 'skill-registry/kernel';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { commands } from './commands/index.ts';
import { hubConfig, NO_HUB } from './config.ts';
import { hubKind } from './machine/hub-kind.ts';
import { searchOfSources } from './machine/search.ts';

/** One registry for many machines. Needs the guard, history, proposals, install and pages. */
export const hub: Feature = {
  id: 'hub',
  sources: [hubKind],
  config: {
    keys: {
      hub: { read: hubConfig, default: NO_HUB, after: 'policy', harmless: () => true },
    },
  },
  open,
  commands: async () => commands,
};

// --- internal ---

/** Tells a source what agents do with its skills. */
function open({ catalog, closing, events }: Core): Opened {
  const tell = (what: 'loads' | 'refused', skill: Skill | undefined, { preview, agentId }: TurnContext): void => {
    if (skill && !preview) catalog.sourceOf(skill)?.used?.(skill, agentId, what);
  };
  events.on('given', (skill, _tokens, turn) => tell('loads', skill, turn));
  events.on('loaded', ({ outcome, path = 'SKILL.md' }, { skill, turn }) => {
    if (!turn || path !== 'SKILL.md' || outcome === 'failure') return;
    tell(outcome === 'success' ? 'loads' : 'refused', skill, turn);
  });
  return { elsewhere: searchOfSources(() => (closing.signal.aborted ? [] : catalog.sources())) };
}
